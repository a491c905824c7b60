// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// A home that was restored or copied: its partial files are other inodes, perhaps on another file
/// system.
@Suite(.timeLimit(.minutes(2))) struct RestoredHomeTests {
    /// Interrupts a download, has `restore` put another file in the place of the partial file, and runs
    /// one more attempt.
    private func restoring(
        onAnotherDrive: Bool = false,
        then answer: @escaping @Sendable (RecordedRequest) -> [Step] = {
            Sample.file.answer(to: $0)
        },
        _ restore: (Site) async throws -> Void,
        check: (Site, RecordingJournal, [RecordedRequest]) async throws -> Void
    ) async throws {
        try await interrupting(then: answer) { site, journal, server in
            try await restore(site)
            var record = journal.record
            if onAnotherDrive {
                record.file?.fileSystem &+= 1
                try await setNumber(of: record, in: site)
            }
            let restored = RecordingJournal(record)
            _ = await site.engine.measurePartial(of: record)
            try await site.run(restored)
            try await check(site, restored, Array(server.requests.dropFirst()))
        }
    }

    /// Copies the partial file as a backup that keeps attributes does, or one that does not.
    private func copy(_ site: Site, keepingAttributes: Bool = true) async throws {
        let (part, aside) = (site.path("file.bin.part"), site.path("aside"))
        #expect(rename(part, aside) == 0)
        let kept = "--preserve=" + (keepingAttributes ? "mode,xattr" : "mode")
        let copied = try await ChildProcess.run("cp", [kept, aside, part])
        #expect(copied.succeeded, "\(copied.standardError)")
        #expect(unlink(aside) == 0)
    }

    /// Has the file carry the number of the drive that the record names.
    private func setNumber(of record: TaskRecord, in site: Site) async throws {
        let file = try #require(record.file)
        let value = "\(file.fileSystem) \(file.mark) \(record.segments.byteCount)"
        let path = site.path("file.bin.part")
        let text = "import os; os.setxattr('\(path)', 'user.idown.part', b'\(value)')"
        let set = try await ChildProcess.run("/usr/bin/python3", ["-c", text])
        #expect(set.succeeded, "\(set.standardError)")
    }

    /// Has the copy what a backup has of bytes that came later: zeros up to the end.
    private func loseBytes(from offset: Int64, of site: Site) throws {
        let part = open(site.path("file.bin.part"), O_WRONLY)
        defer { close(part) }
        try #require(ftruncate(part, off_t(offset)) == 0 && ftruncate(part, off_t(Sample.cut)) == 0)
    }

    @Test(arguments: [false, true])
    func `a copy of the partial file goes on`(onAnotherDrive: Bool) async throws {
        try await restoring(onAnotherDrive: onAnotherDrive) { site in
            try await copy(site)
        } check: { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            // What is on disk is compared before anything is added to it.
            #expect(requests.last?["Range"] == "bytes=\(Sample.cut - 65_536)-")
            let wasFetched = requests.reduce(0) { $0 + $1.bodyBytesSent }
            #expect(wasFetched < Sample.content.count - Sample.cut + 200_000)
            // Of most of it nobody has compared a byte.
            #expect(journal.record.integrity == .length)
            let file = try #require(journal.record.file)
            #expect(site.isRecorded("file.bin", as: file))
        }
    }

    @Test func `a copy of which nothing is left to fetch is compared all the same`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                // All of it is recorded, and not published.
                journal.before { event, _ in
                    if case .publishing = event { throw RecordingJournal.NotWritten() }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.segments.byteCount == Sample.content.count)
                journal.stepBack()
                try await setNumber(of: journal.record, in: site)
                try await copy(site)
                // As it is until the file is about to be published.
                #expect(chmod(site.path("file.bin.part"), 0o600) == 0)
                let part = open(site.path("file.bin.part"), O_WRONLY)
                #expect(pwrite(part, "damaged", 7, 300_000) == 7)
                close(part)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a copy whose comparison breaks off is no record yet`() async throws {
        try await restoring(then: { request in
            // A host that does not hold the file yet sends all of it, and breaks off.
            request.number == 2
                ? Sample.file.cutOff(at: 100_000) : Sample.file.answer(to: request)
        }) { site in
            try await copy(site)
            try loseBytes(from: 200_000, of: site)
        } check: { site, journal, requests in
            try #require(requests.count == 1 && journal.record.state.kind == .waiting)
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test(arguments: [0, 200_000, Sample.cut - 10])
    func `a copy that lacks bytes is not completed with them missing`(offset: Int64) async throws {
        try await restoring { site in
            try await copy(site)
            try loseBytes(from: offset, of: site)
        } check: { site, journal, _ in
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `a copy from another moment than the record's begins anew in its place`()
        async throws
    {
        try await restoring { site in
            try await copy(site)
            let path = site.path("file.bin.part")
            let text = """
                import os
                value = os.getxattr('\(path)', 'user.idown.part').split()
                os.setxattr('\(path)', 'user.idown.part', b' '.join(value[:2] + [b'1000']))
                """
            let set = try await ChildProcess.run("/usr/bin/python3", ["-c", text])
            #expect(set.succeeded, "\(set.standardError)")
        } check: { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            #expect(requests.map { $0["Range"] } == [nil])
        }
    }

    @Test func `a copy of a file that has changed at the server begins anew`() async throws {
        let replaced = ServedFile(Sample.replaced, entityTag: "\"v2\"")
        try await restoring(then: { replaced.answer(to: $0) }) { site in
            try await copy(site)
        } check: { site, journal, _ in
            expectComplete(Sample.replaced, site, journal)
        }
    }

    @Test func `a file that carries nothing is left alone, whatever its bytes are`() async throws {
        try await restoring { site in
            try await copy(site, keepingAttributes: false)
        } check: { site, journal, _ in
            #expect(journal.record.state == .completed)
            #expect(site.files == ["file (1).bin", "file.bin.part"])
            #expect(site.holds(Sample.content, as: "file (1).bin"))
            let cut = Sample.content.bytes(in: 0..<Sample.cut)
            #expect(site.bytes(of: "file.bin.part").starts(with: cut))
        }
    }

    @Test func `a file that others may read is no copy`() async throws {
        try await restoring { site in
            try await copy(site)
            #expect(chmod(site.path("file.bin.part"), 0o644) == 0)
        } check: { site, journal, _ in
            #expect(site.files == ["file (1).bin", "file.bin.part"])
            #expect(journal.record.state == .completed)
        }
    }

    @Test func `a second name of the partial file does not end the download`() async throws {
        try await restoring { site in
            #expect(link(site.path("file.bin.part"), site.path("snapshot")) == 0)
        } check: { site, journal, requests in
            #expect(journal.record.state == .completed)
            #expect(site.files == ["file.bin", "snapshot"])
            #expect(site.holds(Sample.content, as: "file.bin"))
            #expect(requests.map { $0["Range"] } == ["bytes=\(Sample.cut)-"])
        }
    }

    @Test(arguments: [true, false])
    func `a download that is given up takes its copy along, and nothing else`(isCopy: Bool)
        async throws
    {
        try await interrupting { site, journal, _ in
            try await copy(site, keepingAttributes: isCopy)
            try await site.engine.deletePartial(of: journal.record)
            #expect(site.files == (isCopy ? [] : ["file.bin.part"]))
        }
    }

    @Test func `a partial file says from the start which record it belongs to`() async throws {
        let hold = ServedFile.Hold(afterBytes: 1000)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                try await within("the partial file") {
                    while site.files != ["file.bin.part"] { await Task.yield() }
                }
                let path = site.path("file.bin.part")
                let text = "import os; print(os.getxattr('\(path)', 'user.idown.part').decode())"
                let value = try await ChildProcess.run("/usr/bin/python3", ["-c", text])
                let file = try #require(journal.record.file)
                #expect(value.standardOutput == "\(file.fileSystem) \(file.mark) 0")
                hold.until.open()
                await transfer.ended()
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a finished file carries nothing`() async throws {
        try await interrupting { site, journal, _ in
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
            let text = "import os; print(os.listxattr('\(site.path("file.bin"))'))"
            let list = try await ChildProcess.run("/usr/bin/python3", ["-c", text])
            #expect(list.standardOutput.contains("user.xdg.origin.url"))
            #expect(!list.standardOutput.contains("user.idown"))
        }
    }
}
