// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import iDownState

/// The file `hosts.json`: what was learned of hosts, as far as it is of use to the next run.
///
/// Nothing depends on it: one that is missing, or cannot be read, only has the hosts tried anew.
package struct HostsFile: Sendable {
    /// A thousand hosts with the longest names there are take less.
    private static let largest = 1 << 20

    private struct Entry: Codable {
        let host: String
        let limit: Int?
        let useful: Int?
        /// Whether more than those may be of use; nil for no.
        let mayBeMore: Bool?
        /// Microseconds since 1970-01-01 UTC.
        let learned: Int64
    }

    private let path: String
    private let files: Files

    /// - Parameters:
    ///   - folder: there already.
    ///   - faults: for tests.
    package init(folder: String, faults: FileFaults? = nil) {
        path = folder + "/hosts.json"
        files = Files(faults: faults)
    }

    /// What the last run has learned; nothing where that cannot be told.
    package func read(now: WallTime) -> [HostKnowledge] {
        guard let bytes = try? files.read(path, limit: Self.largest),
            let entries = try? JSONDecoder().decode([Entry].self, from: Data(bytes))
        else { return [] }
        return entries.map { entry in
            HostKnowledge(
                host: entry.host,
                limit: entry.limit,
                useful: entry.useful.map {
                    UsefulConnections($0, mayBeMore: entry.mayBeMore ?? false)
                },
                age: now.since(WallTime(microseconds: entry.learned))
            )
        }
    }

    /// Writes it in place of what was there; durable on return.
    package func write(_ knowledge: [HostKnowledge], now: WallTime) throws(FileFailure) {
        let entries = knowledge.map { known in
            Entry(
                host: known.host,
                limit: known.limit,
                useful: known.useful?.count,
                mayBeMore: known.useful?.mayBeMore == true ? true : nil,
                learned: now.advanced(by: .zero - known.age).microseconds
            )
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(entries) else { return }
        try files.replace(path, with: Array(data))
    }
}
