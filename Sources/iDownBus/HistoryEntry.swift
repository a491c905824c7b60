// SPDX-License-Identifier: Apache-2.0

public import DBus

/// One thing that has happened in the attempts of a task: `(tusa{sv})`.
public struct HistoryEntry: Hashable, Sendable {
    /// What goes with an entry.
    public enum Detail: Hashable, Sendable {
        case text(String)
        case number(Int64)
        case flag(Bool)
    }

    /// When, in µs since the epoch.
    public let time: UInt64
    /// Which connection of the attempt, counted from 1; 0 for the attempt itself.
    public let connection: UInt32
    /// What has happened, by the names that GetHistory's documentation lists.
    public let what: String
    /// The details, by names; later versions may add some.
    public let details: [String: Detail]

    /// Creates an entry.
    public init(time: UInt64, connection: UInt32, what: String, details: [String: Detail]) {
        self.time = time
        self.connection = connection
        self.what = what
        self.details = details
    }
}

extension HistoryEntry: BusType {
    private typealias Members = Structure<UInt64, UInt32, String, [String: Value]>

    /// The type `(tusa{sv})`.
    public static var signature: Signature { Members.signature }

    /// Reads an entry; details of other types are left out.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        let values: [String: Value]
        (time, connection, what, values) = try Members(from: &reader).members
        details = values.compactMapValues { value in
            switch value {
            case .string(let text): .text(text)
            case .int64(let number): .number(number)
            case .boolean(let flag): .flag(flag)
            default: nil
            }
        }
    }

    /// Appends the entry.
    public func write(to writer: inout WireWriter) {
        let values = details.mapValues { detail -> Value in
            switch detail {
            case .text(let text): .string(text)
            case .number(let number): .int64(number)
            case .flag(let flag): .boolean(flag)
            }
        }
        Members(time, connection, what, values).write(to: &writer)
    }
}
