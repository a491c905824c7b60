// SPDX-License-Identifier: Apache-2.0

import CCurl

extension EasyHandle {
    /// Proxy and trust: nothing here is left to the process's environment.
    func applyWay(_ request: TransferRequest) throws(CurlFailure) {
        switch request.proxy {
        case .direct, .unusable:
            // The empty text also keeps libcurl from looking at the environment.
            try set(CURLOPT_PROXY, "")
        case .through(let proxy):
            try set(CURLOPT_PROXY, proxy.address)
            // That the proxy serves this host was decided with the choice.
            try set(CURLOPT_NOPROXY, "")
            if let credentials = proxy.credentials {
                try set(CURLOPT_PROXYUSERNAME, credentials.user)
                try set(CURLOPT_PROXYPASSWORD, credentials.password ?? "")
            }
        }
        if let file = request.certificates.file {
            try set(CURLOPT_CAINFO, file)
            try set(CURLOPT_PROXY_CAINFO, file)
        }
        if let folder = request.certificates.folder {
            try set(CURLOPT_CAPATH, folder)
            try set(CURLOPT_PROXY_CAPATH, folder)
        }
    }

    /// What the user keeps for the host; what the request says itself comes first.
    func applyStoredLogins(_ request: TransferRequest) throws(CurlFailure) {
        if let file = request.netrcFile,
            request.headers.allSatisfy({ !$0.isNamed("authorization") })
        {
            try set(CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
            try set(CURLOPT_NETRC_FILE, file)
        }
        if let file = request.cookieFile, request.headers.allSatisfy({ !$0.isNamed("cookie") }) {
            try set(cookieFile: file)
        }
    }

    /// What only FTP and SFTP know.
    func applyFileServer(
        _ request: TransferRequest,
        signingInBy login: SSHAccess.Login?
    ) throws(CurlFailure) {
        try set(CURLOPT_FILETIME, 1)
        // A proxy that turns FTP into HTTP would make up a head of its own.
        try set(CURLOPT_HTTPPROXYTUNNEL, 1)
        let silence = request.silenceTimeout.wholeMilliseconds
        if silence > 0 { try set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, silence / 1000)) }
        switch request.url.scheme {
        case "ftps":
            // Without it libcurl goes on in clear where the server refuses to encrypt the data.
            try set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue))
        case "sftp":
            try applySSH(request, login)
        default:
            break
        }
    }

    private func applySSH(
        _ request: TransferRequest,
        _ login: SSHAccess.Login?
    ) throws(CurlFailure) {
        // A request without such a file is refused; with none set libcurl would trust anybody.
        try set(CURLOPT_SSH_KNOWNHOSTS, request.ssh.knownHostsFile ?? "/dev/null")
        switch login {
        case .agent:
            try set(CURLOPT_SSH_AUTH_TYPES, Int(CURLSSH_AUTH_AGENT))
        case .key(let path):
            try set(CURLOPT_SSH_AUTH_TYPES, Int(CURLSSH_AUTH_PUBLICKEY))
            try set(CURLOPT_SSH_PRIVATE_KEYFILE, path)
        case .password:
            try set(
                CURLOPT_SSH_AUTH_TYPES,
                Int(CURLSSH_AUTH_PASSWORD | CURLSSH_AUTH_KEYBOARD)
            )
        case nil:
            try set(CURLOPT_SSH_AUTH_TYPES, Int(CURLSSH_AUTH_NONE))
            // Nor may it go over a connection that somebody else has signed in on.
            try set(CURLOPT_FRESH_CONNECT, 1)
        }
    }
}
