// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// A partial file on a drive that is mounted anew, or not mounted while its folder is there.
@Suite(.timeLimit(.minutes(5))) struct MissingDriveTests {
    @Test func `without the drive nothing is forgotten, and with it the download goes on`()
        async throws
    {
        try await onAnotherDrive { site, journal in
            let (part, aside) = (site.path("file.bin.part"), site.path("aside"))
            let before = journal.record
            for stranger in [false, true] {
                #expect(rename(part, aside) == 0)
                if stranger { putFile(part) }
                #expect(await site.engine.measurePartial(of: journal.record) == nil)
                try await site.run(journal)
                #expect(journal.record.failure?.code == .fileVanished)
                #expect(journal.record.state.isBackOff, "a few tries follow")
                #expect(journal.record.segments == before.segments)
                #expect(journal.record.file == before.file)
                #expect(site.files == (stranger ? ["aside", "file.bin.part"] : ["aside"]))
                #expect(rename(aside, part) == 0)
            }
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `a folder that is mounted a little later is waited for`() async throws {
        try await onAnotherDrive { site, journal in
            let aside = site.folder + ".aside"
            let before = journal.record
            #expect(rename(site.folder, aside) == 0)
            try await site.run(journal)
            #expect(journal.record.state.isBackOff)
            #expect(journal.record.failure?.code == .fileVanished)
            #expect(journal.record.segments == before.segments)
            #expect(rename(aside, site.folder) == 0)
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
        }
    }

    /// Small ones come in one go, and are made by other code than large ones.
    @Test(arguments: [1000, 3 << 20])
    func `a new file waits for its folder, and asks its server once meanwhile`(
        size: Int64
    ) async throws {
        let content = TestContent(seed: 5, count: size)
        try await withServer({ ServedFile(content).answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                #expect(rename(site.folder, site.folder + ".aside") == 0)
                for _ in 0..<3 {
                    try await site.run(journal)
                    #expect(journal.record.failure?.code == .fileVanished)
                    #expect(journal.record.state.isBackOff)
                }
                #expect(server.requests.count == 1)
                #expect(rename(site.folder + ".aside", site.folder) == 0)
                try await site.run(journal)
                expectComplete(content, site, journal)
            }
        }
    }

    @Test func `a drive that has another number now has the file all the same`() async throws {
        try await onAnotherDrive { site, journal in
            let event = await site.engine.measurePartial(of: journal.record)
            guard case .partialFound(Sample.cut?) = event else {
                Issue.record("found \(String(describing: event))")
                return
            }
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `a publication waits for the drive`() async throws {
        try await onAnotherDrive { site, journal in
            var record = journal.record
            record.state = .waiting(.queue)
            record.intent = .publish(name: "file.bin")
            #expect(rename(site.path("file.bin.part"), site.path("aside")) == 0)
            #expect(await site.engine.carryOutIntent(of: record) == nil)
            #expect(
                await site.engine.settlePublication(of: record, isGivenUp: false) == nil
            )
            // Asked for by who gives the task up, which needs no drive.
            let found = await site.engine.settlePublication(of: record, isGivenUp: true)
            guard case .partialFound(nil) = found else {
                Issue.record("found \(String(describing: found))")
                return
            }
        }
    }

    /// Interrupts a download, and has the record say that another file system was there.
    private func onAnotherDrive(
        _ body: (Site, RecordingJournal) async throws -> Void
    ) async throws {
        try await interrupting { site, journal, _ in
            var record = journal.record
            record.file?.fileSystem &+= 1
            try await body(site, RecordingJournal(record))
        }
    }
}
