// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct ByteRangeTests {
    @Test(
        arguments: [
            (0, 1, 1), (0, Int64.max, Int64.max), (.max - 1, 1, .max), (5, 7, 12),
        ] as [(Int64, Int64, Int64)]
    )
    func `a range ends behind its last byte`(first: Int64, length: Int64, end: Int64) throws {
        let range = try #require(ByteRange(first: first, length: length))
        #expect(range.first == first)
        #expect(range.length == length)
        #expect(range.end == end)
        #expect(ByteRange(from: first, to: end) == range)
    }

    @Test(
        arguments: [
            (-1, 1), (.min, 1), (0, 0), (0, -1), (0, .min), (1, .max), (.max, 1), (.max, .max),
        ] as [(Int64, Int64)]
    )
    func `what is empty, negative or does not fit is no range`(first: Int64, length: Int64) {
        #expect(ByteRange(first: first, length: length) == nil)
    }

    @Test(
        arguments: [
            (0, 0), (5, 5), (5, 4), (-1, 4), (.max, .min), (.min, .max), (0, -1), (.min, -1),
        ] as [(Int64, Int64)]
    )
    func `an end that is not behind the start makes no range`(first: Int64, end: Int64) {
        #expect(ByteRange(from: first, to: end) == nil)
    }
}
