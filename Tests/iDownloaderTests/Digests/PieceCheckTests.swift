// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@testable import iDownloader

@Suite(.timeLimit(.minutes(1))) struct PieceCheckTests {
    private static let size = 2 * DigestFollower.slice + 12_345
    private static let content = TestContent(TestContent(seed: 5, count: size).bytes)

    /// The content's pieces of this length, with another digest for each of `wrong`.
    private func pieces(of length: Int64, wrong: Set<Int> = []) throws -> PieceHashes {
        let starts = stride(from: 0, to: Self.size, by: Int64.Stride(length))
        let digests = starts.enumerated().flatMap { index, start in
            let bytes = Self.content.bytes(in: start..<min(start + length, Self.size))
            let digest = Checksum.Algorithm.sha1.digest(of: bytes)
            return wrong.contains(index) ? digest.reversed() : digest
        }
        return try #require(PieceHashes(.sha1, length: length, digests: digests))
    }

    /// A file that holds the content.
    private func withFile(
        _ faults: FaultPlan? = nil,
        _ body: (PartFile) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem(faults: faults))
            let part = try PartFile.create("a", in: folder)
            try Self.content.write(toFile: path + "/a.part")
            try await body(part)
        }
    }

    @Test(arguments: [1 << 20, 3_000_000, 10_000_000, size])
    func `pieces of any length are held against their digests`(length: Int64) async throws {
        try await withFile { part in
            let right = try PieceCheck(part, pieces(of: length), size: Self.size)
            #expect(try await right.bad(on: DiskQueue()) { true } == [])
            let pieces = try pieces(of: length, wrong: [0, 3])
            let wrong = PieceCheck(part, pieces, size: Self.size)
            let expected = [0, 3].compactMap { pieces.range(of: $0, in: Self.size) }
            #expect(try await wrong.bad(on: DiskQueue()) { true } == expected)
        }
    }

    @Test func `a long piece is read in slices, and the reading can end between them`()
        async throws
    {
        let reads = FaultPlan(of: "pread")
        try await withFile(reads) { part in
            let check = try PieceCheck(part, pieces(of: Self.size), size: Self.size)
            var before: [Int] = []
            let bad = try await check.bad(on: DiskQueue()) {
                before.append(reads.calls)
                return before.count < 3
            }
            #expect(before == [0, 32, 64])
            #expect(reads.calls == 64)
            #expect(bad.isEmpty)
        }
    }
}
