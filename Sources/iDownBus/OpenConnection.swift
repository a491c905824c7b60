// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// A connection that a task has open.
public struct OpenConnection: Hashable, Sendable {
    /// The host of the connection.
    public let host: String
    /// The protocol: `http/1.1`, `h2`, `ftp`, `ftps` or `sftp`.
    public let transport: String
    /// The offset of the first requested byte.
    public let first: UInt64
    /// The number of requested bytes; nil for all bytes from the offset on.
    public let length: UInt64?
    /// The speed in bytes per second, since the connection's first byte.
    public let speed: UInt64

    /// Reads a dictionary of GetConnections; missing keys become empty, 0 or nil.
    init(_ dictionary: [String: Value]) {
        func text(_ key: String) -> String {
            if case .string(let text) = dictionary[key] { text } else { "" }
        }
        func number(_ key: String) -> UInt64 {
            if case .uint64(let number) = dictionary[key] { number } else { 0 }
        }
        (host, transport) = (text("host"), text("protocol"))
        (first, speed) = (number("first"), number("speed"))
        if case .int64(let length) = dictionary["length"] {
            self.length = UInt64(exactly: length)
        } else {
            length = nil
        }
    }
}

extension ManagerClient {
    /// Returns the connections that a task has open, the oldest first.
    ///
    /// - Throws: `NoSuchTask`; `UnknownMethod` from a service without ``Capability/history``.
    public func connections(of id: String) async throws(ManagerError) -> [OpenConnection] {
        try await call(Contract.Method.getConnections, id, returning: [[String: Value]].self)
            .map { OpenConnection($0) }
    }
}
