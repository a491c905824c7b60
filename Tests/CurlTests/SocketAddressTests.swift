// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing

struct SocketAddressTests {
    private static func ipv6(_ first: [UInt8], _ last: [UInt8]) -> SocketAddress {
        .ipv6(first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last)
    }

    @Test func `addresses of this machine and its link are told`() {
        #expect(SocketAddress.ipv4(127, 9, 9, 9).isLoopback)
        #expect(Self.ipv6([], [1]).isLoopback)
        #expect(Self.ipv6([], [0xFF, 0xFF, 127, 0, 0, 1]).isLoopback)
        #expect(SocketAddress.ipv4(169, 254, 1, 1).isLinkLocal)
        #expect(Self.ipv6([0xFE, 0x80], [1]).isLinkLocal)
        #expect(Self.ipv6([0xFE, 0xBF], [1]).isLinkLocal)
        #expect(SocketAddress.ipv4(0, 0, 0, 0).isUnspecified)
        #expect(Self.ipv6([], []).isUnspecified)
    }

    @Test(arguments: [
        SocketAddress.ipv4(128, 0, 0, 1), .ipv4(10, 0, 0, 1), .ipv4(169, 253, 0, 1),
        ipv6([0xFE, 0xC0], [1]), ipv6([0x20, 0x01], [1]), .ipv6([]), .other(family: 1),
    ])
    func `other addresses are neither of this machine nor of its link`(address: SocketAddress) {
        #expect(!address.isLoopback && !address.isLinkLocal && !address.isUnspecified)
    }
}
