// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing

/// The fault that `.ci/sanitize` asks for, to see it found; nil in all other runs.
private let planted = getenv("PLANTED").map { String(cString: $0) }

/// What a sanitizer has to see, and what it must not take for a fault: one that sees nothing would
/// be content with everything.
@Suite struct SanitizerTests {
    private static let rounds = 20_000
    private static let sum = Mutex(0)
    /// Unsafe on purpose: the planted race is about it, and no other test touches it.
    nonisolated(unsafe) private static var count = 0

    private static func addLocked() {
        for _ in 0..<rounds { sum.withLock { $0 += 1 } }
    }

    @Test func `what waits for a lock does not race with the one that holds it`() throws {
        var thread = pthread_t()
        let start = pthread_create(&thread, nil, { _ in SanitizerTests.addThere() }, nil)
        try #require(start == 0)
        Self.addLocked()
        pthread_join(thread, nil)
        #expect(Self.sum.withLock { $0 } == 2 * Self.rounds)
    }

    @Test(.enabled(if: planted == "thread", "only where it has to be found"))
    func `two threads add to a number without a lock`() throws {
        var thread = pthread_t()
        let start = pthread_create(&thread, nil, { _ in SanitizerTests.raceThere() }, nil)
        try #require(start == 0)
        Self.count += 1
        pthread_join(thread, nil)
    }

    private static func addThere() -> UnsafeMutableRawPointer? {
        addLocked()
        return nil
    }

    private static func raceThere() -> UnsafeMutableRawPointer? {
        count += 1
        return nil
    }

    @Test(.enabled(if: planted == "address", "only where it has to be found"))
    func `the byte behind a block is read`() {
        let block = UnsafeMutablePointer<UInt8>.allocate(capacity: 16)
        defer { block.deallocate() }
        block.initialize(repeating: 1, count: 16)
        #expect((0...16).reduce(0) { $0 + Int(block[$1]) } >= 16)
    }
}
