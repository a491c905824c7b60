// SPDX-License-Identifier: Apache-2.0

/// What the user has chosen, for all tasks.
package struct Settings: Hashable, Sendable {
    package static let concurrentDownloads = 1...64

    /// How many tasks download at once, 1…64.
    package var maxConcurrentDownloads: Int
    /// Where files go that were given no folder, absolute; nil takes the user's DOWNLOAD folder.
    package var downloadDirectory: String?
    /// Whether clients may name folders below hidden ones, and so among the programs' own files.
    package var allowsHiddenFolders: Bool

    package init(
        maxConcurrentDownloads: Int = 3,
        downloadDirectory: String? = nil,
        allowsHiddenFolders: Bool = false
    ) {
        self.maxConcurrentDownloads = maxConcurrentDownloads
        self.downloadDirectory = downloadDirectory
        self.allowsHiddenFolders = allowsHiddenFolders
    }
}
