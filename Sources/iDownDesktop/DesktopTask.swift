// SPDX-License-Identifier: Apache-2.0

package import iDownState
import iDownView

/// What the desktop needs to know of a task; it holds no secrets.
package struct DesktopTask: Hashable, Sendable {
    package let id: String
    package var state: TaskState.Kind
    /// The file's name; empty while it is not known, and nil for a private download.
    package var name: String? = ""
    /// The folder of the file, absolute.
    package var directory = ""
    /// The URL without user, password, query and fragment.
    package var url = ""
    /// The host of the page that had the link, or else of the URL; empty for a private download.
    package var site = ""
    /// The path of the finished file; nil before it is finished.
    package var path: String?
    /// The failure's message in English; empty where the task has not failed.
    package var failure = ""
    /// The failure's ErrorCode; empty where the task has not failed.
    package var errorCode = ""
    /// What happens on the desktop when the file is complete.
    package var whenDone: WhenDone?
    package var bytes: Int64 = 0
    /// The file's size in bytes; nil while it is not known.
    package var totalBytes: Int64?
    package var bytesPerSecond: UInt64 = 0

    package init(id: String, state: TaskState.Kind) {
        self.id = id
        self.state = state
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
            ? "" : FailureText.withoutEditCommand(FailureText.text(of: errorCode, saying: failure))
    }

    /// The downloaded part in percent; nil while the size is not known.
    var percent: UInt? {
        guard let totalBytes, totalBytes > 0 else { return nil }
        return UInt(max(0, Double(min(bytes, totalBytes)) / Double(totalBytes) * 100))
    }
}
