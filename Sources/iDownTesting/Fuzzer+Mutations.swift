// SPDX-License-Identifier: Apache-2.0

extension Fuzzer {
    /// Returns a seed of the corpus, changed in one to eight places.
    func mutation(using dice: inout SeededGenerator) -> [UInt8] {
        var bytes = seeds.randomElement(using: &dice) ?? []
        for _ in 0...Int.random(in: 0..<8, using: &dice) { change(&bytes, using: &dice) }
        return Array(bytes.prefix(Self.longest))
    }

    private func change(_ bytes: inout [UInt8], using dice: inout SeededGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &dice)
        let end = min(bytes.count, place + Int.random(in: 0...16, using: &dice))
        switch Int.random(in: 0..<8, using: &dice) {
        case 0:
            if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice) }
        case 1: bytes.insert(.random(in: .min ... .max, using: &dice), at: place)
        case 2: bytes.removeSubrange(place..<end)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 4:
            // Inserts a piece of another seed.
            let other = seeds.randomElement(using: &dice) ?? []
            let start = Int.random(in: 0...other.count, using: &dice)
            bytes.insert(contentsOf: other[start...].prefix(40), at: place)
        case 5:
            let numbers = ["0", "-1", "18446744073709551616", "9223372036854775807", "99999999999"]
            bytes.insert(contentsOf: (numbers.randomElement(using: &dice) ?? "").utf8, at: place)
        case 6:
            let signs = Array("\"\\;,=:*%<>&/?#@'()[]{}\r\n\t \u{0}".utf8)
            bytes.insert(signs.randomElement(using: &dice) ?? 0, at: place)
        default:
            bytes.insert(contentsOf: [0xFF, 0xC3, 0xE2, 0x80, 0xAE].prefix(end - place), at: place)
        }
    }
}
