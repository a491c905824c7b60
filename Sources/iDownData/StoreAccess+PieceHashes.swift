// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
package import iDownState

// Piece hashes have a table of their own, because a disk image has hundreds of kilobytes of them
// and reading the list needs none.
extension StoreAccess {
    /// Returns the hashes of a task's pieces; nil if the task has none.
    package func pieceHashes(of id: TaskID) throws(StoreFailure) -> PieceHashes? {
        guard let row = try first(.pieceHashes, [id.rawValue]) else { return nil }
        let stored = Array(row.databaseValues)
        guard stored.count == 3,
            let name = String.fromDatabaseValue(stored[0]),
            let algorithm = Checksum.Algorithm(rawValue: name),
            let length = Int64.fromDatabaseValue(stored[1]),
            let digests = Data.fromDatabaseValue(stored[2]),
            let pieces = PieceHashes(algorithm, length: length, digests: Array(digests))
        else { throw .corruptRecord(id: id.rawValue, column: "pieceHashes") }
        return pieces
    }
}

extension StoreAccess where Right == ReadWrite {
    /// Stores the hashes of a task's pieces, which are deleted with the task.
    package func keep(_ pieces: PieceHashes, of id: TaskID) throws(StoreFailure) {
        try execute(
            Query.insertPieceHashes.rawValue,
            [id.rawValue, pieces.algorithm.rawValue, pieces.length, Data(pieces.digests)]
        )
    }
}
