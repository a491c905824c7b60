// SPDX-License-Identifier: Apache-2.0

import CCurl

extension EasyHandle {
    /// Sets proxy and certificates; none of it comes from the process's environment.
    func applyWay(_ request: TransferRequest) throws(CurlFailure) {
        switch request.proxy {
        case .direct, .unusable:
            // An empty text also keeps libcurl from reading the environment.
            try set(CURLOPT_PROXY, "")
        case .through(let proxy):
            try set(CURLOPT_PROXY, proxy.address)
            // The choice of the proxy has already considered its exceptions.
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

    /// Sets the user's stored logins and cookies for the host; the request's own fields override
    /// them.
    func applyStoredLogins(_ request: TransferRequest) throws(CurlFailure) {
        if let file = request.netrcFile, !request.hasHeader("authorization") {
            try set(CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
            try set(CURLOPT_NETRC_FILE, file)
        }
        if let file = request.cookieFile, !request.hasHeader("cookie") {
            try set(cookieFile: file)
        }
    }

    /// Sets the options for FTP and SFTP.
    func applyFileServer(
        _ request: TransferRequest,
        signingInBy login: SSHAccess.Login?
    ) throws(CurlFailure) {
        try set(CURLOPT_FILETIME, 1)
        // A proxy that translates FTP into HTTP would add a head of its own.
        try set(CURLOPT_HTTPPROXYTUNNEL, 1)
        let silence = request.silenceTimeout.wholeMilliseconds
        if silence > 0 { try set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, silence / 1000)) }
        switch request.url.scheme {
        case "ftps":
            // Without this libcurl continues unencrypted if the server refuses to encrypt the data.
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
            // An existing connection may be signed in with another login.
            try set(CURLOPT_FRESH_CONNECT, 1)
        }
    }
}
