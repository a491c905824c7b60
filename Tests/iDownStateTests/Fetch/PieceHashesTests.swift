// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct PieceHashesTests {
    private func pieces(_ count: Int, length: Int64) throws -> PieceHashes {
        let digests = (0..<count).flatMap { [UInt8](repeating: UInt8($0), count: 20) }
        return try #require(PieceHashes(.sha1, length: length, digests: digests))
    }

    @Test func `the last piece may be shorter`() throws {
        let pieces = try pieces(3, length: 100)
        #expect(pieces.count == 3)
        #expect((201...300).allSatisfy { pieces.cover($0) })
        for size in [-1, 0, 100, 200, 301, 400, .max] as [Int64] { #expect(!pieces.cover(size)) }
        #expect(pieces.range(of: 0, in: 250) == ByteRange(first: 0, length: 100))
        #expect(pieces.range(of: 2, in: 250) == ByteRange(first: 200, length: 50))
        #expect(pieces.checksum(of: 2) == Checksum(.sha1, [UInt8](repeating: 2, count: 20)))
    }

    @Test func `there are no pieces beyond the last, and none of an empty file`() throws {
        let pieces = try pieces(3, length: 100)
        for index in [-1, 3, .max] {
            #expect(pieces.range(of: index, in: 250) == nil)
            #expect(pieces.checksum(of: index) == nil)
        }
        #expect(pieces.range(of: 2, in: 200) == nil)
        #expect(try self.pieces(0, length: 100).cover(0))
    }

    @Test func `no length traps`() throws {
        let pieces = try pieces(3, length: .max)
        #expect(pieces.range(of: 2, in: .max) == nil)
        #expect(!pieces.cover(.max))
    }

    @Test func `what cannot be is none`() {
        #expect(PieceHashes(.sha1, length: 0, digests: []) == nil)
        #expect(PieceHashes(.sha1, length: -1, digests: []) == nil)
        #expect(PieceHashes(.sha1, length: 1, digests: [0]) == nil)
    }
}
