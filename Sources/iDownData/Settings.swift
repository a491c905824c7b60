// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The user's settings, for all tasks.
package struct Settings: Hashable, Sendable {
    package static let concurrentDownloads = 1...64
    package static let connectionsPerDownload = 1...16
    /// In days; the upper limit is that of the D-Bus property.
    package static let keepCompleted = 0...Int(UInt32.max)
    /// In seconds; the upper limit is that of the D-Bus option.
    package static let retryFor = 0...Int(UInt32.max)

    /// How many tasks may download at the same time, 1…64.
    package var maxConcurrentDownloads: Int
    /// How many connections a task may open if it has no limit of its own, 1…16.
    package var maxConnectionsPerDownload: Int
    /// The speed limit for all tasks together, in bytes per second; 0 for no limit.
    package var speedLimit: Int64
    /// How many days a completed task stays in the list; 0 means for ever.
    package var keepCompleted: Int
    /// The folder for files that are added without one, absolute; nil means the user's XDG download
    /// folder.
    package var downloadDirectory: String?
    /// Whether clients may save files below hidden folders, where programs keep their own files.
    package var allowsHiddenFolders: Bool
    /// Whether a finished file gets the time that the server says it was changed at.
    package var usesServerTime = false
    /// Whether downloads wait while the network is metered.
    package var holdsOnMetered = false
    /// Whether downloads wait while the battery is low.
    package var holdsOnLowBattery = false
    /// For how long downloads are tried without progress, in seconds, unless they say otherwise; 0
    /// for as long as it takes.
    package var retryFor = Int(RetryPolicy.usualRetryFor)
    /// Whether added, completed and failed downloads are notified.
    package var notifies = true
    /// Whether the computer is kept from sleeping when idle while something downloads.
    package var staysAwake = false
    /// The program, with its arguments, that runs for every completed file; nil for none.
    ///
    /// `{path}` and `{url}` in its words are replaced by the file's path and URL.
    package var whenDoneCommand: [String]?
    /// The proxy for all transfers, in the form that curl(1) takes; empty for no proxy; nil uses
    /// the environment's.
    package var proxy: String?
    /// The hosts that are reached without the proxy, in the form of `no_proxy`.
    package var proxyExceptions = ""
    /// A file of cookies to send, in Netscape's format, as an absolute path; nil sends none.
    package var cookieFile: String?

    /// The lowest level that is logged: `error`, `warning`, `notice`, `info` or `debug`.
    package var logLevel = "info"

    package init(
        maxConcurrentDownloads: Int = 3,
        maxConnectionsPerDownload: Int = 8,
        speedLimit: Int64 = 0,
        keepCompleted: Int = 0,
        downloadDirectory: String? = nil,
        allowsHiddenFolders: Bool = false
    ) {
        self.maxConcurrentDownloads = maxConcurrentDownloads
        self.maxConnectionsPerDownload = maxConnectionsPerDownload
        self.speedLimit = speedLimit
        self.keepCompleted = keepCompleted
        self.downloadDirectory = downloadDirectory
        self.allowsHiddenFolders = allowsHiddenFolders
    }
}
