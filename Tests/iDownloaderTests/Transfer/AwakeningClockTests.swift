// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing

@testable import iDownloader

@Suite struct AwakeningClockTests {
    @Test(
        arguments: [
            (0, .never), (10, .never), (11, .usedWithin(seconds: 10)),
            (117, .usedWithin(seconds: 116)), (118, .asUsual), (86_400, .asUsual),
        ] as [(Int64, TransferRequest.ConnectionReuse)]
    )
    func `after a sleep only connections of after it are used again`(
        seconds: Int64,
        reuse: TransferRequest.ConnectionReuse
    ) {
        let clock = AwakeningClock()
        let awakening = ContinuousClock.now
        #expect(clock.reuse(at: awakening) == .asUsual)
        clock.strike(at: awakening)
        #expect(clock.reuse(at: awakening + .seconds(seconds)) == reuse)
    }

    @Test func `another network is told by its addresses, and a container's link is none`() throws {
        let local = try #require(SocketAddress("192.168.1.5"))
        let link = try #require(SocketAddress("fe80::1"))
        let other = try #require(SocketAddress("10.8.0.2"))
        #expect(!Engine.isOtherNetwork([local], [local]))
        #expect(!Engine.isOtherNetwork([local], [local, link]))
        #expect(!Engine.isOtherNetwork([local, link], [local]))
        #expect(Engine.isOtherNetwork([local], [local, other]))
        #expect(Engine.isOtherNetwork([local], []))
    }
}
