// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Glibc

extension Link {
    /// The name of the bus's end of the connection's socket: a path, or a zero byte and a name.
    ///
    /// Nil if the bus is not reached through a local socket, or the connection is closed.
    var busSocketName: [UInt8]? {
        var socket: CInt = -1
        guard isConnected, dbus_connection_get_socket(pointer, &socket) != 0 else { return nil }
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                pointer.baseAddress.map { getpeername(socket, $0, &length) } == 0
            }
        }
        guard isKnown, address.sun_family == sa_family_t(AF_UNIX),
            let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path), Int(length) > start
        else { return nil }
        return withUnsafeBytes(of: address) { Array($0[start..<Int(length)]) }
    }
}
