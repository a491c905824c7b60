// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownData

@Suite struct StoredPieceHashesTests {
    private func pieces() throws -> PieceHashes {
        let digests = (0..<64).map { UInt8($0) }
        return try #require(PieceHashes(.sha256, length: 1 << 40, digests: digests))
    }

    @Test func `piece hashes are kept as long as their task`() async throws {
        let pieces = try pieces()
        try await withStore { store in
            let id = try await store.commit { transaction in
                let id = try transaction.addTask("http://a/f").id
                try transaction.keep(pieces, of: id)
                _ = try transaction.addTask("http://a/g")
                return id
            }
            let kept = try await store.read { snapshot in
                try snapshot.pieceHashes(of: id)
            }
            #expect(kept == pieces)
            let left = try await store.commit { transaction in
                try transaction.delete(id)
                return try transaction.pieceHashes(of: id)
            }
            #expect(left == nil)
        }
    }

    @Test func `a task without piece hashes has none`() async throws {
        try await withStore { store in
            let found = try await store.commit { transaction in
                try transaction.pieceHashes(of: try transaction.addTask("http://a/f").id)
            }
            #expect(found == nil)
        }
    }
}
