// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// What becomes of a download when the disk has no room for it.
@Suite(.timeLimit(.minutes(5))) struct SpaceTests {
    private static let content = TestContent(TestContent(seed: 9, count: 3 << 20).bytes)

    /// Each call into the file system of a download, in turn, finds the disk full.
    @Test(arguments: [ENOSPC, EDQUOT])
    func `whatever call finds the disk full, the bytes wait and the download goes on`(
        errno: Int32
    ) async throws {
        let calls = try await walk(FaultPlan(), 0, "counting")
        #expect(calls > 20)
        for call in 1...calls {
            try await walk(FaultPlan(failing: call, with: errno), errno, "call \(call)")
        }
    }

    @Test func `a quota is none of a small file's room either`() async throws {
        let file = ServedFile(TestContent(seed: 3, count: 5000))
        try await withServer({ file.answer(to: $0) }) { server in
            let plan = FaultPlan(failing: 1, of: "pwrite", with: EDQUOT)
            try await withSite(faults: plan) { site in
                let journal = try await site.download(server.url("/file.bin"))
                #expect(journal.record.state.isBackOff)
                try await site.run(journal)
                expectComplete(file.content, site, journal)
            }
        }
    }

    @Test func `a quota that stays used up ends in a failure that says so`() async throws {
        try await withServer({ ServedFile(Self.content).answer(to: $0) }) { server in
            let plan = FaultPlan(failing: 1, of: "pwrite", with: EDQUOT, times: 1000)
            try await withSite(faults: plan) { site in
                let journal = try await site.download(server.url("/file.bin"))
                for _ in 2...RetryPolicy.tries {
                    #expect(journal.record.state.isBackOff)
                    try await site.run(journal)
                }
                #expect(journal.record.state == .failed)
                #expect(journal.record.failure?.code == .fileNoSpace)
                let message = try #require(journal.record.failure?.message)
                #expect(message.hasPrefix("Your disk quota is used up. The disk shows "))
            }
        }
    }

    @discardableResult
    private func walk(
        _ plan: FaultPlan,
        _ errno: Int32,
        _ comment: Comment
    ) async throws -> Int {
        try await withServer({ ServedFile(Self.content).answer(to: $0) }) { server in
            try await withTemporaryFolder { folder in
                let journal = try await withSite(in: folder, faults: plan) { site in
                    try await site.download(server.url("/file.bin"))
                }
                let record = journal.record
                #expect(record.state != .failed, comment)
                // A quota shows no room that is missing: nobody could tell when there is some.
                if errno == EDQUOT, record.state != .completed {
                    #expect(record.state.isBackOff, comment)
                    #expect(record.failure?.code == .fileNoSpace, comment)
                }
                if record.state == .waiting(.space) {
                    #expect(record.failure?.code == .fileNoSpace, comment)
                    #expect(record.tries == 0, comment)
                    #expect((record.failure?.neededSpace ?? 0) >= SpacePolicy.reserve, comment)
                }
                try await withSite(in: folder) { site in
                    expectTrueClaims(Self.content, site, journal, comment)
                    if journal.record.state != .completed { try await site.run(journal) }
                    #expect(journal.record.state == .completed, comment)
                    #expect(site.holds(Self.content, as: journal.record.file?.name ?? ""), comment)
                }
                return plan.calls
            }
        }
    }

    @Test func `a file that is larger than the disk is held, and says how much it needs`()
        async throws
    {
        let huge: Int64 = 1 << 50
        let fields = [("Content-Length", "\(huge)"), ("ETag", "\"v1\"")]
        try await withServer({ _ in [.head("200 OK", fields), .text("x"), .stall] }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                #expect(journal.record.state == .waiting(.space))
                #expect(journal.record.failure?.neededSpace == huge + SpacePolicy.reserve)
                #expect(site.files.isEmpty)
            }
        }
    }

    @Test func `what is known to be too large is not asked for again`() async throws {
        try await resuming { _ in
            [.close]
        } check: { site, journal, _ in
            // Somebody has filled the disk meanwhile: the rest of the file does not fit.
            let before = journal.record
            let other = RecordingJournal(journal.record.needing(1 << 50))
            try await site.run(other)
            #expect(other.record.state == .waiting(.space))
            #expect(other.record.segments == before.segments)
            #expect(other.kinds == [.failed])
        }
    }

    @Test func `a file that its file system cannot hold at all is no matter of waiting`()
        async throws
    {
        try await withServer({ ServedFile(Self.content).answer(to: $0) }) { server in
            try await withTemporaryFolder { folder in
                for call in 1...30 {
                    let journal = try await withSite(
                        in: folder,
                        faults: FaultPlan(failing: call, with: EFBIG)
                    ) { site in try await site.download(server.url("/file.bin")) }
                    #expect(journal.record.state != .waiting(.space), "call \(call)")
                }
            }
        }
    }
}

extension TaskState {
    fileprivate var isBackOff: Bool {
        if case .waiting(.retry) = self { true } else { false }
    }
}

extension TaskRecord {
    /// The same of a file that is far larger.
    fileprivate func needing(_ total: Int64) -> TaskRecord {
        var record = self
        record.remote.total = total
        return record
    }
}
