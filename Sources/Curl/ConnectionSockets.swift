// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc

/// The sockets behind libcurl's connections, which it does not tell before a request is sent.
///
/// A server may send more than it has announced. libcurl reads up to the announced end and keeps
/// the connection; what is left would be taken for the answer to the next request on it, and each
/// answer that follows for that of the one after (lib/cf-socket.c of 7.88 takes bytes that wait for
/// a sign of life). So a connection on which anything waits carries no further request.
///
/// Belongs to the pool's thread.
final class ConnectionSockets {
    /// What libcurl says of a connection.
    struct Key: Hashable {
        let address: String
        let port: Int32
        let localPort: Int32
    }

    /// More than libcurl keeps idle, and runs at once; beyond it those that are gone are forgotten.
    private static let limit = 512

    private var sockets: [Key: Int32] = [:]
    /// Those that lead to servers of files.
    private var fileServers: Set<Key> = []

    /// Takes note of a new connection, which was made on one of these sockets.
    func note(_ key: Key, madeOn opened: [Int32], isFileServer: Bool) {
        guard let socket = opened.last(where: { Self.isOpen($0, at: key) }) else { return }
        if sockets.count >= Self.limit {
            sockets = sockets.filter { Self.isOpen($0.value, at: $0.key) }
            fileServers.formIntersection(sockets.keys)
        }
        guard sockets.count < Self.limit else { return }
        sockets[key] = socket
        if isFileServer { fileServers.insert(key) }
    }

    /// Ends the idle connections to servers of files, before libcurl says farewell on them: it
    /// would wait for each one's last words, for two minutes where nobody is there any more.
    func hangUp() {
        for key in fileServers {
            guard let socket = sockets[key], Self.isOpen(socket, at: key) else { continue }
            _ = shutdown(socket, Int32(SHUT_RDWR))
        }
    }

    /// Looks whether something has come that nobody has asked for, be it the end.
    ///
    /// - Parameters:
    ///   - key: a connection on which nothing is under way.
    ///   - tls: its TLS; nil where it has none.
    /// - Returns: whether it is to carry no further request.
    func hasLeftovers(_ key: Key, tls: UnsafeMutableRawPointer?) -> Bool {
        if let tls, ccurl_has_pending(tls) != 0 { return true }
        guard let socket = sockets[key], Self.isOpen(socket, at: key) else { return false }
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Whether the number still stands for that connection's socket.
    private static func isOpen(_ socket: Int32, at key: Key) -> Bool {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                getsockname(socket, pointer.baseAddress, &length) == 0
            }
        }
        // The port stands at the same place for IPv4 and IPv6.
        let isInternet = [AF_INET, AF_INET6].contains(Int32(address.sin6_family))
        return isBound && isInternet && Int32(UInt16(bigEndian: address.sin6_port)) == key.localPort
    }
}
