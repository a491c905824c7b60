// SPDX-License-Identifier: Apache-2.0

// Both modules declare sockaddr, and it belongs to the one that the compiler reads first.
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
        if case .ipv4(127, _, _, _) = unmapped { return true }
        return bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool {
        if case .ipv4(169, 254, _, _) = unmapped { return true }
        return bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    /// 0.0.0.0/8 and ::, which mean this computer on Linux.
    public var isUnspecified: Bool {
        if case .ipv4(0, _, _, _) = unmapped { return true }
        return bytes == [UInt8](repeating: 0, count: 16)
    }

    /// How far the address is from this computer.
    public var reach: Reach {
        if isLoopback || isUnspecified { return .machine }
        if isLinkLocal { return .link }
        if case .other = self { return .machine }
        return .beyond
    }

    /// How far an address is from this computer, the nearest first.
    public enum Reach: Int, Comparable, Sendable {
        /// Only this computer: loopback and unspecified addresses, and families without hosts.
        case machine
        /// The same network link.
        case link
        /// Everything else.
        case beyond

        /// Whether the left one is nearer.
        public static func < (left: Reach, right: Reach) -> Bool { left.rawValue < right.rawValue }
    }

    /// The IPv4 address in ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2); other addresses as they are.
    private var unmapped: SocketAddress {
        guard case .ipv6(let bytes) = self, bytes.count == 16,
            bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        else { return self }
        return .ipv4(bytes[12], bytes[13], bytes[14], bytes[15])
    }
}

extension SocketAddress {
    /// Reads the text form without a port and brackets; an IPv6 address may have its zone;
    /// `inet_pton`.
    public init?(_ text: String) {
        var ipv4 = in_addr()
        var ipv6 = in6_addr()
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            self.init(ipv4)
        } else if inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &ipv6) == 1 {
            self.init(ipv6)
        } else {
            return nil
        }
    }

    private init(_ address: in_addr) {
        let bytes = withUnsafeBytes(of: address) { Array($0) }
        self = .ipv4(bytes[0], bytes[1], bytes[2], bytes[3])
    }

    private init(_ address: in6_addr) { self = .ipv6(withUnsafeBytes(of: address) { Array($0) }) }

    /// Reads a `sockaddr` of at most `length` bytes; returns nil where it is not an internet
    /// address.
    init?(family: Int32, _ raw: UnsafeRawPointer, length: Int) {
        switch family {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            self.init(raw.loadUnaligned(as: sockaddr_in.self).sin_addr)
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            self.init(raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
        default:
            return nil
        }
    }

    /// The addresses of this computer at present; nil where the system does not tell; `getifaddrs`.
    public static var local: Set<SocketAddress>? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var found: Set<SocketAddress> = []
        var next = first
        while let entry = next?.pointee {
            let address = entry.ifa_addr.flatMap {
                // The length follows from the address family.
                SocketAddress(family: Int32($0.pointee.sa_family), $0, length: .max)
            }
            if let address { found.insert(address) }
            next = entry.ifa_next
        }
        return found
    }

    /// The bytes of the address in network order; empty for another family.
    var bytes: [UInt8] {
        switch self {
        case .ipv4(let a, let b, let c, let d): [a, b, c, d]
        case .ipv6(let bytes): bytes
        case .other: []
        }
    }

    /// Reads the address that libcurl is about to connect to.
    ///
    /// The structure's last member is longer than its C type, so it is read by its offset.
    init(_ address: UnsafePointer<curl_sockaddr>) {
        let (family, length) = (address.pointee.family, Int(address.pointee.addrlen))
        let raw = MemoryLayout<curl_sockaddr>.offset(of: \.addr).map {
            UnsafeRawPointer(address) + $0
        }
        self =
            raw.flatMap { SocketAddress(family: family, $0, length: length) }
            ?? .other(family: family)
    }
}
