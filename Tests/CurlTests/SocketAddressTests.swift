// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing

struct SocketAddressTests {
    @Test func `addresses of this machine and its link are told`() {
        for text in ["127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            #expect(SocketAddress(text)?.isLoopback == true, "\(text)")
        }
        for text in ["169.254.1.1", "fe80::1", "febf::1", "::ffff:169.254.1.1"] {
            #expect(SocketAddress(text)?.isLinkLocal == true, "\(text)")
        }
        for text in ["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"] {
            #expect(SocketAddress(text)?.isUnspecified == true, "\(text)")
        }
    }

    @Test(arguments: ["128.0.0.1", "10.0.0.1", "169.253.0.1", "fec0::1", "2001::1", "a9fe::1"])
    func `other addresses are neither of this machine nor of its link`(text: String) throws {
        let address = try #require(SocketAddress(text))
        #expect(!address.isLoopback && !address.isLinkLocal && !address.isUnspecified)
        #expect(address.reach == .beyond)
    }
}
