// SPDX-License-Identifier: Apache-2.0

/// What the user has chosen, for all tasks.
package struct Settings: Hashable, Sendable {
    package static let concurrentDownloads = 1...64
    package static let connectionsPerDownload = 1...16
    /// In days; the upper end is what the property can tell.
    package static let keepCompleted = 0...Int(UInt32.max)

    /// How many tasks download at once, 1…64.
    package var maxConcurrentDownloads: Int
    /// How many connections a task may open that says nothing of its own, 1…16.
    package var maxConnectionsPerDownload: Int
    /// The most bytes a second of all tasks together; 0 for no limit.
    package var speedLimit: Int64
    /// How many days a completed task stays in the list; 0 is for ever.
    package var keepCompleted: Int
    /// Where files go that were given no folder, absolute; nil takes the user's DOWNLOAD folder.
    package var downloadDirectory: String?
    /// Whether clients may name folders below hidden ones, and so among the programs' own files.
    package var allowsHiddenFolders: Bool
    /// Whether downloads wait for a network that does not cost by the byte.
    package var holdsOnMetered = false
    /// Whether downloads wait while the battery is low.
    package var holdsOnLowBattery = false
    /// Whether the user is told of what was added, completed and failed.
    package var notifies = true
    /// Whether an idle computer stays awake while something downloads.
    package var staysAwake = false
    /// A program and its arguments for every completed file; nil for none.
    ///
    /// `{path}` and `{url}` in them stand for what they say.
    package var whenDoneCommand: [String]?
    /// The proxy for everything, as curl(1) takes it; empty for none at all; nil leaves it to the
    /// environment.
    package var proxy: String?
    /// The hosts that the proxy is not for, as `no_proxy` has them.
    package var proxyExceptions = ""
    /// The user's cookies in Netscape's form, an absolute path; nil sends none.
    package var cookieFile: String?

    /// The least that is written to the log: `error`, `warning`, `notice`, `info` or `debug`.
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
