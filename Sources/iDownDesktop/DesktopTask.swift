// SPDX-License-Identifier: Apache-2.0

/// A task as the desktop is told of it: nothing in it is a secret.
package struct DesktopTask: Hashable, Sendable {
    /// Where a task stands.
    package enum State: Hashable, Sendable {
        case waiting, downloading, paused, completed, failed, cancelled
    }

    /// What the user wants to see of the finished file.
    package enum WhenDone: Hashable, Sendable {
        case open, reveal
    }

    package let id: String
    package var state: State
    /// The file's name; empty before it is known.
    package var name: String
    /// The folder, absolute.
    package var directory: String
    /// Without user, password, query and fragment.
    package var url: String
    /// The finished file; nil before.
    package var path: String?
    /// Why it failed, in words; empty where it did not.
    package var failure: String
    package var whenDone: WhenDone?
    package var bytes: Int64
    /// Nil while unknown.
    package var totalBytes: Int64?
    package var bytesPerSecond: UInt64

    package init(
        id: String,
        state: State,
        name: String,
        directory: String,
        url: String,
        path: String? = nil,
        failure: String = "",
        whenDone: WhenDone? = nil,
        bytes: Int64 = 0,
        totalBytes: Int64? = nil,
        bytesPerSecond: UInt64 = 0
    ) {
        self.id = id
        self.state = state
        self.name = name
        self.directory = directory
        self.url = url
        self.path = path
        self.failure = failure
        self.whenDone = whenDone
        self.bytes = bytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
    }

    /// What people call it: its name, else the last part of its URL that says something.
    var title: String {
        if !name.isEmpty { return name }
        let parts = url.split(separator: "/")
        return parts.last.map(String.init) ?? "download"
    }
}
