// SPDX-License-Identifier: Apache-2.0

package import iDownBus

extension DownloadList {
    /// Entries that one call sends to the service.
    package struct Batch: Hashable, Sendable {
        /// The line of each URL, counted from 1.
        package let lines: [Int]
        package let urls: [String]
        package let options: AddOptions

        /// Both halves in order, to find a URL that the service refuses; nil for a single URL.
        package var halves: (Batch, Batch)? {
            guard urls.count > 1 else { return nil }
            let middle = urls.count / 2
            return (part(0..<middle), part(middle..<urls.count))
        }

        private func part(_ range: Range<Int>) -> Batch {
            Batch(lines: Array(lines[range]), urls: Array(urls[range]), options: options)
        }
    }

    /// The entries in as few calls as possible.
    ///
    /// Neighboring entries share a call if their options are equal and none of these options is
    /// for a single file. A batch holds no more URLs and bytes than one call can carry.
    package var batches: [Batch] {
        var batches: [Batch] = []
        var group: [Entry] = []
        var bytes = 0
        func closeGroup() {
            guard let first = group.first else { return }
            batches.append(
                Batch(lines: group.map(\.line), urls: group.map(\.url), options: first.options)
            )
            group = []
            bytes = 0
        }
        for entry in entries {
            let fits =
                group.last.map { $0.options == entry.options && !entry.options.isForOneFile }
                ?? true
            if !fits || group.count == Contract.maximumURLs || bytes > Self.maximumBatchBytes {
                closeGroup()
            }
            group.append(entry)
            bytes += entry.url.utf8.count
        }
        closeGroup()
        return batches
    }

    /// Bytes of URLs after which a batch is closed; a D-Bus array holds at most 64 MiB.
    private static let maximumBatchBytes = 16 << 20
}

extension AddOptions {
    /// Whether an option is for a single file or a single call, so that only one URL can have it.
    fileprivate var isForOneFile: Bool { token != nil || !keysOfOneFile.isEmpty }
}
