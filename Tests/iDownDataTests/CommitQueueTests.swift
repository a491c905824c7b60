// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownData
import iDownTesting

@Suite struct CommitQueueTests {
    private struct Refused: Error {}

    @Test func `entries are taken once, in the order in which they came`() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            var queue = CommitQueue<Int64>()
            #expect(queue.isEmpty)
            for number in [1, 2, 3] as [Int64] {
                let answer = { @Sendable (_: Result<Void, any Error>) in }
                queue.append(.init(replyTime: .inOrder, answer: answer) { _ in ((), [number]) })
            }
            let entries = queue.take()
            #expect(queue.isEmpty)
            #expect(queue.take().isEmpty)
            let ids = try await store.commit { transaction in
                try entries.map { try $0.run(transaction).changes }
            }
            #expect(ids == [[1], [2], [3]])
            try store.close()
        }
    }

    @Test func `the caller gets its value only when it is told to`() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            let value = try await withCheckedThrowingContinuation { continuation in
                let answer = { @Sendable (result: Result<Int, any Error>) in
                    continuation.resume(with: result)
                }
                let entry = CommitQueue<Int64>.Entry(answer: answer) { _ in (7, []) }
                Task {
                    let outcome = try await store.commit { try entry.run($0) }
                    outcome.reply()
                }
            }
            #expect(value == 7)
            try store.close()
        }
    }

    @Test func `a refused caller hears why`() async throws {
        await #expect(throws: Refused.self) {
            let _: Int = try await withCheckedThrowingContinuation { continuation in
                let answer = { @Sendable (result: Result<Int, any Error>) in
                    continuation.resume(with: result)
                }
                CommitQueue<Int64>.Entry(answer: answer) { _ in (7, []) }.refuse(Refused())
            }
        }
    }
}
