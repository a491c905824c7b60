// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

// libFuzzer (LLVM, "libFuzzer – a library for coverage-guided fuzz testing", "Using libFuzzer as a
// library"). Only the build of `make fuzz` contains it.
extension Fuzzer {
    private typealias Input = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    private typealias Words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private typealias Driver =
        @convention(c) (UnsafeMutablePointer<CInt>, UnsafeMutablePointer<Words?>, Input) -> CInt

    /// The function that reads the inputs, and its state.
    ///
    /// It is an object because a generic `Mutex` wraps a plain function once more on every access,
    /// until a call of the function overflows the stack.
    private final class Reader: Sendable {
        let read: @Sendable ([UInt8]) throws -> Void
        let limit: FuzzLimit
        /// Whether the signal handlers that libFuzzer installs before the first input were changed
        /// to use a second stack.
        let isPrepared = Atomic(false)

        init(limit: FuzzLimit, _ read: @escaping @Sendable ([UInt8]) throws -> Void) {
            self.read = read
            self.limit = limit
        }
    }

    /// The reader of this process, static because a C function cannot capture it.
    private static let reader = Mutex<Reader?>(nil)

    /// Lets libFuzzer choose the inputs; returns immediately in a build without libFuzzer.
    ///
    /// It ends the process when the time is used up, with 0 unless it has found something. Inputs
    /// that reach new branches are kept in `.build/fuzz/corpora`; inputs that ended the process,
    /// threw or took too long, in `.build/fuzz/findings`.
    func guide(
        limit: FuzzLimit,
        top: String,
        _ body: @escaping @Sendable ([UInt8]) throws -> Void
    ) throws {
        guard let symbol = dlsym(nil, "LLVMFuzzerRunDriver") else { return }
        // The signature in FuzzerInterface.h, which no module offers.
        let drive = unsafeBitCast(symbol, to: Driver.self)
        let (corpus, findings) = try folders(below: top + "/.build/fuzz")
        Self.reader.withLock { $0 = Reader(limit: limit, body) }
        // ``FuzzLimit`` limits the time of an input. libFuzzer's own limit works only on the first
        // thread, and by the clock, which a busy machine would make a false finding.
        let words = [
            "idown", "-max_len=\(Self.longest)", "-timeout=0", "-report_slow_units=\(CInt.max)",
            "-rss_limit_mb=2048", "-print_final_stats=1", "-artifact_prefix=\(findings)/\(target)-",
            corpus,
        ]
        // Never freed: the driver uses them until the process ends.
        var arguments = words.map { (word: String) in strdup(word) } + [nil]
        var count = CInt(words.count)
        arguments.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            _ = drive(&count, &start) { bytes, count in
                guard let reader = Fuzzer.reader.withLock({ $0 }) else { return 0 }
                let input = Array(UnsafeBufferPointer(start: bytes, count: count))
                if !reader.isPrepared.exchange(true, ordering: .relaxed) {
                    Fuzzer.prepareForOverflow()
                }
                reader.limit.begin()
                do {
                    try reader.read(input)
                } catch {
                    // A finding: the process ends, and libFuzzer writes the input to a file.
                    fatalError("\(error)")
                }
                reader.limit.end()
                return 0
            }
        }
    }

    /// Gives this thread a second stack for signals, so that libFuzzer can write an input to a file
    /// even if that overflowed the first stack: sigaltstack(2).
    ///
    /// The stack is never freed.
    private static func prepareForOverflow() {
        let size = 256 << 10
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        var stack = stack_t(ss_sp: memory, ss_flags: 0, ss_size: size)
        sigaltstack(&stack, nil)
        var action = sigaction()
        sigaction(SIGSEGV, nil, &action)
        action.sa_flags |= SA_ONSTACK
        sigaction(SIGSEGV, &action, nil)
    }

    /// Makes both folders, and writes the seeds into the corpus.
    private func folders(below place: String) throws -> (corpus: String, findings: String) {
        let corpora = place + "/corpora"
        let (corpus, findings) = ("\(corpora)/\(target)", place + "/findings")
        for folder in [place, corpora, corpus, findings] { mkdir(folder, 0o700) }
        for (number, seed) in seeds.enumerated() {
            try TestFile.write(seed, to: "\(corpus)/seed-\(number)")
        }
        return (corpus, findings)
    }
}
