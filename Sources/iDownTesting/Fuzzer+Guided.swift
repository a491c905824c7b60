// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

// libFuzzer (LLVM, "libFuzzer – a library for coverage-guided fuzz testing", "Using libFuzzer as a
// library"). It is there in the build of `make fuzz` alone.
extension Fuzzer {
    private typealias Input = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    private typealias Words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private typealias Driver =
        @convention(c) (UnsafeMutablePointer<CInt>, UnsafeMutablePointer<Words?>, Input) -> CInt

    /// What an input goes to.
    ///
    /// An object, and not the function itself: a function that a generic `Mutex` hands out and takes
    /// back is wrapped once more each time, until calling it overflows the stack.
    private final class Reader: Sendable {
        let read: @Sendable ([UInt8]) throws -> Void
        let limit: FuzzLimit
        /// Whether libFuzzer's handlers are as they are wanted, which it installs before it reads.
        let isPrepared = Atomic(false)

        init(limit: FuzzLimit, _ read: @escaping @Sendable ([UInt8]) throws -> Void) {
            self.read = read
            self.limit = limit
        }
    }

    /// The one of this process: a C function has no room for it.
    private static let reader = Mutex<Reader?>(nil)

    /// Has libFuzzer choose the inputs, and returns at once where this build has none.
    ///
    /// It ends the process when the time is over, with 0 unless it has found something. What it has
    /// learned is kept in `.build/fuzz/corpora`; what ended the process, threw or took too long, in
    /// `.build/fuzz/findings`.
    func guide(
        limit: FuzzLimit,
        top: String,
        _ body: @escaping @Sendable ([UInt8]) throws -> Void
    ) throws {
        guard let symbol = dlsym(nil, "LLVMFuzzerRunDriver") else { return }
        let drive = unsafeBitCast(symbol, to: Driver.self)
        let (corpus, findings) = try folders(below: top + "/.build/fuzz")
        Self.reader.withLock { $0 = Reader(limit: limit, body) }
        // Its own limit on the time of an input works in the first thread alone, and what is slow by
        // the clock on a machine that does other things is no finding: ``FuzzLimit`` tells.
        let words = [
            "idown", "-max_len=\(Self.longest)", "-timeout=0", "-report_slow_units=\(CInt.max)",
            "-rss_limit_mb=2048", "-print_final_stats=1", "-artifact_prefix=\(findings)/\(target)-",
            corpus,
        ]
        // The driver keeps them as long as it runs, which is as long as the process does.
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
                    // A finding: libFuzzer writes down the input at which the process ends.
                    fatalError("\(error)")
                }
                reader.limit.end()
                return 0
            }
        }
    }

    /// Gives this thread a second stack for signals, for good, so that libFuzzer can still write down
    /// the input that overflowed the first (sigaltstack(2)).
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

    /// Makes both folders, and puts the seeds into the first.
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
