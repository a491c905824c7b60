// SPDX-License-Identifier: Apache-2.0

extension TaskRequest {
    /// The URL without user and password, which may be shown to the user's own programs.
    package var urlWithoutLogin: String { Self.withoutLogin(url) }

    /// Returns a URL without user and password.
    ///
    /// The URL has to be in normal form: there both stand before the last `@` of the authority.
    package static func withoutLogin(_ url: String) -> String {
        // Most URLs contain no `@` at all.
        guard url.utf8.contains(UInt8(ascii: "@")), let parts = URLParts(url), parts.hasLogin
        else { return url }
        return String(url[..<parts.authority.startIndex]) + url[parts.address.startIndex...]
    }

    /// Whether a URL contains a user name or a password that has to be kept secret.
    ///
    /// For SFTP, where keys sign in, a name alone is no secret; elsewhere it may be a token.
    package static func hasLogin(_ url: String) -> Bool {
        guard url.utf8.contains(UInt8(ascii: "@")), let parts = URLParts(url),
            let login = parts.login
        else { return false }
        return parts.scheme != "sftp" || login.utf8.contains(UInt8(ascii: ":"))
    }

    /// Whether the URL or a mirror contains a secret login.
    package var hasLogins: Bool { Self.hasLogin(url) || mirrors.contains(where: Self.hasLogin) }

    /// Returns the request without its secret logins, which are kept under `key`.
    package func withoutLogins(keptAt key: LoginKey) -> TaskRequest {
        var request = self
        let bare = { Self.hasLogin($0) ? Self.withoutLogin($0) : $0 }
        request.url = bare(url)
        request.mirrors = mirrors.map(bare)
        request.keptLogins = key
        return request
    }
}
