// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import iDownState

extension LastModified {
    /// Longer than any form of a date.
    private static let longest = 64

    /// Reads the field and judges whether it may stand for the bytes (RFC 9110 section 8.8.2.2).
    ///
    /// A text that is no date is kept as a weak one: that it changes still says something.
    ///
    /// - Parameters:
    ///   - field: the raw value.
    ///   - responseDate: the Date of the same response, so of the same clock.
    init?(field: [UInt8], responseDate: WallTime?) {
        guard (1...Self.longest).contains(field.count),
            field.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        var isStrong = false
        if let modified = HTTPDate.parse(field), let responseDate {
            isStrong = responseDate.since(modified) >= .seconds(1)
        }
        self.init(field: FieldText.repair(field), isStrong: isStrong)
    }

    /// The time that the field means, in the form of HTTP or in that of ``ResponseFacts`` for servers of
    /// files; nil for what is no time.
    package var time: WallTime? {
        if let time = HTTPDate.parse(Array(field.utf8)) { return time }
        guard let date = try? Date(field, strategy: .iso8601) else { return nil }
        let seconds = date.timeIntervalSince1970
        // Beyond that no microseconds are counted.
        guard abs(seconds) < 9e12 else { return nil }
        return WallTime(microseconds: Int64(seconds) * 1_000_000)
    }
}
