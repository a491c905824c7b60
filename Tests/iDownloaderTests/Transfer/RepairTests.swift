// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Files of which the hashes of the pieces are known.
@Suite(.timeLimit(.minutes(2))) struct RepairTests {
    private static let length: Int64 = 100_000

    private static let pieces: PieceHashes? = {
        let starts = stride(from: 0, to: Sample.content.count, by: Int64.Stride(length))
        let digests = starts.flatMap { start in
            let end = min(start + length, Sample.content.count)
            return Checksum.Algorithm.sha1.digest(of: Sample.content.bytes(in: start..<end))
        }
        return PieceHashes(.sha1, length: length, digests: digests)
    }()

    /// The file with one wrong byte in each of these pieces.
    private static func spoilt(_ pieces: Int64...) -> ServedFile {
        var bytes = Sample.content.bytes
        for piece in pieces { bytes[Int(piece * length)] ^= 1 }
        return ServedFile(TestContent(bytes))
    }

    private func download(
        _ files: [ServedFile],
        hasChecksum: Bool,
        check: (Site, RecordingJournal, [[RecordedRequest]]) throws -> Void
    ) async throws {
        let servers = try files.map { try FaultServer.serving($0) }
        defer { for server in servers { server.stop() } }
        try await withSite { site in
            let urls = servers.map { $0.url("/file.bin") }
            let journal = try site.task(try #require(urls.first)) {
                $0.mirrors = Array(urls.dropFirst())
                $0.hasPieceHashes = true
                if hasChecksum {
                    $0.checksum = Checksum.Algorithm.sha256.checksum(of: Sample.content)
                }
            }
            journal.keep(Self.pieces)
            try await site.run(journal)
            try check(site, journal, servers.map(\.requests))
        }
    }

    @Test(arguments: [true, false])
    func `a bad piece is fetched again from another mirror`(hasChecksum: Bool) async throws {
        try await download([Self.spoilt(3), Sample.file], hasChecksum: hasChecksum) {
            site,
            journal,
            requests in
            expectComplete(Sample.content, site, journal)
            #expect(journal.record.integrity == .checksum)
            #expect(requests[0].map { $0["Range"] } == [nil])
            #expect(requests[1].map { $0["Range"] } == ["bytes=300000-399999"])
        }
    }

    @Test func `a digest that the server gives does not take the place of the pieces`() async throws
    {
        // Of the bytes that it sends, which are wrong; and of others, while those are right.
        for (content, told) in [
            (Self.spoilt(3).content, Self.spoilt(3).content), (Sample.content, Sample.replaced),
        ] {
            let digest = Data(Checksum.Algorithm.sha256.digest(of: told.bytes))
            let served = ServedFile(content).with {
                $0.fields = [("Repr-Digest", "sha-256=:\(digest.base64EncodedString()):")]
            }
            try await download([served, Sample.file], hasChecksum: false) { site, journal, _ in
                expectComplete(Sample.content, site, journal)
                #expect(journal.record.integrity == .checksum)
            }
        }
    }

    @Test func `several bad pieces come from wherever they are right`() async throws {
        try await download([Self.spoilt(0, 2, 7), Self.spoilt(2), Sample.file], hasChecksum: true) {
            site,
            journal,
            requests in
            expectComplete(Sample.content, site, journal)
            #expect(requests[0].count == 1)
            #expect(requests[1].count == 3)
            #expect(requests[2].map { $0["Range"] } == ["bytes=200000-299999"])
        }
    }

    @Test func `a server that was wrong once may be right the next time`() async throws {
        let spoilt = Self.spoilt(1)
        try await withServer({ request in
            (request.number == 1 ? spoilt : Sample.file).answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) { $0.hasPieceHashes = true }
                journal.keep(Self.pieces)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.map { $0["Range"] } == [nil, "bytes=100000-199999"])
            }
        }
    }

    @Test func `a piece is asked for at the server again where its mirror has gone`() async throws {
        let spoilt = Self.spoilt(1)
        try await withServer({ request in
            request.number == 1 ? Sample.file.cutOff(at: 100_000) : Sample.file.answer(to: request)
        }) { home in
            try await withServer({ request in
                request.number == 1
                    ? spoilt.answer(to: request) : [.head("404 Gone", [("Content-Length", "0")])]
            }) { mirror in
                try await withSite { site in
                    let journal = try site.task(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/file.bin")]
                        $0.hasPieceHashes = true
                    }
                    journal.keep(Self.pieces)
                    try await site.run(journal)
                    expectComplete(Sample.content, site, journal)
                    #expect(home.requests.map { $0["Range"] } == [nil, "bytes=100000-199999"])
                }
            }
        }
    }

    @Test func `a piece that is wrong everywhere makes no file`() async throws {
        try await download([Self.spoilt(4), Self.spoilt(4, 5)], hasChecksum: true) {
            site,
            journal,
            requests in
            expectFailure(.checksumMismatch, isTransient: false, site, journal)
            #expect(requests.joined().count <= 10)
        }
    }

    @Test func `right pieces of a wrong whole make no file`() async throws {
        let server = try FaultServer.serving(Sample.file)
        defer { server.stop() }
        try await withSite { site in
            let journal = try site.task(server.url("/file.bin")) {
                $0.hasPieceHashes = true
                $0.checksum = Checksum.Algorithm.md5.checksum(of: Sample.replaced)
            }
            journal.keep(Self.pieces)
            try await site.run(journal)
            expectFailure(.checksumMismatch, isTransient: false, site, journal)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `hashes that the list has lost are not taken for right`() async throws {
        let server = try FaultServer.serving(Sample.file)
        defer { server.stop() }
        try await withSite { site in
            let journal = try site.task(server.url("/file.bin")) { $0.hasPieceHashes = true }
            try await site.run(journal)
            expectFailure(.fileFailed, isTransient: true, site, journal)
        }
    }
}
