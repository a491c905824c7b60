// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// A URL that is safe to show in a message: short, without user, password, query and fragment.
package struct ShownURL: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Shows a typed text, which need not be a URL.
    ///
    /// Everything before the last @ may be a password.
    package init(_ text: String) { self.init(text, isURL: false) }

    /// Shows the URL of a task, in which an @ behind the server is part of the path.
    package init(of task: TaskProperties) { self.init(task.url, isURL: true) }

    private init(_ url: String, isURL: Bool) {
        let text = Substring(url.utf8.prefix { !"?#".utf8.contains($0) })
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        let mayHoldUser = isURL ? text[start...].prefix { $0 != "/" } : text
        var shown = String(text)
        if let at = mayHoldUser.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let scheme: Substring = at < start ? "" : text[..<start]
            shown = String(scheme + text[text.utf8.index(after: at)...])
        } else if !isURL, url.utf8.contains(UInt8(ascii: "@")) {
            // The @ was behind a ? or #, so the text before that may be the start of a password.
            shown = String(text[..<start]) + "…"
        }
        description = shown.utf8.count > Self.limit ? shown.prefix(Self.limit) + "…" : shown
    }

    /// The most characters of a URL that a message shows.
    private static let limit = 200
}
