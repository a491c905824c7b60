// SPDX-License-Identifier: Apache-2.0

extension TaskRequest {
    /// The URL as it may be shown to the user's own programs.
    package var urlWithoutLogin: String { Self.withoutLogin(url) }

    /// A URL without user and password.
    ///
    /// In the normal form, which is kept, they stand before the last `@` of the authority.
    package static func withoutLogin(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let authority = url[start...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<start]) + url[url.index(after: at)...]
    }
}
