// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc

/// The address of a host, without a port.
public enum SocketAddress: Hashable, Sendable {
    /// The four bytes of an IPv4 address.
    case ipv4(UInt8, UInt8, UInt8, UInt8)
    /// The sixteen bytes of an IPv6 address.
    case ipv6([UInt8])
    /// Another family of addresses, by its number in `sys/socket.h`.
    case other(family: Int32)

    /// 127.0.0.0/8 and ::1.
    public var isLoopback: Bool {
        switch unmapped {
        case .ipv4(127, _, _, _): true
        case .ipv6(let bytes): bytes == [UInt8](repeating: 0, count: 15) + [1]
        case .ipv4, .other: false
        }
    }

    /// 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool {
        switch unmapped {
        case .ipv4(169, 254, _, _): true
        case .ipv6(let bytes): bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        case .ipv4, .other: false
        }
    }

    /// 0.0.0.0/8 and ::, which reach this machine on Linux.
    public var isUnspecified: Bool {
        switch unmapped {
        case .ipv4(0, _, _, _): true
        case .ipv6(let bytes): bytes == [UInt8](repeating: 0, count: 16)
        case .ipv4, .other: false
        }
    }

    /// ::ffff:a.b.c.d is the IPv4 address in it (RFC 4291 section 2.5.5.2).
    private var unmapped: SocketAddress {
        guard case .ipv6(let bytes) = self, bytes.count == 16,
            bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        else { return self }
        return .ipv4(bytes[12], bytes[13], bytes[14], bytes[15])
    }
}

extension SocketAddress {
    /// The address that libcurl is about to connect to.
    ///
    /// The structure's last member is longer than C says, so it is read by its offset.
    init(_ address: UnsafePointer<curl_sockaddr>) {
        let family = address.pointee.family
        let length = Int(address.pointee.addrlen)
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else {
            self = .other(family: family)
            return
        }
        let raw = UnsafeRawPointer(address) + offset
        switch family {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            let bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) {
                Array($0)
            }
            self = .ipv4(bytes[0], bytes[1], bytes[2], bytes[3])
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            let bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) {
                Array($0)
            }
            self = .ipv6(bytes)
        default:
            self = .other(family: family)
        }
    }
}
