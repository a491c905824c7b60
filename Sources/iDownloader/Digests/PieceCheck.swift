// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Holds the pieces of a complete file against their hashes, a piece at a time.
struct PieceCheck {
    private let part: PartFile
    private let pieces: PieceHashes
    private let size: Int64
    private let disk: DiskQueue
    private var next = 0
    /// The pieces that do not fit.
    private(set) var bad: [ByteRange] = []

    init(_ part: PartFile, _ pieces: PieceHashes, size: Int64, disk: DiskQueue) {
        self.part = part
        self.pieces = pieces
        self.size = size
        self.disk = disk
    }

    /// Fits into the processor's cache.
    private static let readSize = 256 << 10

    /// Looks at some pieces more, on the thread for digests.
    ///
    /// - Returns: false once there are none left.
    mutating func proceed() async throws(FileError) -> Bool {
        let (part, pieces, size, first) = (part, pieces, size, next)
        let perStep = max(1, DigestFollower.slice / pieces.length)
        let end = min(pieces.count, first + Int(clamping: perStep))
        guard first < end else { return false }
        bad += try await disk.readForDigests(in: part.folder.path) { () throws(FileError) in
            var bad: [ByteRange] = []
            for index in first..<end {
                guard let range = pieces.range(of: index, in: size) else { continue }
                let value = try Self.digest(range, of: part, pieces.algorithm)
                if value != pieces.checksum(of: index)?.bytes { bad.append(range) }
            }
            return bad
        }
        next = end
        return next < pieces.count
    }

    private static func digest(
        _ range: ByteRange,
        of part: PartFile,
        _ algorithm: Checksum.Algorithm
    ) throws(FileError) -> [UInt8] {
        var digest = DigestState(algorithm)
        try part.forEachPiece(of: range, upTo: readSize) { digest.update($0) }
        return digest.value
    }
}

extension PartFile {
    /// Reads a stretch of the file in pieces of at most `count` bytes.
    ///
    /// - Throws: `vanished` where the file ends before it does.
    func forEachPiece(
        of range: ByteRange,
        upTo count: Int,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(FileError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(Int64(count), range.length)),
            alignment: 64
        )
        defer { buffer.deallocate() }
        var offset = range.first
        while offset < range.end {
            let wanted = Int(min(Int64(buffer.count), range.end - offset))
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            guard try read(into: piece, at: offset) == wanted else { throw .vanished }
            body(UnsafeRawBufferPointer(piece))
            offset += Int64(wanted)
        }
    }
}
