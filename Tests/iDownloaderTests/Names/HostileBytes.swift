// SPDX-License-Identifier: Apache-2.0

/// Bytes from outside as a hostile server would send them: the same ones for the same seed.
struct HostileBytes: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Up to `longest` bytes, in which the signs that mean something are far more frequent.
    mutating func bytes(_ signs: String, longest: Int) -> [UInt8] {
        let signs = Array(signs.utf8)
        return (0..<Int.random(in: 0...longest, using: &self)).map { _ in
            Bool.random(using: &self)
                ? signs[Int.random(in: 0..<signs.count, using: &self)]
                : UInt8.random(in: .min ... .max, using: &self)
        }
    }
}
