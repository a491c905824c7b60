// SPDX-License-Identifier: Apache-2.0

import CLinux

/// One kernel message about links, addresses or routes (rtnetlink(7)), or about a socket.
///
/// Every length in the message is checked against the bytes that are there.
package struct NetlinkMessage {
    let type: UInt16
    private let payload: ArraySlice<UInt8>

    /// Returns the messages of one datagram; a message that is cut off ends the list.
    static func messages(in datagram: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = datagram[...]
        while let header = rest.read(nlmsghdr.self) {
            let length = Int(clamping: header.nlmsg_len)
            guard length >= MemoryLayout<nlmsghdr>.size, length <= rest.count else { break }
            let body = rest.prefix(length).dropFirst(MemoryLayout<nlmsghdr>.size)
            messages.append(NetlinkMessage(type: header.nlmsg_type, payload: body))
            rest = rest.dropFirst(length.roundedUpToFour)
        }
        return messages
    }

    /// Returns the fixed part; nil if the message is too short for it.
    package func head<Head: BitwiseCopyable>(_ type: Head.Type) -> Head? { payload.read(type) }

    /// Returns the attributes behind a fixed part, by their type.
    package func attributes<Head: BitwiseCopyable>(
        after type: Head.Type
    ) -> [UInt16: ArraySlice<UInt8>] {
        Self.attributes(of: payload.dropFirst(MemoryLayout<Head>.size.roundedUpToFour))
    }

    /// Returns the attributes in a list, or those nested in an attribute.
    static func attributes(of bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var attributes: [UInt16: ArraySlice<UInt8>] = [:]
        var rest = bytes
        while let header = rest.read(rtattr.self) {
            let length = Int(header.rta_len)
            guard length >= MemoryLayout<rtattr>.size, length <= rest.count else { break }
            let value = rest.prefix(length).dropFirst(MemoryLayout<rtattr>.size)
            // The two highest bits are flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
            attributes[header.rta_type & 0x3FFF] = value
            rest = rest.dropFirst(length.roundedUpToFour)
        }
        return attributes
    }
}

extension ArraySlice<UInt8> {
    /// Returns the first bytes as a kernel structure; nil if there are too few bytes.
    package func read<Value: BitwiseCopyable>(_ type: Value.Type) -> Value? {
        guard count >= MemoryLayout<Value>.size else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(as: type) }
    }
}

extension Int {
    /// Netlink aligns everything to four bytes.
    fileprivate var roundedUpToFour: Int { (self + 3) & ~3 }
}
