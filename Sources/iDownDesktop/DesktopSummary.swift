// SPDX-License-Identifier: Apache-2.0

/// How the list stands, for who asks for it without a window.
package struct DesktopSummary: Hashable, Sendable {
    package var downloading = 0
    package var waiting = 0
    package var paused = 0
    package var failed = 0
    /// Where files go, absolute.
    package var folder = ""

    package init() {}

    /// Something could be paused.
    var isUnderWay: Bool { downloading + waiting > 0 }

    /// Something could be started.
    var isResting: Bool { paused + failed > 0 }

    /// A line: `3 downloading, 2 paused`.
    var text: String {
        let parts = [
            (downloading, "downloading"), (waiting, "waiting"), (paused, "paused"),
            (failed, "failed"),
        ]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "Nothing to download" : words.joined(separator: ", ")
    }
}
