// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import DBus

@Suite struct SpareMemoryTests {
    /// The private memory of this process in bytes: RssAnon of proc_pid_status(5).
    private static func held() throws -> Int {
        let status = try TestFile.text(of: "/proc/self/status")
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return try #require(line.flatMap { Int($0.filter(\.isNumber)) }) << 10
    }

    @Test func `what a large call has freed goes back to the system`() async throws {
        let executor = try QueueExecutor()
        let memory = SpareMemory(executor.loop)
        // Blocks that stay in malloc's heap when they are free, since small ones lie between them.
        var (freed, kept): ([UnsafeMutableRawPointer], [UnsafeMutableRawPointer]) = ([], [])
        for _ in 0..<4_000 {
            let block = try #require(malloc(16_000))
            memset(block, 1, 16_000)
            freed.append(block)
            kept.append(try #require(malloc(64)))
        }
        defer { for block in kept { free(block) } }
        let before = try Self.held()
        memory.callBegan(size: 1 << 20)
        for block in freed { free(block) }
        memory.callEnded(size: 1 << 20)
        try await soon("the memory to be given back") { try Self.held() < before - 40_000_000 }
        withExtendedLifetime(executor) {}
    }
}
