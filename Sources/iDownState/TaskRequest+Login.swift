// SPDX-License-Identifier: Apache-2.0

extension TaskRequest {
    /// The URL as it may be shown to the user's own programs.
    package var urlWithoutLogin: String { Self.withoutLogin(url) }

    /// A URL without user and password.
    ///
    /// In the normal form, which is kept, they stand before the last `@` of the authority.
    package static func withoutLogin(_ url: String) -> String {
        guard let parts = URLParts(url), parts.hasLogin else { return url }
        return String(url[..<parts.authority.startIndex]) + url[parts.address.startIndex...]
    }
}
