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
        host = dictionary.content(of: "host") ?? ""
        transport = dictionary.content(of: "protocol") ?? ""
        first = dictionary.content(of: "first") ?? 0
        speed = dictionary.content(of: "speed") ?? 0
        length = dictionary.content(of: "length").flatMap { (length: Int64) in
            UInt64(exactly: length)
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
