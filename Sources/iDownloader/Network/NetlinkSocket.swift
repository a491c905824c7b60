// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A conversation with the kernel about the network (netlink(7)).
struct NetlinkSocket {
    let descriptor: Descriptor

    /// Nil where the kernel or a sandbox has none.
    ///
    /// - Parameter groups: what to be told of from now on; a set of `RTMGRP_` bits.
    init?(groups: UInt32 = 0) {
        let number = socket(
            AF_NETLINK,
            Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            Int32(NETLINK_ROUTE)
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
    /// - Returns: whether the list came whole.
    func dump(_ type: UInt16, _ take: (NetlinkMessage) -> Void) -> Bool {
        guard send(type) else { return false }
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

    private func send(_ type: UInt16) -> Bool {
        struct Request {
            var header = nlmsghdr()
            var body = rtgenmsg()
        }
        var request = Request()
        let length = MemoryLayout<nlmsghdr>.size + MemoryLayout<rtgenmsg>.size
        request.header.nlmsg_len = UInt32(length)
        request.header.nlmsg_type = type
        request.header.nlmsg_flags = UInt16(NLM_F_REQUEST | NLM_F_DUMP)
        request.body.rtgen_family = UInt8(AF_UNSPEC)
        return withUnsafeBytes(of: &request) { bytes in
            Glibc.send(descriptor.number, bytes.baseAddress, length, 0) == length
        }
    }

    /// More than the kernel puts into one datagram (32 KiB).
    private static let bufferSize = 64 << 10
}
