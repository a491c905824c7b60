// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import iDownState

/// The file `hosts.json`, which keeps the measurements of hosts for the next run.
///
/// If the file is missing or unreadable, hosts are measured again.
package struct HostsFile: Sendable {
    /// The largest size in bytes; a thousand hosts with the longest possible names take less.
    private static let largest = 1 << 20

    private struct Entry: Codable {
        let host: String
        let limit: Int?
        let useful: Int?
        /// Whether more connections than `useful` may help; nil means no.
        let mayBeMore: Bool?
        /// Whether the host gives one unchanged file several ETags; nil means no.
        let severalTags: Bool?
        /// Microseconds since 1970-01-01 UTC.
        let learned: Int64
    }

    private let path: String
    private let files: Files

    /// - Parameters:
    ///   - folder: an existing folder.
    ///   - faults: makes system calls fail in tests.
    package init(folder: String, faults: (@Sendable () -> Int32?)? = nil) {
        path = folder + "/hosts.json"
        files = Files(faults: faults)
    }

    /// Returns what the last run learned; empty if the file is missing or unreadable.
    package func read(now: WallTime) -> [HostKnowledge] {
        guard let bytes = try? files.read(path, limit: Self.largest),
            let entries = try? JSONDecoder().decode([Entry].self, from: Data(bytes))
        else { return [] }
        return entries.map { entry in
            let age = now.since(WallTime(microseconds: entry.learned))
            var known = HostKnowledge(host: entry.host, age: age)
            known.limit = entry.limit
            known.useful = entry.useful.map {
                UsefulConnections($0, mayBeMore: entry.mayBeMore ?? false)
            }
            known.hasSeveralTags = entry.severalTags ?? false
            return known
        }
    }

    /// Replaces the file's content; durable on return.
    package func write(_ knowledge: [HostKnowledge], now: WallTime) throws(FileFailure) {
        let entries = knowledge.map { known in
            Entry(
                host: known.host,
                limit: known.limit,
                useful: known.useful?.count,
                mayBeMore: known.useful?.mayBeMore == true ? true : nil,
                severalTags: known.hasSeveralTags ? true : nil,
                learned: now.advanced(by: .zero - known.age).microseconds
            )
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(entries) else { return }
        try files.replace(path, with: Array(data))
    }
}
