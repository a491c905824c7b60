// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// What other programs do to a file that is not complete.
@Suite(.timeLimit(.minutes(5))) struct PartFileOfOthersTests {
    @Test(arguments: [0, 5000], [1 << 20, Large.content.count - 1])
    func `a partial file that another program cuts is not completed`(
        left: Int,
        after: Int64
    ) async throws {
        let hold = ServedFile.Hold(afterBytes: after)
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ $0.number == 1 ? held.answer(to: $0) : Large.file.answer(to: $0) }) {
            server in
            try await withSite(checkpointInterval: .milliseconds(10)) { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await journal.waitUntil { $0.segments.byteCount == after }
                #expect(truncate(site.path("file.bin.part"), left) == 0)
                hold.until.open()
                await transfer.ended()
                expectFailure(.fileVanished, isTransient: false, site, journal)
                try await site.run(journal)
                expectComplete(Large.content, site, journal)
            }
        }
    }

    @Test func `a partial file that is somebody else's by now is not published`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, _ in
                    if case .publishing = event {
                        #expect(unlink(site.path("file.bin.part")) == 0)
                        putFile(site.path("file.bin.part"))
                    }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.failure?.code == .fileVanished)
                #expect(site.files == ["file.bin.part"])
                #expect(contents(of: site.path("file.bin.part")) == "somebody else's")
            }
        }
    }
}
