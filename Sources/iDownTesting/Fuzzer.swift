// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Feeds a parser hostile bytes: the seeds of a small corpus, changed at random.
///
/// A short run is part of the tests. `make fuzz TARGET=link SECONDS=3600` is a long run, in a build
/// that tells libFuzzer which branches an input takes, so that it goes on with inputs that reach
/// new ones. The last input is kept in a file, so that one that ends the process can be repeated.
package struct Fuzzer: Sendable {
    /// A mistake of a reader that does not end the process.
    package struct Finding: Error, CustomStringConvertible {
        package let description: String

        /// - Parameters:
        ///   - text: The mistake.
        ///   - input: The bytes that the reader got.
        package init(_ text: String, _ input: [UInt8]) {
            description = "\(text): \(input)"
        }
    }

    /// The name of the corpus, a folder in `Tests/Fuzz`.
    package let target: String
    /// The most bytes of an input.
    static let longest = 64 << 10
    let seeds: [[UInt8]]
    /// The top folder of the repository.
    private let top: String

    /// - Parameters:
    ///   - target: The name of the corpus; in its folder each file is a seed, and each line of the
    ///     file `lines`.
    ///   - test: The path of the test's source file, from which the folder of the corpora is found.
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

    /// Whether the corpus has any seeds.
    package var hasCorpus: Bool { !seeds.isEmpty }

    /// Tries one input after another: for `FUZZ_SECONDS` of processor time, or by default about a
    /// second.
    ///
    /// - Parameter body: Reads an input. It may refuse the input, but must not trap or take half a
    ///   minute; it throws a ``Finding`` to report a mistake.
    /// - Throws: The error that the body throws.
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
        // This build does not report which branches are taken, so the changes are random.
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
