// SPDX-License-Identifier: Apache-2.0

package import iDownBus

extension DownloadList {
    /// Entries that go to the service in one call.
    package struct Batch: Hashable, Sendable {
        package let lines: [Int]
        package let urls: [String]
        package let options: AddOptions

        /// Both halves, in order, for when one of the URLs is refused; nil for a single one.
        package var halves: (Batch, Batch)? {
            guard urls.count > 1 else { return nil }
            let middle = urls.count / 2
            return (part(0..<middle), part(middle..<urls.count))
        }

        private func part(_ range: Range<Int>) -> Batch {
            Batch(lines: Array(lines[range]), urls: Array(urls[range]), options: options)
        }
    }

    /// The entries in as few calls as may be: neighbours with the same options go together, as far
    /// as these say nothing of one file; a batch holds no more than a call may.
    package var batches: [Batch] {
        var batches: [Batch] = []
        var group: [Entry] = []
        var bytes = 0
        func close() {
            guard let first = group.first else { return }
            batches.append(
                Batch(lines: group.map(\.line), urls: group.map(\.url), options: first.options)
            )
            group = []
            bytes = 0
        }
        for entry in entries {
            let fits =
                group.last.map { $0.options == entry.options && !entry.options.isOfOneFile } ?? true
            if !fits || group.count == Contract.maximumURLs || bytes > Self.maximumBatchBytes {
                close()
            }
            group.append(entry)
            bytes += entry.url.utf8.count
        }
        close()
        return batches
    }

    /// Far below what a message of D-Bus holds, 64 MiB an array.
    private static let maximumBatchBytes = 16 << 20
}

extension AddOptions {
    /// Whether they say something of one file or of one call, and so go with one URL only.
    package var isOfOneFile: Bool {
        filename != nil || checksum != nil || !mirrors.isEmpty || expectedSize != nil
            || token != nil
    }
}
