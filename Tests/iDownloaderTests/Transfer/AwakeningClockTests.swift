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
}
