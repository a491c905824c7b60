// SPDX-License-Identifier: Apache-2.0

/// Where the logins of a task's URLs are kept that were taken out of them.
package struct LoginKey: RawRepresentable, Hashable, Sendable {
    /// Names what is kept; several tasks may share it.
    package let id: String
    /// Whether the task's URL has one of them, and not only its mirrors.
    package var isForURL: Bool

    package init(id: String, isForURL: Bool) {
        self.id = id
        self.isForURL = isForURL
    }

    /// Nil for what is none.
    package init?(rawValue: String) {
        let parts = rawValue.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, parts[0] == "url" || parts[0] == "mirrors"
        else { return nil }
        self.init(id: String(parts[1]), isForURL: parts[0] == "url")
    }

    package var rawValue: String { (isForURL ? "url:" : "mirrors:") + id }
}
