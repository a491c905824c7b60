// SPDX-License-Identifier: Apache-2.0

// sockaddr belongs to whichever of the two the compiler reads first.
import CCurl
import Glibc

extension SocketAddress {
    /// The addresses that this computer has at the moment; nil where the system does not tell;
    /// `getifaddrs`.
    public static var local: Set<SocketAddress>? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var found: Set<SocketAddress> = []
        var next = first
        while let entry = next?.pointee {
            if let address = entry.ifa_addr.flatMap({ SocketAddress($0) }) {
                found.insert(address)
            }
            next = entry.ifa_next
        }
        return found
    }

    /// The address of an interface; nil for what is none of the internet's.
    private init?(_ address: UnsafeMutablePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) {
                Array($0)
            }
            self = .ipv4(bytes[0], bytes[1], bytes[2], bytes[3])
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            self = .ipv6(withUnsafeBytes(of: address.sin6_addr) { Array($0) })
        default:
            return nil
        }
    }
}
