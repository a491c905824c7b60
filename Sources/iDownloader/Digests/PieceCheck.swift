// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Compares the pieces of a complete file with their hashes, one slice of the file at a time.
struct PieceCheck {
    private let part: PartFile
    private let pieces: PieceHashes
    private let size: Int64
    /// The number of the piece that is read now.
    private var piece = 0
    /// The offset up to which the file was read.
    private var position: Int64 = 0
    /// The digest of the bytes read of the present piece.
    private var digest: DigestState
    /// The pieces whose hash does not match.
    private var bad: [ByteRange] = []

    init(_ part: PartFile, _ pieces: PieceHashes, size: Int64) {
        self.part = part
        self.pieces = pieces
        self.size = size
        digest = DigestState(pieces.algorithm)
    }

    /// Returns the pieces whose hash does not match; reads the file on the disk's thread for
    /// digests.
    ///
    /// - Parameters:
    ///   - disk: the threads that read the file.
    ///   - mayGoOn: called before each slice; false ends the reading.
    /// - Returns: the mismatched pieces, as far as the file was read.
    /// - Throws: the error of the file system if the file cannot be read.
    func bad(on disk: DiskQueue, while mayGoOn: () -> Bool) async throws(FileError) -> [ByteRange] {
        var check = self
        while pieces.range(of: check.piece, in: size) != nil, mayGoOn() {
            let before = check
            check = try await disk.digestThread(for: part.folder.path).run { () throws(FileError) in
                var check = before
                try check.readSlice()
                return check
            }
        }
        return check.bad
    }

    /// Reads the next slice of the file, which is a part of a long piece or several short pieces.
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
