// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
package import iDownState

// In a table of their own: a disk image has hundreds of kilobytes of them, and whoever reads the
// list needs none.
extension StoreAccess {
    /// The hashes of a task's pieces; nil where there are none.
    package func pieceHashes(of id: TaskID) throws(StoreFailure) -> PieceHashes? {
        try translatingErrors { () -> PieceHashes? in
            let rows = try rows(Query.pieceHashes.rawValue, [id.rawValue])
            guard let row = try rows.next() else { return nil }
            let stored = Array(row.databaseValues)
            guard stored.count == 3,
                let name = String.fromDatabaseValue(stored[0]),
                let algorithm = Checksum.Algorithm(rawValue: name),
                let length = Int64.fromDatabaseValue(stored[1]),
                let digests = Data.fromDatabaseValue(stored[2]),
                let pieces = PieceHashes(algorithm, length: length, digests: Array(digests))
            else { throw StoreFailure.corruptRecord(id: id.rawValue, column: "pieceHashes") }
            return pieces
        }
    }
}

extension StoreAccess where Right == ReadWrite {
    /// Keeps the hashes of a task's pieces for as long as there is the task.
    package func keep(_ pieces: PieceHashes, of id: TaskID) throws(StoreFailure) {
        try execute(
            Query.keepPieceHashes.rawValue,
            [id.rawValue, pieces.algorithm.rawValue, pieces.length, Data(pieces.digests)]
        )
    }
}
