// SPDX-License-Identifier: Apache-2.0

/// The key under which the logins from a task's URLs are kept outside the task.
package struct LoginKey: RawRepresentable, Hashable, Sendable {
    /// The name of the kept logins; several tasks may share it.
    package let id: String
    /// Whether one of the logins belongs to the task's own URL, and not only to mirrors.
    package var isForURL: Bool

    package init(id: String, isForURL: Bool) {
        self.id = id
        self.isForURL = isForURL
    }

    /// Returns nil where the text is not a key.
    package init?(rawValue: String) {
        let parts = rawValue.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, parts[0] == "url" || parts[0] == "mirrors"
        else { return nil }
        self.init(id: String(parts[1]), isForURL: parts[0] == "url")
    }

    package var rawValue: String { (isForURL ? "url:" : "mirrors:") + id }
}
