// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A socket to ask the kernel about the network (netlink(7)) or about sockets (sock_diag(7)).
package struct NetlinkSocket {
    let descriptor: Descriptor

    /// Opens the socket; returns nil if the kernel or a sandbox does not allow it.
    ///
    /// - Parameters:
    ///   - family: the part of the kernel to ask, `NETLINK_ROUTE` or another.
    ///   - groups: the changes to be told about, as `RTMGRP_` bits.
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

    /// Reads all waiting messages, and returns whether there were any; lost messages count too.
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

    /// Requests a list (`RTM_GETLINK` and others) and passes each message to `take`.
    ///
    /// - Parameters:
    ///   - type: the type of the request.
    ///   - body: the fixed part of the request, such as `rtgenmsg`.
    ///   - take: called with each message.
    /// - Returns: whether the list was complete.
    package func dump(
        _ type: UInt16,
        _ body: some BitwiseCopyable,
        _ take: (NetlinkMessage) -> Void
    ) -> Bool {
        guard send(type, body) else { return false }
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        while true {
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            // The kernel answers immediately; the limit of 1 second guards against unforeseen
            // cases.
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

    /// The buffer size: more than the kernel puts into one datagram (32 KiB).
    private static let bufferSize = 64 << 10
}
