// SPDX-License-Identifier: Apache-2.0

// Both modules declare sockaddr, and it belongs to the one that the compiler reads first.
import CCurl
import Glibc

/// The address of a host, without a port.
public struct SocketAddress: Hashable, Sendable {
    /// The four bytes of an IPv4 address or the sixteen of an IPv6 address, in network order; none
    /// for another family of addresses.
    let bytes: [UInt8]

    /// An address of another family.
    static let other = SocketAddress(bytes: [])

    /// 127.0.0.0/8 and ::1.
    public var isLoopback: Bool {
        ipv4?[0] == 127 || bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool {
        if let ipv4 { return ipv4.starts(with: [169, 254]) }
        return bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    /// 0.0.0.0/8 and ::, which mean this computer on Linux.
    public var isUnspecified: Bool {
        ipv4?[0] == 0 || bytes == [UInt8](repeating: 0, count: 16)
    }

    /// How far the address is from this computer.
    public var reach: Reach {
        if isLoopback || isUnspecified { return .machine }
        if isLinkLocal { return .link }
        return bytes.isEmpty ? .machine : .beyond
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

    /// The bytes of an IPv4 address, also of one in the form ::ffff:a.b.c.d (RFC 4291 section
    /// 2.5.5.2); nil for another address.
    private var ipv4: [UInt8]? {
        if bytes.count == 4 { return bytes }
        let isMapped = bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        return isMapped ? Array(bytes[12...]) : nil
    }
}

extension SocketAddress {
    /// Reads the text form without a port and brackets; an IPv6 address may have its zone;
    /// `inet_pton`.
    public init?(_ text: String) {
        var ipv4 = in_addr()
        var ipv6 = in6_addr()
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            self.init(of: ipv4)
        } else if inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &ipv6) == 1 {
            self.init(of: ipv6)
        } else {
            return nil
        }
    }

    private init<Address>(of address: Address) {
        bytes = withUnsafeBytes(of: address) { Array($0) }
    }

    /// Reads a `sockaddr` of at most `length` bytes; returns nil where it is not an internet
    /// address.
    init?(family: Int32, _ raw: UnsafeRawPointer, length: Int) {
        switch family {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            self.init(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr)
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            self.init(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
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

    /// Reads the address that libcurl is about to connect to.
    ///
    /// The structure's last member is longer than its C type, so it is read by its offset.
    init(_ address: UnsafePointer<curl_sockaddr>) {
        let (family, length) = (address.pointee.family, Int(address.pointee.addrlen))
        let raw = MemoryLayout<curl_sockaddr>.offset(of: \.addr).map {
            UnsafeRawPointer(address) + $0
        }
        self = raw.flatMap { SocketAddress(family: family, $0, length: length) } ?? .other
    }
}
