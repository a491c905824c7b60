// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

@Suite struct ByteCountTests {
    @Test(
        arguments: [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (12_897_484, "12.3 MiB"),
            (1 << 30, "1.0 GiB"),
            (UInt64.max, "16.0 EiB"),
        ] as [(UInt64, String)]
    )
    func `a number of bytes has one decimal and a binary prefix`(bytes: UInt64, text: String) {
        #expect(ByteCount(bytes).description == text)
    }

    @Test(
        arguments: [
            (1_048_524, "1023.9 KiB"),
            (1_048_525, "1.0 MiB"),
            (1_048_575, "1.0 MiB"),
            (1_073_741_823, "1.0 GiB"),
            ((1 << 60) - 1, "1.0 EiB"),
        ] as [(UInt64, String)]
    )
    func `a count that would round to 1024 is 1 of the next unit`(bytes: UInt64, text: String) {
        #expect(ByteCount(bytes).description == text)
    }

    @Test func `no power of two and no number next to one is shown as 1024`() {
        for shift in 0..<64 {
            let power: UInt64 = 1 << shift
            for bytes in [power &- 1, power, power + 1] {
                let text = ByteCount(bytes).description
                #expect(!text.hasPrefix("1024"), "\(bytes)")
                #expect(text.utf8.count <= 10, "\(bytes)")
            }
        }
    }

    @Test func `a rate is shown in bytes per second`() {
        #expect(ByteRate(1_572_864).description == "1.5 MiB/s")
        #expect(ByteRate(0).description == "0 B/s")
    }
}
