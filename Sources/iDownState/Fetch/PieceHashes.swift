// SPDX-License-Identifier: Apache-2.0

/// The digests of a file's pieces.
///
/// They tell which bytes are wrong, while a digest of the whole file only tells that some are (RFC
/// 5854 section 4.1.3).
package struct PieceHashes: Hashable, Sendable {
    package let algorithm: Checksum.Algorithm
    /// The length of every piece but the last, which may be shorter; 1 or more.
    package let length: Int64
    /// The digests of all pieces in order, concatenated.
    package let digests: [UInt8]

    /// Returns nil for a length below 1, and for digests whose size does not fit the algorithm.
    package init?(_ algorithm: Checksum.Algorithm, length: Int64, digests: [UInt8]) {
        guard length > 0, digests.count.isMultiple(of: algorithm.byteCount) else { return nil }
        self.algorithm = algorithm
        self.length = length
        self.digests = digests
    }

    package var count: Int { digests.count / algorithm.byteCount }

    /// Whether these are exactly the pieces of a file of `size` bytes.
    package func cover(_ size: Int64) -> Bool {
        let (whole, rest) = size.quotientAndRemainder(dividingBy: length)
        return size >= 0 && whole + (rest > 0 ? 1 : 0) == count
    }

    /// Returns the bytes of a piece in a file of `size` bytes; nil where there is no such piece.
    package func range(of index: Int, in size: Int64) -> ByteRange? {
        guard (0..<count).contains(index) else { return nil }
        let (first, overflow) = Int64(index).multipliedReportingOverflow(by: length)
        guard !overflow, first < size else { return nil }
        return ByteRange(first: first, length: min(length, size - first))
    }

    /// Returns the digest that a piece must have; nil where there is no such piece.
    package func checksum(of index: Int) -> Checksum? {
        guard (0..<count).contains(index) else { return nil }
        let start = index * algorithm.byteCount
        return Checksum(algorithm, Array(digests[start..<(start + algorithm.byteCount)]))
    }
}
