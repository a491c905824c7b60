// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// A connection that a task has open.
public struct OpenConnection: Hashable, Sendable {
    /// The host that it leads to.
    public let host: String
    /// `http/1.1`, `h2`, `ftp`, `ftps` or `sftp`.
    public let transport: String
    /// The offset of the first byte that was asked for.
    public let first: UInt64
    /// How many bytes were asked for; nil for all that follow.
    public let length: UInt64?
    /// Bytes per second since its first byte.
    public let speed: UInt64

    /// Reads a dictionary of GetConnections; what is missing is empty.
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
