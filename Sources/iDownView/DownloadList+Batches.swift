// SPDX-License-Identifier: Apache-2.0

package import iDownBus

extension DownloadList {
    /// Entries that one call sends to the service.
    package struct Batch: Hashable, Sendable {
        /// The line of each download, counted from 1.
        package let lines: [Int]
        package let downloads: [NewDownload]

        fileprivate init(_ entries: ArraySlice<Entry>) {
            lines = entries.map(\.line)
            downloads = entries.map { NewDownload($0.url, options: $0.options) }
        }

        private init(_ lines: ArraySlice<Int>, _ downloads: ArraySlice<NewDownload>) {
            (self.lines, self.downloads) = (Array(lines), Array(downloads))
        }

        /// Whether all downloads have the same options.
        package var hasCommonOptions: Bool {
            downloads.allSatisfy { $0.options == downloads.first?.options }
        }

        /// Returns the downloads from a place on, but no more than a number.
        package func part(from start: Int, atMost count: Int) -> Batch {
            Batch(lines[start...].prefix(count), downloads[start...].prefix(count))
        }
    }

    /// Returns the entries in as few calls as possible.
    ///
    /// A batch holds no more downloads and bytes than one call can carry. Neighboring entries with
    /// the same token are not in one batch, because the token would stand for both.
    ///
    /// - Parameter isAlone: Whether a download with these options has a call of its own.
    /// - Returns: The batches, in the order of the entries.
    package func batches(alone isAlone: (AddOptions) -> Bool = { _ in false }) -> [Batch] {
        var batches: [Batch] = []
        var first = entries.startIndex
        var isMixed = false
        var bytes = 0
        for place in entries.indices {
            let options = entries[place].options
            if place > first {
                let before = entries[place - 1].options
                isMixed = isMixed || options != before || !options.keysOfOneFile.isEmpty
                let most = isMixed ? Self.maximumMixed : Contract.maximumURLs
                let isRepeated = options.token != nil && options.token == before.token
                if place - first >= most || bytes > Self.maximumBatchBytes || isRepeated
                    || isAlone(options) || isAlone(before)
                {
                    batches.append(Batch(entries[first..<place]))
                    (first, isMixed, bytes) = (place, false, 0)
                }
            }
            bytes += entries[place].url.utf8.count + options.bytes
        }
        if first < entries.endIndex { batches.append(Batch(entries[first...])) }
        return batches
    }

    /// The most downloads of a batch whose options differ: enough that the batches cost little, and
    /// few enough that the service decodes one in an instant.
    private static let maximumMixed = 5_000

    /// Bytes of texts after which a batch is closed; a D-Bus array holds at most 64 MiB.
    private static let maximumBatchBytes = 16 << 20
}

extension AddOptions {
    /// The bytes of the texts that may be long.
    fileprivate var bytes: Int {
        ([directory, filename, referrer, userAgent, cookies].compactMap(\.self) + mirrors
            + headers.flatMap { [$0.name, $0.value] }).reduce(0) { $0 + $1.utf8.count }
    }
}
