// SPDX-License-Identifier: Apache-2.0

/// A URL as it may stand in a message: without user, password, query and fragment, and short.
struct ShownURL: CustomStringConvertible {
    let description: String

    init(_ url: String) {
        var text = String(Substring(url.utf8.prefix { !"?#".utf8.contains($0) }))
        if let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let scheme = text.firstRange(of: "://").map { text[..<$0.upperBound] } ?? ""
            text = String(scheme + text[text.utf8.index(after: at)...])
        }
        description = text.utf8.count > Self.limit ? text.prefix(Self.limit) + "…" : text
    }

    private static let limit = 200
}
