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
        let details = entry.details.sorted { $0.key < $1.key }.map { name, detail in
            switch detail {
            case .text(let text): "\(name)=\(text)"
            case .number(let number): "\(name)=\(number)"
            case .flag(let flag): "\(name)=\(flag)"
            }
        }
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

    private enum Detail: Encodable {
        case detail(HistoryEntry.Detail)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .detail(.text(let text)): try container.encode(text)
            case .detail(.number(let number)): try container.encode(number)
            case .detail(.flag(let flag)): try container.encode(flag)
            }
        }
    }

    package init(_ entry: HistoryEntry) { self.entry = entry }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(entry.time, forKey: .time)
        try object.encode(entry.connection, forKey: .connection)
        try object.encode(entry.what, forKey: .what)
        try object.encode(entry.details.mapValues { Detail.detail($0) }, forKey: .details)
    }
}
