// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc

/// Knows the sockets of libcurl's connections, which libcurl does not tell before it sends a
/// request.
///
/// A server may send more than it has announced. libcurl reads up to the announced end and keeps
/// the connection. It would then take the remaining bytes for the answer to the next request, and
/// each further answer for that of the request after it, because it takes waiting bytes for a sign
/// that the connection is alive (lib/cf-socket.c of 7.88). So a connection on which bytes wait
/// carries no further request.
///
/// Belongs to the pool's thread.
final class ConnectionSockets {
    /// How libcurl identifies a connection.
    struct Key: Hashable {
        let address: String
        let port: Int32
        let localPort: Int32
    }

    /// The most sockets to remember, more than libcurl keeps idle and runs at once.
    ///
    /// Beyond it, closed ones are forgotten.
    private static let limit = 512

    /// The socket of each connection, and whether the connection is to an FTP or SFTP server.
    private var sockets: [Key: (socket: Int32, isFileServer: Bool)] = [:]

    /// Remembers a new connection, which was made on one of these sockets.
    func note(_ key: Key, madeOn opened: [Int32], isFileServer: Bool) {
        guard let socket = opened.last(where: { Self.isOpen($0, at: key) }) else { return }
        if sockets.count >= Self.limit {
            sockets = sockets.filter { Self.isOpen($0.value.socket, at: $0.key) }
        }
        guard sockets.count < Self.limit else { return }
        sockets[key] = (socket, isFileServer)
    }

    /// Shuts down the idle connections to FTP and SFTP servers, before libcurl closes them.
    ///
    /// libcurl would wait for each server's last reply, for two minutes where the server is gone.
    func hangUp() {
        for (key, known) in sockets where known.isFileServer && Self.isOpen(known.socket, at: key) {
            _ = shutdown(known.socket, Int32(SHUT_RDWR))
        }
    }

    /// Whether an idle connection must carry no further request, because it has received bytes that
    /// were not requested, or its end.
    ///
    /// - Parameters:
    ///   - key: a connection without a transfer.
    ///   - tls: its TLS; nil where it has none.
    /// - Returns: whether anything is left on the connection.
    func hasLeftovers(_ key: Key, tls: UnsafeMutableRawPointer?) -> Bool {
        if let tls, ccurl_has_pending(tls) != 0 { return true }
        guard let socket = sockets[key]?.socket, Self.isOpen(socket, at: key) else { return false }
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Whether the descriptor still belongs to that connection's socket.
    private static func isOpen(_ socket: Int32, at key: Key) -> Bool {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                getsockname(socket, pointer.baseAddress, &length) == 0
            }
        }
        // The port is at the same offset for IPv4 and IPv6.
        let isInternet = [AF_INET, AF_INET6].contains(Int32(address.sin6_family))
        return isBound && isInternet && Int32(UInt16(bigEndian: address.sin6_port)) == key.localPort
    }
}
