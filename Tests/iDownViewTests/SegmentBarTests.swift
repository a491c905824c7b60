// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct SegmentBarTests {
    private func bar(_ ranges: [(UInt64, UInt64)], _ total: UInt64, _ width: Int) -> String {
        SegmentBar(ranges.map { (first: $0.0, length: $0.1) }, total: total, width: width).text
    }

    @Test func `a part on disk, a part partly on disk and a missing part look different`() {
        #expect(bar([], 100, 10) == "··········")
        #expect(bar([(0, 100)], 100, 10) == "██████████")
        #expect(bar([(0, 30)], 100, 10) == "███·······")
        #expect(bar([(0, 31)], 100, 10) == "███▒······")
        #expect(bar([(0, 30), (55, 25)], 100, 10) == "███··▒██··")
        #expect(bar([(99, 1)], 100, 10) == "·········▒")
        // Two ranges fill one cell between them.
        #expect(bar([(0, 5), (5, 5)], 100, 10) == "█·········")
    }

    @Test func `every byte counts, however the file divides into cells`() {
        for total: UInt64 in 1...40 {
            for width in 1...12 {
                for byte in 0..<total {
                    let one = bar([(byte, 1)], total, width)
                    #expect(one.count == min(Int(total), width))
                    #expect(one.count { $0 != "·" } == 1, "\(byte) of \(total) in \(width)")
                    let others = bar([(0, byte), (byte + 1, total - byte - 1)], total, width)
                    #expect(others.count { $0 != "█" } == 1, "\(byte) of \(total) in \(width)")
                }
            }
        }
    }

    @Test func `no size is too large, and nothing that a service says is believed blindly`() {
        #expect(bar([(0, 1 << 62)], 1 << 63, 4) == "██··")
        #expect(bar([(.max - 1, 1)], .max, 3) == "··▒")
        #expect(bar([(50, .max), (50, .max), (200, 1), (0, 0)], 100, 4) == "··██")
        #expect(bar([(0, 1)], 0, 4) == "")
        #expect(bar([(0, 1)], 1, 0) == "")
        #expect(bar([(0, 1)], 1, -1) == "")
    }
}
