// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Under which name a file appears, and what is done to it before.
@Suite(.timeLimit(.minutes(5))) struct PublicationTests {
    private static let small = TestContent(seed: 5, count: 1000)

    /// Downloads a small file into a folder that is as `prepare` leaves it.
    private func download(
        from target: String = "/file.bin",
        fields: [(String, String)] = [],
        prepare: (Site) throws -> Void = { _ in },
        change: (inout TaskRequest) -> Void = { _ in },
        check: (Site, RecordingJournal) throws -> Void
    ) async throws {
        try await withServer({ _ in whole(Self.small, fields) }) { server in
            try await withSite { site in
                try prepare(site)
                let journal = try await site.download(server.url(target), change: change)
                try check(site, journal)
            }
        }
    }

    @Test func `a folder that is moved meanwhile keeps its file, and the path is told`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: Sample.cut)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite { site in
                #expect(mkdir(site.path("here"), 0o700) == 0)
                let journal = try site.task(server.url("/file.bin")) {
                    $0.directory = site.path("here")
                }
                let transfer = try site.start(journal)
                await hold.reached.waitUntilOpen()
                await journal.waitUntil { $0.file != nil }
                #expect(Glibc.rename(site.path("here"), site.path("there")) == 0)
                hold.until.open()
                await transfer.ended()
                #expect(journal.record.state == .completed)
                #expect(journal.record.path == site.path("there/file.bin"))
                #expect(site.bytes(of: "there/file.bin") == Sample.content.bytes)
            }
        }
    }

    // MARK: Times

    /// The time of a file's last change, in seconds since 1970.
    private func changeTime(of path: String) -> Int {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mtim.tv_sec : -1
    }

    /// Of one that comes at once, one that comes in pieces, and one that goes on where it was cut off.
    @Test(arguments: [small.count, Sample.content.count, 0], [true, false])
    func `a finished file gets the server's time where that is wanted`(
        count: Int64,
        isWanted: Bool
    ) async throws {
        let isCut = count == 0
        let content = count == Self.small.count ? Self.small : Sample.content
        let file = ServedFile(content, lastModified: Sample.lastModified)
        try await withServer({ request in
            isCut && request.number == 1 ? file.cutOff() : file.answer(to: request)
        }) { server in
            try await withSite { site in
                site.engine.usesServerTime = isWanted
                let journal = try await site.download(server.url("/file.bin"))
                if isCut { try await site.run(journal) }
                expectComplete(content, site, journal)
                // Sat, 21 Nov 2026 08:00:00 GMT.
                let isServers = changeTime(of: site.path("file.bin")) == 1_795_248_000
                #expect(isServers == isWanted)
            }
        }
    }

    @Test func `what is no time leaves the file its own`() async throws {
        let before = Glibc.time(nil)
        try await withServer({ _ in whole(Self.small, [("Last-Modified", "yesterday")]) }) {
            server in
            try await withSite { site in
                site.engine.usesServerTime = true
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Self.small, site, journal)
                #expect(changeTime(of: site.path("file.bin")) >= before)
            }
        }
    }

    // MARK: Names

    @Test func `the client's name comes first`() async throws {
        let fields = [("Content-Disposition", "attachment; filename=\"server.txt\"")]
        try await download(fields: fields, change: { $0.fileName = "mine.txt" }) { site, journal in
            expectComplete(Self.small, as: "mine.txt", site, journal)
        }
    }

    @Test func `the server's name comes before the URL's`() async throws {
        let fields = [("Content-Disposition", "attachment; filename=\"../../server.txt\"")]
        try await download(fields: fields) { site, journal in
            expectComplete(Self.small, as: "server.txt", site, journal)
        }
    }

    @Test func `without other names the URL's name is used`() async throws {
        try await download(from: "/a/b%20c.txt?d/e") { site, journal in
            expectComplete(Self.small, as: "b c.txt", site, journal)
        }
    }

    /// The limit of eCryptfs, and one that is below all that are in use.
    @Test(arguments: [143, 100])
    func `a file system that takes less than it says gets a shorter name`(limit: Int) async throws {
        let long = String(repeating: "ä", count: 200) + ".tar.gz"
        let fields = [("Content-Disposition", "attachment; filename*=UTF-8''\(long.encoded)")]
        try await withServer({ _ in whole(Self.small, fields) }) { server in
            let plan = FaultPlan(longestName: limit)
            try await withSite(faults: plan) { site in
                for id in Int64(1)...2 {
                    let journal = try site.task(server.url("/f"), id: id)
                    try await site.run(journal)
                    #expect(journal.record.state == .completed, "\(journal.record.state)")
                }
                let names = site.files
                #expect(names.count == 2)
                #expect(names.allSatisfy { $0.utf8.count <= limit && $0.hasSuffix(".tar.gz") })
                #expect(names.allSatisfy { $0.hasPrefix("äääääääääääää") })
                #expect(names.allSatisfy { site.holds(Self.small, as: $0) })
            }
        }
    }

    @Test func `a client's own name is never cut`() async throws {
        let name = String(repeating: "n", count: 200)
        try await withServer({ _ in whole(Self.small) }) { server in
            try await withSite(faults: FaultPlan(longestName: 143)) { site in
                let journal = try await site.download(server.url("/f")) { $0.fileName = name }
                expectFailure(.fileNameTooLong, isTransient: false, site, journal)
                #expect(site.files.isEmpty)
            }
        }
    }

    @Test(arguments: ["file.bin", "file.bin.part"])
    func `a taken name is left alone, and the next one is used`(name: String) async throws {
        try await download(prepare: { putFile($0.path(name)) }) { site, journal in
            #expect(journal.record.state == .completed)
            #expect(site.files.sorted() == ["file (1).bin", name].sorted())
            #expect(site.holds(Self.small, as: "file (1).bin"))
            #expect(contents(of: site.path(name)) == "somebody else's")
        }
    }

    @Test(arguments: ["file.bin", "file.bin.part"], [true, false])
    func `no link is followed`(name: String, isDangling: Bool) async throws {
        try await withTemporaryFolder { elsewhere in
            let target = elsewhere + "/target"
            if !isDangling { putFile(target) }
            try await download(
                prepare: { site in #expect(symlink(target, site.path(name)) == 0) }
            ) { site, journal in
                #expect(journal.record.path == site.path("file (1).bin"))
                #expect(site.holds(Self.small, as: "file (1).bin"))
                #expect(contents(of: target) == (isDangling ? nil : "somebody else's"))
                #expect(site.files.contains(name))
            }
        }
    }

    @Test(arguments: ["file.bin", "file.bin.part"])
    func `a client that wants no other name gets a failure`(name: String) async throws {
        try await download(
            prepare: { putFile($0.path(name)) },
            change: { $0.onExisting = .fail }
        ) { site, journal in
            #expect(journal.record.failure?.code == .fileExists)
            #expect(journal.record.state == .failed)
            #expect(site.files == [name])
            #expect(contents(of: site.path(name)) == "somebody else's")
        }
    }

    @Test func `tasks that race for a name get one each`() async throws {
        let count: Int64 = 8
        let contents = (0...count).map { TestContent(seed: UInt64($0), count: 300_000 + $0) }
        try await withServer({ request in
            whole(contents[Int(request.target.dropFirst(10)) ?? 0])
        }) { server in
            try await withSite { site in
                let journals = try (1...count).map {
                    try site.task(server.url("/file.bin?\($0)"), id: $0)
                }
                let transfers = try journals.map { try site.start($0) }
                for transfer in transfers { await transfer.ended() }
                #expect(Set(journals.compactMap(\.record.path)).count == Int(count))
                for (journal, content) in zip(journals, contents.dropFirst()) {
                    let name = try #require(journal.record.file?.name)
                    #expect(site.holds(content, as: name))
                }
                let expected = ["file.bin"] + (1..<count).map { "file (\($0)).bin" }
                #expect(site.files == expected.sorted())
            }
        }
    }

    @Test func `a name that is taken at the last moment is left alone`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, _ in
                    if case .publishing(name: "file.bin") = event {
                        putFile(site.path("file.bin"))
                    }
                    return true
                }
                try await site.run(journal)
                #expect(journal.kinds == [.opened, .publishing, .publishing, .completed])
                #expect(journal.record.path == site.path("file (1).bin"))
                #expect(site.holds(Sample.content, as: "file (1).bin"))
                #expect(contents(of: site.path("file.bin")) == "somebody else's")
                #expect(site.files.count == 2)
            }
        }
    }

    @Test func `where no other name will do, that is a failure, and the bytes are kept`()
        async throws
    {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) { $0.onExisting = .fail }
                journal.before { event, _ in
                    if case .publishing = event { putFile(site.path("file.bin")) }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.failure?.code == .fileExists)
                #expect(contents(of: site.path("file.bin")) == "somebody else's")
                #expect(site.holds(Sample.content, as: "file.bin.part"))

                journal.stepBack()
                #expect(unlink(site.path("file.bin")) == 0)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `a file that has got another name, and could not say so, is found under it`()
        async throws
    {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, _ in
                    switch event {
                    case .publishing(name: "file.bin"): putFile(site.path("file.bin"))
                    case .completed: throw RecordingJournal.NotWritten()
                    case .answered, .publishing, .opened, .arrived, .checkpointed, .listed,
                        .failed, .held:
                        break
                    }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.state.kind == .waiting)
                #expect(journal.record.intent == .publish(name: "file (1).bin"))
                journal.stepBack()
                try await site.run(journal)
                #expect(journal.record.state == .completed)
                #expect(journal.record.path == site.path("file (1).bin"))
                #expect(site.holds(Sample.content, as: "file (1).bin"))
                #expect(site.files == ["file (1).bin", "file.bin"])
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `a second name that was not taken away yet is, when the file is found`() async throws
    {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, _ in
                    guard case .completed = event else { return true }
                    #expect(link(site.path("file.bin"), site.path("file.bin.part")) == 0)
                    throw RecordingJournal.NotWritten()
                }
                try await site.run(journal)
                journal.stepBack()
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(site.files == ["file.bin"])
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `one that has no name yet is no file to publish once it may change`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            // The name is refused, and what the next attempt does ends before it is published.
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) { $0.onExisting = .fail }
                putFile(site.path("other"))
                journal.before { event, _ in
                    if case .publishing = event {
                        #expect(link(site.path("other"), site.path("file.bin")) == 0)
                    }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.failure?.code == .fileExists)
                #expect(journal.record.intent == .publish(name: "file.bin"))
                journal.before { event, _ in
                    if case .publishing = event { throw RecordingJournal.NotWritten() }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.intent == nil)
                #expect(journal.record.segments.covers(Int64(Sample.content.count)))
            }
        }
    }

    // MARK: Permissions and attributes

    @Test func `only its owner sees a file that is not complete`() async throws {
        let hold = ServedFile.Hold(afterBytes: Sample.cut)
        let file = Sample.file.with { $0.hold = hold }
        try await withServer({ file.answer(to: $0) }) { server in
            try await withSite(checkpointInterval: .milliseconds(1)) { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, _ in
                    if case .checkpointed = event {
                        #expect(site.files == ["file.bin.part"])
                        #expect(site.permissions(of: "file.bin.part") == 0o600)
                    }
                    return true
                }
                let transfer = try site.start(journal)
                await journal.waitUntil { $0.segments.byteCount == Sample.cut }
                #expect(site.files == ["file.bin.part"])
                #expect(site.permissions(of: "file.bin.part") == 0o600)
                hold.until.open()
                await transfer.ended()
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a complete file has the permissions of any new one`() async throws {
        try await download { site, _ in
            let other = open(site.path("other"), O_WRONLY | O_CREAT | O_EXCL, 0o666)
            close(other)
            #expect(site.permissions(of: "file.bin") == site.permissions(of: "other"))
            #expect(site.permissions(of: "file.bin") != nil)
        }
    }

    @Test func `its origin is recorded without login and query`() async throws {
        try await withServer({ _ in whole(Self.small) }) { server in
            try await withSite { site in
                let url = "http://me:secret@127.0.0.1:\(server.port)/file.bin?token=t"
                let journal = try await site.download(url) {
                    $0.referrer = "http://you:secret@example.org/page?token=t"
                }
                let origin = try attribute("user.xdg.origin.url", of: site.path("file.bin"))
                #expect(origin == server.url("/file.bin"))
                let referrer = try attribute("user.xdg.referrer.url", of: site.path("file.bin"))
                #expect(referrer == "http://example.org/page")
                #expect(journal.record.state == .completed)
            }
        }
    }

    @Test func `a folder that has gone is a failure`() async throws {
        try await withServer({ _ in whole(Self.small) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.directory = site.path("gone")
                }
                #expect(journal.record.failure?.code == .fileVanished)
                // Its drive may be mounted a little later.
                #expect(journal.record.state.isBackOff)
                #expect(site.files.isEmpty)
                // It is opened at the first need, which comes with the answer.
                #expect(server.requests.count <= 1)
            }
        }
    }
}

/// An extended attribute of a file; getxattr(2).
///
/// Swift's Glibc does not show the function, so it is looked up by its name.
private func attribute(_ name: String, of path: String) throws -> String? {
    typealias Function =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int
        ) -> Int
    let symbol = try #require(dlsym(nil, "getxattr"))
    let function = unsafeBitCast(symbol, to: Function.self)
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = function(path, name, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
}

extension String {
    /// Percent-encoded, byte by byte.
    fileprivate var encoded: String {
        utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
