// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing

@testable import DBus

/// What was told from the loop's thread, in its order.
private final class Words: Sendable {
    private let told: AsyncStream<String>
    private let post: AsyncStream<String>.Continuation

    init() { (told, post) = AsyncStream.makeStream() }

    func say(_ word: String) { post.yield(word) }

    /// The next words, as many as asked for.
    func next(_ count: Int) async -> [String] {
        var words: [String] = []
        for await word in told {
            words.append(word)
            if words.count == count { break }
        }
        return words
    }
}

@Suite(.timeLimit(.minutes(1))) struct EventLoopTests {
    private let words = Words()

    private func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop()
        defer { loop.end() }
        try await body(loop)
    }

    /// A loop, and both ends of a pipe that it may watch.
    private func withLoopAndPipe(
        _ body: (EventLoop, _ reading: Int32, _ writing: Int32) async throws -> Void
    ) async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        try await withLoop { loop in try await body(loop, ends[0], ends[1]) }
    }

    @Test func `What is posted runs in order and on one thread`() async throws {
        try await withLoop { loop in
            for number in 1...100 {
                loop.post { [words] in words.say("\(number) \(loop.isCurrent)") }
            }
            let expected = (1...100).map { "\($0) true" }
            #expect(await words.next(100) == expected)
            #expect(!loop.isCurrent)
        }
    }

    @Test func `A descriptor is told of while it is ready and its watch enabled`() async throws {
        try await withLoopAndPipe { [words] loop, reading, writing in
            let watch = loop.watch(reading, forReading: true, isEnabled: false) {
                var byte: UInt8 = 0
                _ = read(reading, &byte, 1)
                words.say(String(UnicodeScalar(byte)))
            }
            _ = write(writing, "ab", 2)
            loop.post { words.say("not yet") }
            #expect(await words.next(1) == ["not yet"])
            loop.setWatch(watch, isEnabled: true)
            #expect(await words.next(2) == ["a", "b"])
            loop.removeWatch(watch)
            _ = write(writing, "c", 1)
            loop.addTimer(after: 1) { words.say("later") }
            #expect(await words.next(1) == ["later"])
        }
    }

    @Test func `Descriptors are looked at although there is always more to run`() async throws {
        try await withLoopAndPipe { [words] loop, reading, writing in
            let isOver = Mutex(false)
            @Sendable func goOn() {
                if isOver.withLock({ $0 }) { return words.say("over") }
                loop.post(goOn)
            }
            let watch = loop.watch(reading, forReading: true, isEnabled: true) {
                var byte: UInt8 = 0
                _ = read(reading, &byte, 1)
                isOver.withLock { $0 = true }
            }
            loop.post(goOn)
            _ = write(writing, "a", 1)
            #expect(await words.next(1) == ["over"])
            // Before the descriptor is closed and the next test gets it: the thread may still look.
            loop.removeWatch(watch)
        }
    }

    @Test func `A watch that another handler takes back is not told of`() async throws {
        try await withLoopAndPipe { [words] loop, reading, writing in
            let rivals = Rivals()
            loop.post {
                for name in ["one", "other"] {
                    let id = loop.watch(reading, forReading: true, isEnabled: true) {
                        for id in rivals.all { loop.removeWatch(id) }
                        words.say(name)
                    }
                    rivals.add(id)
                }
            }
            _ = write(writing, "a", 1)
            #expect(await words.next(1).count == 1)
            loop.post { words.say("end") }
            #expect(await words.next(1) == ["end"])
        }
    }

    @Test func `Timers fire once, in time, and not after they are removed`() async throws {
        try await withLoop { [words] loop in
            let removed = loop.addTimer(after: 3_000_000) { words.say("removed") }
            loop.addTimer(after: 2_000_000) { words.say("second") }
            loop.addTimer(after: 1_000) {
                words.say("first")
                loop.removeTimer(removed)
            }
            #expect(await words.next(2) == ["first", "second"])
            loop.addTimer(after: 5_000_000) { words.say("last") }
            #expect(await words.next(1) == ["last"])
        }
    }

    @Test func `An executor that nobody holds any more ends its thread`() async throws {
        weak var loop: EventLoop?
        do {
            let executor = try QueueExecutor()
            loop = executor.loop
            executor.post { [words] in words.say("ran") }
            #expect(await words.next(1) == ["ran"])
        }
        // The thread holds the loop as long as it runs.
        while loop != nil { await Task.yield() }
    }
}

private final class Rivals: Sendable {
    private let ids = Mutex<[Int]>([])

    var all: [Int] { ids.withLock { $0 } }

    func add(_ id: Int) { ids.withLock { $0.append(id) } }
}
