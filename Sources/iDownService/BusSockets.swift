// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import iDownloader

/// The sockets of a bus's clients, as the kernel lists them.
struct BusSockets {
    /// The inodes of the clients' sockets; nil where the kernel does not list them.
    private let inodes: Set<UInt32>?

    /// Lists the connections to a bus with sock_diag(7), `UNIX_DIAG_PEER`.
    ///
    /// - Parameter bus: The name of the bus's socket; nil where the bus has none.
    init(bus: [UInt8]?) {
        guard let bus, let socket = NetlinkSocket(family: NETLINK_SOCK_DIAG) else {
            inodes = nil
            return
        }
        var request = unix_diag_req()
        request.sdiag_family = UInt8(AF_UNIX)
        request.udiag_states = 1 << UInt32(TCP_ESTABLISHED)
        request.udiag_show = UInt32(UDIAG_SHOW_NAME | UDIAG_SHOW_PEER)
        let name = Self.withoutEnd(bus[...])
        var found: Set<UInt32> = []
        let isWhole = socket.dump(UInt16(SOCK_DIAG_BY_FAMILY), request) { message in
            let attributes = message.attributes(after: unix_diag_msg.self)
            // A socket that the bus accepted has the name of the socket on which the bus listens.
            guard let own = attributes[UInt16(UNIX_DIAG_NAME)],
                Self.withoutEnd(own) == name,
                let peer = attributes[UInt16(UNIX_DIAG_PEER)]?.read(UInt32.self)
            else { return }
            found.insert(peer)
        }
        inodes = isWhole ? found : nil
    }

    /// Returns whether a client's file descriptor is its end of a connection to the bus.
    ///
    /// Where the kernel does not list connections, every socket may be one. The link is what
    /// `/proc/PID/fd` shows for the descriptor: `socket:[INODE]`.
    func includes(_ link: String) -> Bool {
        guard link.hasPrefix("socket:["), link.hasSuffix("]"),
            let inode = UInt32(link.dropFirst("socket:[".count).dropLast())
        else { return false }
        return inodes?.contains(inode) ?? true
    }

    /// Returns a path without the zero byte that may follow it.
    private static func withoutEnd(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        name.first == 0 ? name : name.prefix { $0 != 0 }
    }
}
