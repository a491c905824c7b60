// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import Executors

@Suite(.timeLimit(.minutes(1))) struct TimeLimitTests {
    @Test func `what is done in time is answered`() async {
        #expect(await withTimeLimit(.seconds(3600)) { 7 } == 7)
    }

    @Test func `what is not done in time goes on without its caller`() async {
        let (gate, done) = (FaultServer.Gate(), FaultServer.Gate())
        let answer = await withTimeLimit(.milliseconds(1)) {
            await gate.waitUntilOpen()
            done.open()
            return 7
        }
        #expect(answer == nil)
        gate.open()
        await done.waitUntilOpen()
    }
}
