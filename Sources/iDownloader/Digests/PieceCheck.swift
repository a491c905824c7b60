// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Holds the pieces of a complete file against their hashes, a slice of the file at a time.
struct PieceCheck {
    private let part: PartFile
    private let pieces: PieceHashes
    private let size: Int64
    /// The piece that is read now.
    private var piece = 0
    /// The bytes up to here are read.
    private var position: Int64 = 0
    /// Covers what is read of the piece.
    private var digest: DigestState
    /// The pieces that do not fit.
    private var bad: [ByteRange] = []

    init(_ part: PartFile, _ pieces: PieceHashes, size: Int64) {
        self.part = part
        self.pieces = pieces
        self.size = size
        digest = DigestState(pieces.algorithm)
    }

    /// Reads the file on the disk's thread for digests.
    ///
    /// - Parameters:
    ///   - disk: where the file is read.
    ///   - mayGoOn: asked before each slice; false ends the reading.
    /// - Returns: the pieces that do not fit, as far as the file was read.
    /// - Throws: what the file system says when the file cannot be read.
    func bad(
        on disk: DiskQueue,
        while mayGoOn: () -> Bool
    ) async throws(FileError) -> [ByteRange] {
        var check = self
        while pieces.range(of: check.piece, in: size) != nil, mayGoOn() {
            let before = check
            check = try await disk.readForDigests(in: part.folder.path) { () throws(FileError) in
                var check = before
                try check.readSlice()
                return check
            }
        }
        return check.bad
    }

    /// Reads on, by one slice of the file: of a long piece a part, of short pieces several.
    private mutating func readSlice() throws(FileError) {
        let end = min(position + DigestFollower.slice, size)
        while let range = pieces.range(of: piece, in: size),
            let next = ByteRange(from: position, to: min(range.end, end))
        {
            try digest.update(with: next, of: part)
            position = next.end
            guard position == range.end else { continue }
            if digest.value != pieces.checksum(of: piece)?.bytes { bad.append(range) }
            piece += 1
            digest = DigestState(pieces.algorithm)
        }
    }
}
