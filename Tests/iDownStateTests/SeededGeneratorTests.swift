// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@Suite struct SeededGeneratorTests {
    @Test func `a seed gives the numbers that SplitMix64 gives everywhere`() {
        var generator = SeededGenerator(seed: 1_234_567)
        let numbers = (0..<5).map { _ in generator.next() }
        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ]
        )
    }

    @Test func `two seeds give different numbers`() {
        var (one, other) = (SeededGenerator(seed: 1), SeededGenerator(seed: 2))
        #expect(one.next() != other.next())
    }
}
