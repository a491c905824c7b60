// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// One entry of a download's history as a line: time, connection, what happened, details.
package struct HistoryText: Sendable, CustomStringConvertible {
    package let description: String

    /// - Parameters:
    ///   - entry: The entry.
    ///   - time: Writes µs since the epoch as a local time.
    package init(_ entry: HistoryEntry, time: (UInt64) -> String) {
        let place = entry.connection == 0 ? "-" : "#\(entry.connection)"
        let details = entry.details.compactMapValues(Detail.init).sorted { $0.key < $1.key }
            .map { name, detail in "\(name)=\(detail)" }
        let words = [time(entry.time), place, entry.what] + details
        description = CellText(words.joined(separator: "  ")).description
    }
}

/// One entry of a download's history as a JSON object: `Time`, `Connection`, `What`, `Details`.
package struct HistoryJSON: Encodable, Sendable {
    private let entry: HistoryEntry

    private enum Key: String, CodingKey {
        case time = "Time"
        case connection = "Connection"
        case what = "What"
        case details = "Details"
    }

    package init(_ entry: HistoryEntry) { self.entry = entry }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(entry.time, forKey: .time)
        try object.encode(entry.connection, forKey: .connection)
        try object.encode(entry.what, forKey: .what)
        try object.encode(entry.details.compactMapValues(Detail.init), forKey: .details)
    }
}
