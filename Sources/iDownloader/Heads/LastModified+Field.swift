// SPDX-License-Identifier: Apache-2.0

import iDownState

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
}
