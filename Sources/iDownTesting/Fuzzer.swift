// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Bytes as somebody hostile would send them: what is in a small corpus, changed at random.
///
/// A short round runs with all tests. `make fuzz TARGET=link SECONDS=3600` runs a long one, in a
/// build that tells libFuzzer which branches an input takes, so that what finds new ones is changed
/// on. The input that was tried last stands in a file, so that one that ends the process can be had
/// again.
package struct Fuzzer: Sendable {
    /// What a reader did that it never may, apart from ending the process.
    package struct Finding: Error, CustomStringConvertible {
        package let description: String

        /// - Parameters:
        ///   - text: what is wrong.
        ///   - input: what it took.
        package init(_ text: String, _ input: [UInt8]) {
            description = "\(text): \(input)"
        }
    }

    /// The name of the corpus, a folder in `Tests/Fuzz`.
    package let target: String
    /// No input is longer.
    static let longest = 64 << 10
    let seeds: [[UInt8]]
    /// Of the repository.
    private let top: String

    /// - Parameters:
    ///   - target: the name of the corpus; in its folder each file is a seed, and each line of the
    ///     file `lines`.
    ///   - test: the test's own file, which tells where the corpora are.
    package init(_ target: String, test: String = #filePath) {
        self.target = target
        // …/Tests/<target>/FuzzTests.swift
        top = "/" + test.split(separator: "/").dropLast(3).joined(separator: "/")
        let folder = "\(top)/Tests/Fuzz/\(target)"
        seeds = TestFile.names(in: folder).flatMap { name in
            guard let bytes = try? TestFile.bytes(of: "\(folder)/\(name)") else {
                return [[UInt8]]()
            }
            return name == "lines" ? bytes.split(separator: 0x0A).map { Array($0) } : [bytes]
        }
    }

    /// Whether there is a corpus to begin with.
    package var hasCorpus: Bool { !seeds.isEmpty }

    /// Tries one input after the other: for `FUZZ_SECONDS` of processor time, else so many that a
    /// second will do.
    ///
    /// - Parameter body: what reads them; it may refuse each, must trap over none, must not take
    ///   half a minute, and throws a ``Finding`` over what must not be.
    /// - Throws: what the body throws.
    package func run(_ body: @escaping @Sendable ([UInt8]) throws -> Void) throws {
        let environment = { (name: String) in getenv(name).flatMap { UInt64(String(cString: $0)) } }
        if let chosen = getenv("FUZZ_TARGET"), String(cString: chosen) != target { return }
        for seed in seeds { try body(seed) }
        guard let seconds = environment("FUZZ_SECONDS") else {
            let limit = FuzzLimit()
            try mutate(SeededGenerator(seed: environment("SEED") ?? 1), limit, body) { $0 < 2_000 }
            return
        }
        let end = FuzzLimit.processorSeconds() + seconds
        try guide(limit: FuzzLimit(seconds: end), top: top, body)
        // This build does not tell which branches are taken: what is left is chance.
        let limit = FuzzLimit()
        try mutate(SeededGenerator(seed: environment("SEED") ?? 1), limit, body) { _ in
            FuzzLimit.processorSeconds() < end
        }
    }

    private func mutate(
        _ dice: SeededGenerator,
        _ limit: FuzzLimit,
        _ body: ([UInt8]) throws -> Void,
        while goesOn: (_ count: Int) -> Bool
    ) throws {
        var dice = dice
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let last = "\(folder)/idown-fuzz-\(target)-\(getpid())"
        let file = open(last, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        defer {
            close(file)
            unlink(last)
        }
        var count = 0
        while goesOn(count) {
            count += 1
            let input = mutation(using: &dice)
            if file >= 0 {
                ftruncate(file, 0)
                pwrite(file, input, input.count, 0)
            }
            limit.begin()
            try body(input)
            limit.end()
        }
    }
}
