// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@Suite struct FuzzLimitTests {
    @Test func `an input that is read at every look takes too long`() {
        var looks = FuzzLimit.Looks()
        #expect((1...40).map { _ in looks.look(at: 7) }.firstIndex(of: true) == 30)
    }

    @Test func `inputs that end never take too long, and neither does none`() {
        var looks = FuzzLimit.Looks()
        #expect(!(1...100).contains { looks.look(at: $0 / 30) })
        #expect(!(1...100).contains { _ in looks.look(at: 0) })
    }

    @Test(.timeLimit(.minutes(1))) func `an input that does not end is told of`() async {
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let limit = FuzzLimit(interval: 1, atStall: { tell.finish() })
        limit.begin()
        for await _ in told {}
        limit.end()
    }

    @Test(.timeLimit(.minutes(1))) func `the processor time comes to its end`() async {
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let limit = FuzzLimit(seconds: 0, interval: 1, atEnd: { tell.finish() })
        for await _ in told {}
        withExtendedLifetime(limit) {}
    }
}
