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
        if let file = request.cookieFile, !request.hasHeader("cookie") { try set(cookieFile: file) }
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
        // Without this libcurl continues unencrypted if the server refuses to encrypt the data.
        if request.url.scheme == "ftps" { try set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)) }
        if request.url.scheme == "sftp" { try applySSH(login) }
    }

    private func applySSH(_ login: SSHAccess.Login?) throws(CurlFailure) {
        let types: Int32 =
            switch login {
            case .agent: CURLSSH_AUTH_AGENT
            case .key: CURLSSH_AUTH_PUBLICKEY
            case .password: CURLSSH_AUTH_PASSWORD | CURLSSH_AUTH_KEYBOARD
            case nil: CURLSSH_AUTH_NONE
            }
        try set(CURLOPT_SSH_AUTH_TYPES, Int(types))
        if case .key(let path) = login { try set(CURLOPT_SSH_PRIVATE_KEYFILE, path) }
        // An existing connection may be signed in with another login.
        if login == nil { try set(CURLOPT_FRESH_CONNECT, 1) }
    }
}
