// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct QuantityTests {
    @Test(
        arguments: [
            ("0", 0), ("off", 0), ("None", 0), ("1", 1), ("512b", 512), ("500k", 512_000),
            ("2M", 2 << 20), ("1.5GiB/s", 3 << 29), ("10mb", 10_000_000), ("1kB/s", 1000),
            ("1T", 1 << 40), ("0.5k", 512), ("8MiB", 8 << 20),
        ] as [(String, UInt64)]
    )
    func `rates are read with their units`(text: String, rate: UInt64) {
        #expect(Quantity.rate(text) == rate)
    }

    @Test(arguments: [
        "", "fast", "-1", "1e3", "inf", "0x10", "1.2.3", "9999999T", "k", "1 k", "1kk", "1iB",
        ".5M", "1/s/s", "1P",
    ])
    func `what is no rate is refused`(text: String) {
        #expect(Quantity.rate(text) == nil)
    }

    @Test(arguments: [0, 1, 1000, 1024, 1536, 3 << 29, 1 << 40, 12_345_678] as [UInt64])
    func `a written rate is read as the same`(rate: UInt64) {
        #expect(Quantity.rate(Quantity.text(ofRate: rate)) == rate)
    }

    @Test func `days are read with their units`() {
        #expect(Quantity.days("30") == 30)
        #expect(Quantity.days("30d") == 30)
        #expect(Quantity.days("30 days") == 30)
        #expect(Quantity.days("4w") == 28)
        #expect(Quantity.days("forever") == 0)
        for wrong in ["", "d", "1.5d", "-1", "1y", "4294967295w", "off", "none"] {
            #expect(Quantity.days(wrong) == nil, "\(wrong)")
        }
    }
}
