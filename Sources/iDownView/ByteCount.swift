// SPDX-License-Identifier: Apache-2.0

/// A number of bytes for people: `512 B`, `12.3 MiB`.
///
/// Binary prefixes (IEC 80000-13) with one decimal, rounded half up; what would round to 1024.0 is
/// 1.0 of the next unit.
package struct ByteCount: Hashable, Sendable, CustomStringConvertible {
    /// What stands before the decimals; a person's own, where a person reads.
    @TaskLocal package static var decimalSign = "."

    package let bytes: UInt64

    package init(_ bytes: UInt64) {
        self.bytes = bytes
    }

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

    /// In whole numbers, since a Double knows only 53 bits: the shift is 60 at most, so ten times
    /// the rest fits into 64 bits.
    private func tenths(ofUnitAt place: Int) -> UInt64 {
        let shift = UInt64(10 * (place + 1))
        let rest = bytes & ((1 << shift) - 1)
        return (bytes >> shift) * 10 + ((rest * 10 + (1 << (shift - 1))) >> shift)
    }
}
