// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Every host that is known to have made a downloader save a broken file and report success.
@Suite(.timeLimit(.minutes(2))) struct ServerFaultTests {
    private static let faults = ServerFault.all(Sample.content, replacement: Sample.replaced)
    /// How much is on disk when the fault comes.
    private static let cut = Sample.content.count / 2

    @Test(arguments: faults)
    func `what goes on after a cut is one version of the file, or not completed`(
        fault: ServerFault
    ) async throws {
        try await withServer({ request in
            request.number == 1 ? fault.file.cutOff(at: Self.cut) : fault.answer(request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await runUntilSettled(site, journal)
                expect(fault.resumed, of: fault, site, journal)
            }
        }
    }

    /// Runs attempts until the task is over, or nothing seems to come any more.
    private func runUntilSettled(_ site: Site, _ journal: RecordingJournal) async throws {
        for _ in 0..<10 {
            try await site.run(journal)
            guard journal.record.state.kind == .waiting else { return }
        }
    }

    private func expect(
        _ outcome: ServerFault.Outcome,
        of fault: ServerFault,
        _ site: Site,
        _ journal: RecordingJournal
    ) {
        let record = journal.record
        let versions: [TestContent]
        switch outcome {
        case .completes(let contents):
            #expect(record.state == .completed, "\(record)")
            versions = contents
        case .completesOrFails(let contents):
            versions = contents
        case .fails:
            #expect(record.state != .completed)
            #expect(record.segments.prefixLength >= Self.cut)
            versions = []
        }
        if record.state == .completed {
            #expect(versions.contains { site.holds($0, as: "file.bin") }, "a broken file")
            #expect(site.files == ["file.bin"])
        } else {
            #expect(site.files == ["file.bin.part"])
            expectTrueClaims(fault.file.content, site, journal)
        }
    }
}
