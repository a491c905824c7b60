// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Holds a file against the digests that are known of it: while it comes, and once it is complete.
///
/// Belongs to its transfer's actor.
final class Verifier {
    private let request: TaskRequest
    private let disk: DiskQueue
    private let controls: Controls
    /// Computes the digest that the file will be held against; nil where none is known.
    private var follower: DigestFollower?
    /// Two connections may have written the same bytes, not equal ones: what was computed while
    /// they passed may be of bytes that are gone.
    private var hasOverlaps = false

    /// - Parameters:
    ///   - request: what the client expects of the file.
    ///   - disk: where files are read.
    ///   - controls: end a long reading when the transfer is to stop.
    init(_ request: TaskRequest, disk: DiskQueue, controls: Controls) {
        self.request = request
        self.disk = disk
        self.controls = controls
    }

    /// Two connections may write the same bytes from now on.
    func noteOverlap() { hasOverlaps = true }

    /// The file has lost bytes that the digests may have seen.
    func restart() { follower?.restart() }

    /// The attempt is over.
    func end() {
        follower?.restart()
        follower = nil
    }

    /// Has the digest that will be asked for computed as far as the file goes; returns at once.
    func follow(_ part: PartFile?, upTo length: Int64, as version: RemoteVersion) {
        guard let part, let expected = request.expectedChecksum(of: version) else {
            follower = nil
            return
        }
        if follower?.part !== part || follower?.algorithm != expected.algorithm {
            follower = DigestFollower(
                part,
                expected.algorithm,
                on: disk.digestQueue(for: request.directory)
            )
        }
        follower?.follow(upTo: length)
    }

    /// Holds the complete file against its size and its digests.
    ///
    /// - Parameters:
    ///   - part: the file.
    ///   - size: its bytes.
    ///   - version: what the server has said of it.
    ///   - pieces: reads the hashes of its pieces, where there are some.
    /// - Returns: the pieces that do not fit, where the rest need not be fetched again.
    /// - Throws: `Integrity.SizeMismatch`, or `Integrity.ChecksumMismatch` where its bytes come to
    ///   anything else and no piece of it is known to be wrong.
    func verify(
        _ part: PartFile?,
        size: Int64,
        as version: RemoteVersion,
        pieces: () async throws(TransferEnd) -> PieceHashes
    ) async throws(TransferEnd) -> [ByteRange] {
        if hasOverlaps { follower?.restart() }
        hasOverlaps = false
        try check(size: size)
        follow(part, upTo: size, as: version)
        let expected = request.expectedChecksum(of: version)
        let mismatch = try await mismatch(expected, size: size)
        guard mismatch != nil || expected == nil, request.hasPieceHashes else {
            if let mismatch { throw .failed(mismatch) }
            return []
        }
        let bad = try await badPieces(part, of: try await pieces(), size: size)
        if bad.isEmpty, let mismatch { throw .failed(mismatch) }
        return bad
    }

    /// Holds a size against the one that the client expects: before anything is stored where the
    /// head tells it, and of the complete file.
    func check(size: Int64?) throws(TransferEnd) {
        guard let size, let expected = request.expectedSize, size != expected else { return }
        throw .failed(
            Failure(
                .sizeMismatch,
                "The file has \(size) bytes instead of \(expected). Check the expected size and"
                    + " the URL."
            )
        )
    }

    /// Why the whole file is not what it should be; nil where it is.
    private func mismatch(
        _ expected: Checksum?,
        size: Int64
    ) async throws(TransferEnd) -> Failure? {
        guard let follower, let expected else { return nil }
        let found = try await reading { () throws(FileError) in
            try await follower.value(upTo: size) { !controls.isStopped }
        }
        guard found != expected else { return nil }
        let text = "The file has the checksum \(found?.description ?? "") instead of \(expected)"
        return Failure(
            .checksumMismatch,
            request.checksum == nil
                ? text + ", which its server tells. Try later, or \(Failure.freshLink)"
                : text + ". Check the expected checksum and the URL."
        )
    }

    private func badPieces(
        _ part: PartFile?,
        of pieces: PieceHashes,
        size: Int64
    ) async throws(TransferEnd) -> [ByteRange] {
        guard let part else { throw .failed(FileError.vanished.failure) }
        guard pieces.cover(size) else {
            throw .failed(
                Failure(
                    .sizeMismatch,
                    "The file has \(size) bytes, but the metalink lists pieces of another length."
                        + " Use a metalink that belongs to the file."
                )
            )
        }
        return try await reading { () throws(FileError) in
            try await PieceCheck(part, pieces, size: size).bad(on: disk) { !controls.isStopped }
        }
    }

    /// Returns what a long reading gives.
    ///
    /// - Throws: what the file system says, as a failure; `stopped` where the transfer is to stop.
    private func reading<Value>(
        _ body: () async throws(FileError) -> Value
    ) async throws(TransferEnd) -> Value {
        let value: Value
        do {
            value = try await body()
        } catch {
            throw .failed(error.failure)
        }
        guard !controls.isStopped else { throw .stopped }
        return value
    }
}
