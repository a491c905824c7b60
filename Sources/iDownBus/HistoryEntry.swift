// SPDX-License-Identifier: Apache-2.0

public import DBus

/// An event in the attempts of a task: `(tusa{sv})`.
public struct HistoryEntry: Hashable, Sendable {
    /// The time of the event, in µs since the epoch.
    public let time: UInt64
    /// The connection of the attempt, counted from 1; 0 for the attempt itself.
    public let connection: UInt32
    /// The kind of event, a name that GetHistory's documentation lists.
    public let what: String
    /// The details by name; later versions may add some.
    public let details: [String: Value]

    /// Creates an entry.
    public init(time: UInt64, connection: UInt32, what: String, details: [String: Value]) {
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

    /// Reads an entry.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        (time, connection, what, details) = try Members(from: &reader).members
    }

    /// Appends the entry.
    public func write(to writer: inout WireWriter) {
        Members(time, connection, what, details).write(to: &writer)
    }
}
