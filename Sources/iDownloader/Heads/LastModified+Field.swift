// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import iDownState

extension LastModified {
    /// The most bytes of the field: longer than any form of a date.
    private static let longest = 64

    /// Reads the field and decides whether it is a strong validator (RFC 9110 section 8.8.2.2).
    ///
    /// A text that is no date is kept as a weak validator, because a change of it still means a new
    /// version.
    ///
    /// - Parameters:
    ///   - field: the raw value.
    ///   - responseDate: the Date of the same response, which comes from the same clock.
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

    /// The time that the field gives, in HTTP's form or in the form that ``ResponseFacts`` uses for
    /// FTP and SFTP; nil if it is no time.
    package var time: WallTime? {
        if let time = HTTPDate.parse(Array(field.utf8)) { return time }
        guard let date = try? Date(field, strategy: .iso8601) else { return nil }
        let seconds = date.timeIntervalSince1970
        // The time in microseconds would overflow beyond this.
        guard abs(seconds) < 9e12 else { return nil }
        return WallTime(microseconds: Int64(seconds) * 1_000_000)
    }
}
