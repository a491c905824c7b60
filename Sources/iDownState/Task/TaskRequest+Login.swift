// SPDX-License-Identifier: Apache-2.0

extension TaskRequest {
    /// The URL as it may be shown to the user's own programs.
    package var urlWithoutLogin: String { Self.withoutLogin(url) }

    /// A URL without user and password.
    ///
    /// In the normal form, which is kept, they stand before the last `@` of the authority.
    package static func withoutLogin(_ url: String) -> String {
        // Most have no such byte anywhere.
        guard url.utf8.contains(UInt8(ascii: "@")), let parts = URLParts(url), parts.hasLogin
        else { return url }
        return String(url[..<parts.authority.startIndex]) + url[parts.address.startIndex...]
    }

    /// Whether a name or a password stands in a URL that nobody else should read.
    ///
    /// The name alone is none where keys sign in (SFTP); elsewhere it may be a token.
    package static func hasLogin(_ url: String) -> Bool {
        guard url.utf8.contains(UInt8(ascii: "@")), let parts = URLParts(url),
            let login = parts.login
        else { return false }
        return parts.scheme != "sftp" || login.utf8.contains(UInt8(ascii: ":"))
    }

    /// Whether such a one stands in the URL or in a mirror's.
    package var hasLogins: Bool { Self.hasLogin(url) || mirrors.contains(where: Self.hasLogin) }

    /// The request without them, once they are kept elsewhere.
    package func withoutLogins(keptAt key: LoginKey) -> TaskRequest {
        var request = self
        let bare = { Self.hasLogin($0) ? Self.withoutLogin($0) : $0 }
        request.url = bare(url)
        request.mirrors = mirrors.map(bare)
        request.keptLogins = key
        return request
    }
}
