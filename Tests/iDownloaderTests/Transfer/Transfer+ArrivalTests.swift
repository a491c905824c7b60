// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Small files that come in one go.
@Suite(.timeLimit(.minutes(5))) struct ArrivalTests {
    private static let small = TestContent(seed: 5, count: 20_000)
    private static let largest = TestContent(seed: 6, count: 64 << 10)
    private static let larger = TestContent(seed: 6, count: (64 << 10) + 1)

    /// Head and body in one piece, so that they are read at once.
    private static func atOnce(
        _ content: TestContent,
        _ fields: [(String, String)] = []
    ) -> [Step] {
        let all = [("Content-Length", "\(content.count)")] + fields
        let head = "HTTP/1.1 200 OK\r\n" + all.map { "\($0): \($1)\r\n" }.joined() + "\r\n"
        return [.send(Array(head.utf8) + content.bytes)]
    }

    /// One attempt at a file that comes at once.
    private func download(
        _ content: TestContent = Self.small,
        _ fields: [(String, String)] = [],
        faults: FaultPlan? = nil,
        prepare: (Site) throws -> Void = { _ in },
        hook: @escaping RecordingJournal.Hook = { _, _ in true },
        change: (inout TaskRequest) -> Void = { _ in },
        check: (Site, RecordingJournal) async throws -> Void
    ) async throws {
        try await withServer({ _ in Self.atOnce(content, fields) }) { server in
            try await withSite(faults: faults) { site in
                try prepare(site)
                let journal = try site.task(server.url("/file.bin"), change: change)
                journal.before(hook)
                try await site.run(journal)
                try await check(site, journal)
            }
        }
    }

    // MARK: The short way

    @Test func `a small file is recorded once before it has its name, and once after`()
        async throws
    {
        try await download { site, journal in
            expectComplete(Self.small, site, journal)
            #expect(journal.kinds == [.arrived, .completed])
            #expect(site.permissions(of: "file.bin") == 0o666 & ~FileSystem.umask)
        }
    }

    @Test func `a small file is in no folder before the record knows it`() async throws {
        try await download(
            hook: { event, journal in
                if case .arrived(let file, let remote) = event {
                    #expect(file.name == "file.bin")
                    #expect(remote.total == 20_000)
                    #expect(names(in: journal.record.request.directory) == [])
                }
                return true
            }
        ) { site, journal in expectComplete(Self.small, site, journal) }
    }

    @Test func `a task that has moved on leaves nothing behind`() async throws {
        try await download(hook: { _, _ in false }) { site, journal in
            #expect(journal.record.state == .downloading)
            #expect(site.files == [])
        }
    }

    @Test func `one that could not be written leaves its name to others`() async throws {
        try await download(faults: FaultPlan(failing: 1, of: "pwrite")) { site, journal in
            #expect(journal.record.state != .completed && site.files == [])
            let other = try site.task(journal.record.request.url, id: 2) { $0.onExisting = .fail }
            try await site.run(other)
            expectComplete(Self.small, site, other)
        }
    }

    @Test func `64 KiB arrive as a small file, and a byte more does not`() async throws {
        try await download(Self.larger) { site, journal in
            expectComplete(Self.larger, site, journal)
            #expect(journal.kinds == [.opened, .publishing, .completed])
        }
        try await download(Self.largest) { site, journal in
            expectComplete(Self.largest, site, journal)
        }
    }

    @Test(arguments: ["file.bin", "file.bin.part"])
    func `a taken name is left alone, and the next one is used`(name: String) async throws {
        try await download(prepare: { putFile($0.path(name)) }) { site, journal in
            #expect(journal.record.path == site.path("file (1).bin"))
            #expect(site.holds(Self.small, as: "file (1).bin"))
            #expect(contents(of: site.path(name)) == "somebody else's")
        }
    }

    @Test func `a name that is taken in the last moment is left alone`() async throws {
        try await download(
            hook: { event, journal in
                if case .arrived(let file, _) = event, file.name == "file.bin" {
                    putFile(journal.record.request.directory + "/file.bin")
                }
                return true
            }
        ) { site, journal in
            #expect(journal.kinds == [.arrived, .arrived, .completed])
            #expect(journal.record.path == site.path("file (1).bin"))
            #expect(site.holds(Self.small, as: "file (1).bin"))
            #expect(contents(of: site.path("file.bin")) == "somebody else's")
        }
    }

    @Test func `a client that wants no other name gets a failure then`() async throws {
        try await download(
            hook: { event, journal in
                if case .arrived = event {
                    putFile(journal.record.request.directory + "/file.bin")
                }
                return true
            },
            change: { $0.onExisting = .fail }
        ) { site, journal in
            #expect(journal.record.failure?.code == .fileExists)
            #expect(journal.record.segments.isEmpty)
            #expect(site.files == ["file.bin"])
        }
    }

    // MARK: The long way

    @Test func `what does not come at once is written as it comes`() async throws {
        let gate = Gate()
        let head = Step.head("200 OK", [("Content-Length", "\(Self.small.count)")])
        let steps: [Step] = [
            head, .sendPattern(Self.small, 0..<5_000), .wait(for: gate),
            .sendPattern(Self.small, 5_000..<20_000),
        ]
        try await withServer({ _ in steps }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await journal.waitUntil { $0.file != nil }
                gate.open()
                await transfer.ended()
                expectComplete(Self.small, site, journal)
                #expect(journal.kinds == [.opened, .publishing, .completed])
            }
        }
    }

    @Test func `what breaks off is kept`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\nETag: \"a\"\r\n\r\n"
        let first = Array(head.utf8) + Self.small.bytes.prefix(5_000)
        try await withServer({ _ in [.send(first), .close] }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                #expect(journal.record.failure?.code == .serverTruncated)
                #expect(journal.record.segments.prefixLength == 5_000)
                expectTrueClaims(Self.small, site, journal)
            }
        }
    }

    @Test func `what is to be held against a digest goes the long way`() async throws {
        let checksum = try Checksum(parsing: "md5=00000000000000000000000000000000")
        try await download(change: { $0.checksum = checksum }) { site, journal in
            #expect(journal.record.failure?.code == .checksumMismatch)
            #expect(journal.kinds.first == .opened)
        }
    }

    /// The calls up to the one that makes the file without a name.
    private func callsBeforeFile() async throws -> Int {
        let plan = FaultPlan()
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem(faults: plan))
            _ = try folder.freeBytes()
            _ = try folder.status(of: "file.bin")
            _ = try folder.status(of: "file.bin.part")
        }
        return plan.calls
    }

    @Test func `a file system that knows only named files gets one`() async throws {
        let call = try await callsBeforeFile() + 1
        try await download(faults: FaultPlan(failing: call, with: EOPNOTSUPP)) { site, journal in
            expectComplete(Self.small, site, journal)
            #expect(journal.kinds == [.opened, .publishing, .completed])
        }
    }

    @Test(arguments: [ENOENT, EPERM])
    func `where no unnamed file can get a name, a copy is made by name`(errno: Int32)
        async throws
    {
        // The file, its status, its bytes, rights, origin, sync, and then its name.
        let plan = FaultPlan()
        var calls = 0
        try await download(
            faults: plan,
            hook: { event, _ in true }
        ) { _, _ in calls = plan.calls }
        // The last is the folder's sync, the one before it its identity or the link.
        var isCopied = false
        for call in (try await callsBeforeFile() + 5)...calls where !isCopied {
            let plan = FaultPlan(failing: call, with: errno)
            try await download(faults: plan) { site, journal in
                isCopied = journal.kinds == [.arrived, .arrived, .publishing, .completed]
                if isCopied { expectComplete(Self.small, site, journal) }
            }
        }
        #expect(isCopied)
    }

    // MARK: Faults

    @Test func `a folder that cannot be synced after the name was given costs no second file`()
        async throws
    {
        // The last call asks where the folder is, the one before it is that sync.
        let count = FaultPlan()
        try await download(faults: count) { _, _ in }
        try await withServer({ _ in Self.atOnce(Self.small) }) { server in
            try await withTemporaryFolder { folder in
                let plan = FaultPlan(failing: count.calls - 1)
                let journal = try await withSite(in: folder, faults: plan) { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    #expect(journal.record.failure?.code == .fileFailed)
                    #expect(journal.record.state == .failed)
                    #expect(journal.record.intent == .publish(name: "file.bin"))
                    #expect(site.files == ["file.bin"])
                    return journal
                }
                try await withSite(in: folder) { site in
                    // What the service does when it starts, as long as nobody resumes the task.
                    #expect(await site.engine.measurePartial(of: journal.record) == nil)
                    #expect(await site.engine.carryOutIntent(of: journal.record) == nil)
                    try await site.run(journal)
                    expectComplete(Self.small, site, journal)
                }
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a file that has not got its name by a crash is fetched again`() async throws {
        try await withServer({ _ in Self.atOnce(Self.small) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, _ in
                    guard case .completed = event else { return true }
                    // The name did not last.
                    #expect(unlink(site.path("file.bin")) == 0)
                    throw RecordingJournal.NotWritten()
                }
                try await site.run(journal)
                #expect(journal.record.intent == .publish(name: "file.bin"))
                journal.stepBack()
                try await site.run(journal)
                expectComplete(Self.small, site, journal)
                #expect(server.requests.count == 2)
            }
        }
    }

    @Test(
        arguments: [false, true],
        [EIO, ENOSPC, EINTR, EINVAL, ENOENT]
    )
    func `whatever call fails, no byte is wrong and one file is left in the end`(
        isMade: Bool,
        errno: Int32
    ) async throws {
        let count = FaultPlan()
        try await download(faults: count) { _, _ in }
        #expect(count.calls > 10)
        for call in 1...count.calls {
            let comment: Comment = "call \(call) with \(errno), made: \(isMade)"
            try await withServer({ _ in Self.atOnce(Self.small) }) { server in
                try await withTemporaryFolder { folder in
                    let plan = FaultPlan(failing: call, with: errno, isMade: isMade)
                    let journal = try await withSite(in: folder, faults: plan) { site in
                        let journal = try await site.download(server.url("/file.bin"))
                        expectTrueClaims(Self.small, site, journal, comment)
                        return journal
                    }
                    try await withSite(in: folder) { site in
                        for _ in 0..<3 where journal.record.state != .completed {
                            try await site.run(journal)
                        }
                        #expect(journal.record.state == .completed, comment)
                        let name = journal.record.file?.name ?? ""
                        #expect(site.holds(Self.small, as: name), comment)
                        #expect(site.files == [name], comment)
                    }
                }
            }
        }
    }
}
