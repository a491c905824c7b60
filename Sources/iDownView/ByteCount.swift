// SPDX-License-Identifier: Apache-2.0

/// A number of bytes for people to read: `512 B`, `12.3 MiB`.
///
/// It has a binary prefix (IEC 80000-13) and one decimal, rounded half up. A count that would round
/// to 1024.0 is shown as 1.0 of the next larger unit.
package struct ByteCount: Hashable, Sendable, CustomStringConvertible {
    /// The sign before the decimals; the command sets the one of the user's locale.
    @TaskLocal package static var decimalSign = "."

    package let bytes: UInt64

    package init(_ bytes: UInt64) { self.bytes = bytes }

    package var description: String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        for (place, unit) in Self.units.enumerated() {
            let tenths = tenths(ofUnitAt: place)
            guard tenths >= 10 * 1024, place < Self.units.count - 1 else {
                return "\(tenths / 10)\(Self.decimalSign)\(tenths % 10) \(unit)"
            }
        }
        return "\(bytes) B"
    }

    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// Returns the count in tenths of a unit, rounded half up.
    ///
    /// It calculates with integers because a Double holds only 53 bits. The shift is at most 60, so
    /// ten times the remainder fits into 64 bits.
    private func tenths(ofUnitAt place: Int) -> UInt64 {
        let shift = UInt64(10 * (place + 1))
        let remainder = bytes & ((1 << shift) - 1)
        return (bytes >> shift) * 10 + ((remainder * 10 + (1 << (shift - 1))) >> shift)
    }
}

/// A number of bytes per second for people to read: `1.5 MiB/s`.
package struct ByteRate: Hashable, Sendable, CustomStringConvertible {
    package let bytesPerSecond: UInt64

    package init(_ bytesPerSecond: UInt64) { self.bytesPerSecond = bytesPerSecond }

    package var description: String { "\(ByteCount(bytesPerSecond))/s" }
}
