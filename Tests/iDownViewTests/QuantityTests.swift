// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct QuantityTests {
    @Test(
        arguments: [
            ("0", 0), ("off", 0), ("None", 0), ("1", 1), ("512b", 512), ("500k", 512_000),
            ("2M", 2 << 20), ("1.5GiB/s", 3 << 29), ("10mb", 10_000_000), ("1kB/s", 1000),
            ("0.4", 1), ("0.0", 0), ("1T", 1 << 40), ("0.5k", 512), ("8MiB", 8 << 20),
            ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", UInt64(Int64.max)),
        ] as [(String, UInt64)]
    )
    func `rates are read with their units`(text: String, rate: UInt64) {
        #expect(Quantity.rate(text) == rate)
    }

    @Test(arguments: [
        "", "fast", "-1", "1e3", "inf", "0x10", "1.2.3", "9999999T", "k", "1 k", "1kk", "1iB",
        ".5M", "1/s/s", "1P", "+1", "9223372036854775808", "99999999999999999999",
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
        for wrong in ["", "0", "0d", "d", "1.5d", "-1", "1y", "4294967295w", "off", "none"] {
            #expect(Quantity.days(wrong) == nil, "\(wrong)")
        }
    }

    @Test func `times are read with their units, and written so that they are read back`() {
        for (text, seconds) in [
            ("90", 90), ("90s", 90), ("15m", 900), ("2h", 7200), ("1d", 86_400), ("2W", 1_209_600),
            ("forever", 0), ("4294967295", 4_294_967_295),
        ] as [(String, UInt64)] {
            #expect(Quantity.seconds(text) == seconds, "\(text)")
            #expect(Quantity.seconds(Quantity.text(ofSeconds: seconds)) == seconds, "\(text)")
        }
        #expect(Quantity.text(ofSeconds: 86_400) == "24h")
        #expect(Quantity.text(ofSeconds: 90) == "90s")
        #expect(Quantity.text(ofSeconds: 0) == "forever")
        for wrong in ["", "0", "0s", "h", "1.5h", "-1", "1y", "4294967296", "8000w", "off", "none"]
        {
            #expect(Quantity.seconds(wrong) == nil, "\(wrong)")
        }
    }
}
