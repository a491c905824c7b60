// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// A URL as it may stand in a message: without user, password, query and fragment, and short.
package struct ShownURL: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// What somebody typed: it need not be a URL, and all before the last @ may be a password.
    package init(_ text: String) {
        self.init(text, isURL: false)
    }

    /// The URL of a task: an @ behind its server is part of the path.
    package init(of task: TaskProperties) {
        self.init(task.url, isURL: true)
    }

    private init(_ url: String, isURL: Bool) {
        let text = Substring(url.utf8.prefix { !"?#".utf8.contains($0) })
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        let named = isURL ? text[start...].prefix { $0 != "/" } : text
        var shown = String(text)
        if let at = named.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let scheme: Substring = at < start ? "" : text[..<start]
            shown = String(scheme + text[text.utf8.index(after: at)...])
        } else if !isURL, url.utf8.contains(UInt8(ascii: "@")) {
            // What was cut off may have been the rest of a password.
            shown = String(text[..<start]) + "…"
        }
        description = shown.utf8.count > Self.limit ? shown.prefix(Self.limit) + "…" : shown
    }

    private static let limit = 200
}
