// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// A rate as it is typed: bytes a second, or `500k`, `2M`, `1.5M`, in powers of 1024 as all rates
/// are shown.
struct RateArgument: ExpressibleByArgument {
    let bytesPerSecond: UInt64

    init?(argument: String) {
        let units: [(letters: String, size: Double)] = [
            ("k", 0x1p10), ("m", 0x1p20), ("g", 0x1p30), ("t", 0x1p40),
        ]
        let text = argument.lowercased()
        let unit = units.first { text.hasSuffix($0.letters) }
        let number = unit == nil ? text[...] : text.dropLast()
        // Only digits and one point: Double would read much else, such as "inf" and "0x1p3".
        guard let first = number.utf8.first, (0x30...0x39).contains(first),
            number.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }),
            let value = Double(number)
        else { return nil }
        let bytes = (value * (unit?.size ?? 1)).rounded()
        guard bytes < 0x1p63, let exact = UInt64(exactly: bytes) else { return nil }
        bytesPerSecond = exact
    }
}
