// SPDX-License-Identifier: Apache-2.0

import iDownView

/// What the desktop needs to know of a task; it holds no secrets.
package struct DesktopTask: Hashable, Sendable {
    /// The state of a task.
    package enum State: Hashable, Sendable {
        case waiting, downloading, paused, completed, failed, cancelled
    }

    /// What happens on the desktop when the file is complete.
    package enum WhenDone: String, Sendable {
        case open, reveal
    }

    package let id: String
    package var state: State
    /// The file's name; empty while it is not known, and nil for a private download.
    package var name: String?
    /// The folder of the file, absolute.
    package var directory: String
    /// The URL without user, password, query and fragment.
    package var url: String
    /// The host of the page that had the link, or else of the URL; empty for a private download.
    package var site: String
    /// The path of the finished file; nil before it is finished.
    package var path: String?
    /// The failure's message in English; empty where the task has not failed.
    package var failure: String
    /// The failure's ErrorCode; empty where the task has not failed.
    package var errorCode: String
    package var whenDone: WhenDone?
    package var bytes: Int64
    /// The file's size in bytes; nil while it is not known.
    package var totalBytes: Int64?
    package var bytesPerSecond: UInt64

    package init(
        id: String,
        state: State,
        name: String?,
        directory: String,
        url: String,
        site: String = "",
        path: String? = nil,
        failure: String = "",
        errorCode: String = "",
        whenDone: WhenDone? = nil,
        bytes: Int64 = 0,
        totalBytes: Int64? = nil,
        bytesPerSecond: UInt64 = 0
    ) {
        self.id = id
        self.state = state
        self.name = name
        self.directory = directory
        self.site = site
        self.url = url
        self.path = path
        self.failure = failure
        self.errorCode = errorCode
        self.whenDone = whenDone
        self.bytes = bytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
    }

    /// The title to show: the name, or else the last part of the URL's path.
    var title: String {
        guard let name else { return translated("a private download") }
        if !name.isEmpty { return name }
        let parts = url.split(separator: "/")
        return parts.last.map(String.init) ?? translated("download")
    }

    /// Why the task failed, in the user's language; empty where it has not failed.
    var reason: String {
        failure.isEmpty && errorCode.isEmpty
            ? "" : FailureText.text(of: errorCode, saying: failure)
    }

    /// The downloaded part in percent; nil while the size is not known.
    var percent: UInt? {
        guard let totalBytes, totalBytes > 0 else { return nil }
        return UInt(max(0, Double(min(bytes, totalBytes)) / Double(totalBytes) * 100))
    }
}
