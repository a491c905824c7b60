// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting

@testable import iDownloader

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
                let journal = try site.task(server.url("/file.bin")) {
                    $0.checksum = Self.checksum(for: fault)
                }
                try await runUntilSettled(site, journal)
                expect(fault.resumed, of: fault, site, journal)
            }
        }
    }

    @Test(arguments: faults)
    func `what goes on in a map with gaps is one version of the file, or not completed`(
        fault: ServerFault
    ) async throws {
        try await withServer({ request in
            request.number == 1 ? fault.file.cutOff(at: Self.cut) : fault.answer(request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) {
                    $0.checksum = Self.checksum(for: fault)
                }
                try await site.run(journal)
                try Self.addSegments(to: journal, of: fault.file.content, in: site)
                try await runUntilSettled(site, journal)
                expect(fault.resumed, of: fault, site, journal)
            }
        }
    }

    @Test(arguments: ServerFault.all(Large.content, replacement: Self.otherLarge))
    func `what further connections meet leaves one version of the file, or none completed`(
        fault: ServerFault
    ) async throws {
        guard let outcome = fault.segmented else { return }
        // The first connection stands until another has asked.
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        try await withServer({ request in
            request.number == 1
                ? fault.file.with { $0.hold = hold }.answer(to: request)
                : [.open(hold.until)] + fault.answer(request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) {
                    $0.connections = 4
                    $0.checksum = Self.checksum(for: fault)
                }
                try await runUntilSettled(site, journal)
                expect(outcome, of: fault, site, journal)
                #expect(server.requests.contains { $0["Range"] != nil })
            }
        }
    }

    private static let otherLarge = TestContent(
        TestContent(seed: 23, count: Large.content.count).bytes
    )

    /// Pieces behind the cut, as several connections leave them: a short one, and one that is long
    /// enough for an overlap.
    private static func addSegments(
        to journal: RecordingJournal,
        of content: TestContent,
        in site: Site
    ) throws {
        var map = journal.record.segments
        let file = open(site.path("file.bin.part"), O_WRONLY)
        defer { close(file) }
        for (first, end) in [(cut + 10_000, cut + 40_000), (cut + 60_000, cut + 150_000)] {
            let bytes = content.bytes(in: first..<end)
            #expect(pwrite(file, bytes, bytes.count, off_t(first)) == bytes.count)
            map.insert(try #require(ByteRange(from: first, to: end)))
        }
        journal.apply(.transfer(.checkpointed(map), of: journal.record.attempt))
        #expect(journal.record.segments == map)
    }

    private static func checksum(for fault: ServerFault) -> Checksum? {
        guard fault.needsDigest else { return nil }
        return Checksum(
            .sha256,
            Array(Checksum.Algorithm.sha256.digest(of: fault.file.content.bytes))
        )
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
            if fault.needsDigest, record.failure?.code == .checksumMismatch { return }
        case .fails:
            #expect(record.state != .completed)
            // Bytes that come to the wrong digest are worth nothing; others are kept.
            if fault.needsDigest {
                #expect(record.failure?.code == .checksumMismatch)
                return
            }
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
