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
    /// The type `(tusa{sv})`.
    public static var signature: Signature { "(tusa{sv})" }

    /// Takes an entry; details of other types are left out.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .structure(let members) = busValue, members.count == 4 else {
            throw DecodingFailure("expected a structure of four, found \(busValue.signature)")
        }
        time = try UInt64(busValue: members[0])
        connection = try UInt32(busValue: members[1])
        what = try String(busValue: members[2])
        details = try [String: Value](busValue: members[3]).compactMapValues { value in
            switch value {
            case .string(let text): .text(text)
            case .int64(let number): .number(number)
            case .boolean(let flag): .flag(flag)
            default: nil
            }
        }
    }

    /// The value to send.
    public var busValue: Value {
        let values = details.mapValues { detail -> Value in
            switch detail {
            case .text(let text): .string(text)
            case .number(let number): .int64(number)
            case .flag(let flag): .boolean(flag)
            }
        }
        return .structure([.uint64(time), .uint32(connection), .string(what), values.busValue])
    }
}
