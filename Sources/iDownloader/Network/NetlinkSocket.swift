// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A conversation with the kernel about the network (netlink(7)) or its sockets (sock_diag(7)).
package struct NetlinkSocket {
    let descriptor: Descriptor

    /// Nil where the kernel or a sandbox has none.
    ///
    /// - Parameters:
    ///   - family: which part of the kernel to ask, `NETLINK_ROUTE` or another.
    ///   - groups: what to be told of from now on; a set of `RTMGRP_` bits.
    package init?(family: Int32 = NETLINK_ROUTE, groups: UInt32 = 0) {
        let number = socket(
            AF_NETLINK,
            Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            family
        )
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
        var address = sockaddr_nl()
        address.nl_family = UInt16(AF_NETLINK)
        address.nl_groups = groups
        let isBound = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                bind(number, pointer.baseAddress, socklen_t(bytes.count)) == 0
            }
        }
        guard isBound else { return nil }
    }

    /// Reads all that waits, and says whether there was anything; what was lost counts too.
    func drain() -> Bool {
        var isAnything = false
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        while true {
            let count = recv(descriptor.number, &buffer, buffer.count, 0)
            if count > 0 || (count < 0 && errno == ENOBUFS) {
                isAnything = true
            } else if count == 0 || errno != EINTR {
                return isAnything
            }
        }
    }

    /// Asks for all of something (`RTM_GETLINK` and its like) and hands each message on.
    ///
    /// - Parameters:
    ///   - type: what to list.
    ///   - body: the fixed part of the request, such as `rtgenmsg`.
    ///   - take: gets each message.
    /// - Returns: whether the list came whole.
    package func dump(
        _ type: UInt16,
        _ body: some BitwiseCopyable,
        _ take: (NetlinkMessage) -> Void
    ) -> Bool {
        guard send(type, body) else { return false }
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        while true {
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            // The kernel answers at once; the limit is for what nobody has thought of.
            guard poll(&entry, 1, 1000) > 0 else { return false }
            let count = recv(descriptor.number, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return false }
            for message in NetlinkMessage.messages(in: Array(buffer.prefix(count))) {
                switch Int(message.type) {
                case Int(NLMSG_DONE): return true
                case Int(NLMSG_ERROR): return false
                default: take(message)
                }
            }
        }
    }

    private func send(_ type: UInt16, _ body: some BitwiseCopyable) -> Bool {
        var header = nlmsghdr()
        header.nlmsg_type = type
        header.nlmsg_flags = UInt16(NLM_F_REQUEST | NLM_F_DUMP)
        header.nlmsg_len = UInt32(MemoryLayout.size(ofValue: header))
        header.nlmsg_len += UInt32(MemoryLayout.size(ofValue: body))
        let request =
            withUnsafeBytes(of: header, Array.init) + withUnsafeBytes(of: body, Array.init)
        return Glibc.send(descriptor.number, request, request.count, 0) == request.count
    }

    /// More than the kernel puts into one datagram (32 KiB).
    private static let bufferSize = 64 << 10
}
