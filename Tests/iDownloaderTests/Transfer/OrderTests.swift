// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Nothing is put on record before it is on disk.
///
/// The calls into the file system are counted up to an event; then, in a second run, the one
/// right before the event fails, and its failure tells which call it was.
@Suite(.timeLimit(.minutes(5))) struct OrderTests {
    /// How many calls into the file system come before the first event of a kind.
    private func calls(
        before kind: EventKind,
        _ answer: @escaping @Sendable (RecordedRequest) -> [Step]
    ) async throws -> Int {
        let plan = FaultPlan()
        let calls = Atomic<Int>(0)
        try await withServer(answer) { server in
            try await withSite(faults: plan) { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, _ in
                    if EventKind(event) == kind { calls.store(plan.calls, ordering: .relaxed) }
                    return true
                }
                try await site.run(journal)
            }
        }
        let count = calls.load(ordering: .relaxed)
        try #require(count > 0, "no such event")
        return count
    }

    /// What the task says when one of the calls fails.
    private func message(
        failing call: Int,
        _ kind: EventKind,
        _ answer: @escaping @Sendable (RecordedRequest) -> [Step]
    ) async throws -> String? {
        try await withServer(answer) { server in
            try await withSite(faults: FaultPlan(failing: call)) { site in
                let journal = try await site.download(server.url("/file.bin"))
                #expect(!journal.kinds.contains(kind))
                return journal.record.failure?.message
            }
        }
    }

    @Test func `bytes are synced before a checkpoint names them`() async throws {
        // So many bytes make a checkpoint of themselves; all are written by then, for the host
        // stops right behind them.
        let megabyte = [UInt8](repeating: 0x55, count: 1 << 20)
        let answer: @Sendable (RecordedRequest) -> [Step] = { _ in
            let length = [("Content-Length", "\(65 << 20)")]
            let bytes = [Step](repeating: .send(megabyte), count: 64)
            return [.head("200 OK", length)] + bytes + [.stall]
        }
        // How the bytes are cut into writes differs from run to run, so the sync is chosen by its name.
        try await withServer(answer) { server in
            try await withSite(faults: FaultPlan(failing: 1, of: "fdatasync")) { site in
                let journal = try await site.download(server.url("/file.bin"))
                #expect(!journal.kinds.contains(.checkpointed))
                let message = journal.record.failure?.message
                #expect(message?.contains("(fdatasync: ") == true, "\(message ?? "nothing")")
            }
        }
    }

    @Test func `the file is synced before its name is announced`() async throws {
        let answer: @Sendable (RecordedRequest) -> [Step] = { Sample.file.answer(to: $0) }
        let last = try await calls(before: .publishing, answer)
        let message = try await message(failing: last, .publishing, answer)
        #expect(message?.contains("(fsync: ") == true, "\(message ?? "nothing")")
    }

    @Test func `the folder is synced before the file is called complete`() async throws {
        let answer: @Sendable (RecordedRequest) -> [Step] = { Sample.file.answer(to: $0) }
        let announced = try await calls(before: .publishing, answer)
        // The last one asks where the folder is.
        let last = try await calls(before: .completed, answer) - 1
        let message = try await message(failing: last, .completed, answer)
        #expect(message?.contains("(fsync: ") == true, "\(message ?? "nothing")")
        // And the rename lies in between.
        var between: [String] = []
        for call in (announced + 1)..<last {
            between.append(try await self.message(failing: call, .completed, answer) ?? "")
        }
        #expect(between.contains { $0.contains("(renameat2: ") }, "\(between)")
    }

    @Test func `a file is on record before its first byte`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, _ in
                    if case .opened(let file, _, let kept) = event {
                        #expect(file.name == "file.bin")
                        #expect(kept.isEmpty)
                        // Where the file system knows files without a name, it has none yet.
                        #expect(site.files.isEmpty || site.bytes(of: "file.bin.part").isEmpty)
                    }
                    return true
                }
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `no checkpoint claims what a failed sync may have lost`() async throws {
        // The kernel reports a lost write once: the next sync succeeds and means nothing.
        let answer: @Sendable (RecordedRequest) -> [Step] = { Sample.file.answer(to: $0) }
        let last = try await calls(before: .publishing, answer)
        try await withServer(answer) { server in
            try await withSite(faults: FaultPlan(failing: last)) { site in
                let journal = try await site.download(server.url("/file.bin"))
                #expect(journal.record.failure?.message.contains("(fsync: ") == true)
                #expect(journal.record.segments.isEmpty, "\(journal.record.segments)")
            }
        }
    }

    @Test func `a checkpoint in mid-body claims nothing after a failed sync`() async throws {
        let count = try await calls(before: .checkpointed) { _ in Sample.file.cutOff() }
        try await withServer({ _ in Sample.file.cutOff() }) { server in
            try await withSite(faults: FaultPlan(failing: count)) { site in
                let journal = try await site.download(server.url("/file.bin"))
                #expect(journal.kinds == [.opened, .failed])
                #expect(journal.record.segments.isEmpty)
            }
        }
    }
}
