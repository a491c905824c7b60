// SPDX-License-Identifier: Apache-2.0

/// Reads typed rates, sizes and numbers of days: `10M`, `1.5GiB/s`, `off`, `30d`.
///
/// The words and the sign before decimals may also be those of the user's language.
///
/// `K`, `M`, `G` and `T`, with or without `iB`, are powers of 1024, like all sizes that idown
/// shows. `kB`, `MB` and so on are powers of 1000 (IEC 80000-13).
package enum Quantity {
    /// Reads a rate in bytes per second; 0 for `off`, `none` and `unlimited`, which mean no limit.
    ///
    /// - Returns: The rate; nil if the text is not a rate or the rate needs more than 63 bits.
    package static func rate(_ text: String) -> UInt64? {
        let text = text.lowercased()
        if ["off", "none", "unlimited", translated("off").lowercased()].contains(text) { return 0 }
        return bytes(text.hasSuffix("/s") ? String(text.dropLast(2)) : text)
    }

    /// Reads a number of bytes; nil if the text is not one.
    package static func bytes(_ text: String) -> UInt64? {
        let text = text.lowercased()
        let letters = text.reversed().prefix { $0.isLetter }
        let unit = String(letters.reversed())
        guard let size = size(of: unit) else { return nil }
        let number = text.dropLast(letters.count).replacing(ByteCount.decimalSign, with: ".")
        // Only digits and a point are allowed, because Double also reads "inf" and "0x1p3".
        guard let first = number.utf8.first, (0x30...0x39).contains(first),
            number.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        // Above 2^53 a Double would be another number.
        if let whole = UInt64(number) {
            let (bytes, overflow) = whole.multipliedReportingOverflow(by: UInt64(size))
            return overflow || bytes > Int64.max ? nil : bytes
        }
        guard let value = Double(number) else { return nil }
        // Less than a byte must not become 0, which may mean that there is no limit.
        let bytes = value > 0 ? max(1, (value * size).rounded()) : 0
        guard bytes < 0x1p63 else { return nil }
        return UInt64(exactly: bytes)
    }

    /// Reads a number of days; 0 for `forever`.
    ///
    /// `off` and `0` are not accepted, because they could also mean that nothing is kept.
    package static func days(_ text: String) -> UInt32? {
        let text = text.lowercased()
        if isForever(text) { return 0 }
        let (letters, factor): (String, UInt32) =
            ["days", "day", "d"].first(where: text.hasSuffix).map { ($0, 1) }
            ?? ["weeks", "week", "w"].first(where: text.hasSuffix).map { ($0, 7) } ?? ("", 1)
        var number = text.dropLast(letters.count)
        if number.last == " " { number = number.dropLast() }
        guard number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = UInt32(number),
            count > 0
        else { return nil }
        let (days, overflow) = count.multipliedReportingOverflow(by: factor)
        return overflow ? nil : days
    }

    /// Reads a time in seconds: `90`, `90s`, `15m`, `2h`, `1d`, `2w`; 0 for `forever`.
    ///
    /// `0` is not accepted, because it could also mean no time at all.
    ///
    /// - Returns: The seconds; nil if the text is not a time, or for more than 136 years.
    package static func seconds(_ text: String) -> UInt64? {
        let text = text.lowercased()
        if isForever(text) { return 0 }
        let unit = units.first { text.hasSuffix($0.letter) }
        let number = text.dropLast(unit == nil ? 0 : 1)
        guard number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = UInt32(number),
            count > 0
        else { return nil }
        let seconds = UInt64(count) * (unit?.seconds ?? 1)
        return seconds <= UInt64(UInt32.max) ? seconds : nil
    }

    /// Returns a time as text that ``seconds(_:)`` reads back: `24h`, `90s`, `forever`.
    package static func text(ofSeconds seconds: UInt64) -> String {
        guard seconds > 0 else { return translated("forever") }
        let unit = units.first {
            ["h", "m"].contains($0.letter) && seconds.isMultiple(of: $0.seconds)
        }
        return "\(seconds / (unit?.seconds ?? 1))\(unit?.letter ?? "s")"
    }

    private static func isForever(_ text: String) -> Bool {
        ["forever", translated("forever").lowercased()].contains(text)
    }

    private static let units: [(letter: String, seconds: UInt64)] = [
        ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    /// Returns a rate as text that ``rate(_:)`` reads back: `10M`, `1500`, `off`.
    package static func text(ofRate rate: UInt64) -> String {
        rate > 0 ? self.text(ofBytes: rate) : translated("off")
    }

    /// Returns a number of bytes as text that ``bytes(_:)`` reads back: `10M`, `1500`, `0`.
    package static func text(ofBytes bytes: UInt64) -> String {
        guard bytes > 0 else { return "0" }
        for (unit, shift) in [("T", 40), ("G", 30), ("M", 20), ("k", 10)] as [(String, UInt64)] {
            let size: UInt64 = 1 << shift
            if bytes.isMultiple(of: size) { return "\(bytes / size)\(unit)" }
        }
        return "\(bytes)"
    }

    private static func size(of unit: String) -> Double? {
        guard !unit.isEmpty, unit != "b" else { return 1 }
        guard let first = unit.first, let place = Array("kmgt").firstIndex(of: first) else {
            return nil
        }
        let power = Double(place + 1)
        func raised(_ base: Double) -> Double {
            (1...Int(power)).reduce(1) { size, _ in size * base }
        }
        switch unit.dropFirst() {
        case "", "ib": return raised(1024)
        case "b": return raised(1000)
        default: return nil
        }
    }
}
