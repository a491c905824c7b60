// SPDX-License-Identifier: Apache-2.0

// Both modules declare sockaddr, and it belongs to the one that the compiler reads first.
import CCurl
import Glibc

extension SocketAddress {
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
}
