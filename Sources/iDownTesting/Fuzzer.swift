// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Bytes as somebody hostile would send them: what is in a small corpus, changed at random.
///
/// A short round runs with all tests; `make fuzz TARGET=head SECONDS=3600` runs a long one. The
/// input that was tried last stands in a file, so that one that ends the process can be had again.
package struct Fuzzer: Sendable {
    /// The name of the corpus, a folder in `Tests/Fuzz`.
    package let target: String
    /// No input is longer.
    private static let longest = 64 << 10
    private let seeds: [[UInt8]]

    /// - Parameters:
    ///   - target: the name of the corpus.
    ///   - test: the test's own file, which tells where the corpora are.
    package init(_ target: String, test: String = #filePath) {
        self.target = target
        // …/Tests/<target>/FuzzTests.swift
        let tests = test.split(separator: "/").dropLast(2).joined(separator: "/")
        let folder = "/\(tests)/Fuzz/\(target)"
        seeds = TestFile.names(in: folder).compactMap { try? TestFile.bytes(of: "\(folder)/\($0)") }
    }

    /// Whether there is a corpus to begin with.
    package var hasCorpus: Bool { !seeds.isEmpty }

    /// Tries one input after the other, as many as the time allows: `FUZZ_SECONDS`, else so many
    /// that a second will do.
    ///
    /// - Parameter body: what reads them; it may refuse each, and must trap over none.
    package func run(_ body: ([UInt8]) throws -> Void) rethrows {
        let environment = { (name: String) in getenv(name).flatMap { UInt64(String(cString: $0)) } }
        if let chosen = getenv("FUZZ_TARGET"), String(cString: chosen) != target { return }
        let seconds = environment("FUZZ_SECONDS")
        let deadline = ContinuousClock.now + .seconds(Int64(seconds ?? 0))
        var dice = SeededGenerator(seed: environment("SEED") ?? 1)
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let last = "\(folder)/idown-fuzz-\(target)-\(getpid())"
        let file = open(last, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        defer {
            close(file)
            unlink(last)
        }
        for seed in seeds { try body(seed) }
        var count = 0
        while seconds == nil ? count < 2_000 : ContinuousClock.now < deadline {
            count += 1
            let input = mutation(using: &dice)
            if file >= 0 {
                ftruncate(file, 0)
                pwrite(file, input, input.count, 0)
            }
            try body(input)
        }
    }

    /// One of the corpus, changed in one to eight places.
    private func mutation(using dice: inout SeededGenerator) -> [UInt8] {
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
            // A piece of another seed.
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
