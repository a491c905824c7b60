// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Compares a file with its known digests: computes them while bytes arrive, and compares at the
/// end; of a finished file, whenever somebody asks.
///
/// Belongs to its transfer's actor, or to the caller who asks.
final class Verifier {
    private let request: TaskRequest
    private let disk: DiskQueue
    private let isFinished: Bool
    private let mayGoOn: () -> Bool
    /// Computes the digest that the file must have; nil if none is known.
    private var follower: DigestFollower?
    /// Whether two connections may have written the same range.
    ///
    /// The digest may then cover bytes that were overwritten with others.
    private var hasOverlaps = false

    /// - Parameters:
    ///   - request: what the client expects of the file.
    ///   - disk: the threads that read files.
    ///   - isFinished: whether the file was complete before, so that its server is not to blame.
    ///   - mayGoOn: called between two slices of a long reading; false ends it.
    init(
        _ request: TaskRequest,
        disk: DiskQueue,
        isFinished: Bool = false,
        while mayGoOn: @escaping () -> Bool
    ) {
        self.request = request
        self.disk = disk
        self.isFinished = isFinished
        self.mayGoOn = mayGoOn
    }

    /// Notes that two connections may write the same range from now on.
    func noteOverlap() { hasOverlaps = true }

    /// Starts the digest again, because the file has lost bytes that it may cover.
    func restart() { follower?.restart() }

    /// Ends the digest, because the attempt is over.
    func end() {
        follower?.restart()
        follower = nil
    }

    /// Starts to compute the digest up to `length`, and returns immediately.
    func follow(_ part: PartFile?, upTo length: Int64, as version: RemoteVersion) {
        guard let part, let expected = request.expectedChecksum(of: version) else {
            follower = nil
            return
        }
        if follower?.part !== part || follower?.algorithm != expected.algorithm {
            follower = DigestFollower(
                part,
                expected.algorithm,
                on: disk.digestThread(for: request.directory)
            )
        }
        follower?.follow(upTo: length)
    }

    /// Compares the complete file with its size and its digests.
    ///
    /// - Parameters:
    ///   - part: the file.
    ///   - size: the number of bytes of the file.
    ///   - version: what the server has said about the file.
    ///   - pieces: returns the hashes of the pieces, or nil if they are lost; called only if the task
    ///     has such hashes.
    /// - Returns: the pieces whose hash does not match; only these have to be fetched again.
    /// - Throws: `Integrity.SizeMismatch`; `Integrity.ChecksumMismatch` if the digest of the file
    ///   differs and no mismatched piece is known.
    func verify(
        _ part: PartFile?,
        size: Int64,
        as version: RemoteVersion,
        pieces: () async throws(TransferEnd) -> PieceHashes?
    ) async throws(TransferEnd) -> [ByteRange] {
        if hasOverlaps { follower?.restart() }
        hasOverlaps = false
        try check(size: size)
        follow(part, upTo: size, as: version)
        let expected = request.expectedChecksum(of: version)
        let mismatch = try await mismatch(expected, size: size)
        var bad: [ByteRange] = []
        // Pieces of a finished file are not fetched again: its digest says enough.
        if expected == nil || mismatch != nil && !isFinished, request.hasPieceHashes,
            let pieces = try await pieces()
        {
            bad = try await badPieces(part, of: pieces, size: size)
        }
        if bad.isEmpty, let mismatch { throw .failed(mismatch) }
        return bad
    }

    /// Throws if the size differs from the one that the client expects.
    ///
    /// Called before anything is stored if the head tells the size, and for the complete file.
    func check(size: Int64?) throws(TransferEnd) {
        guard let size, let expected = request.expectedSize, size != expected else { return }
        let text =
            "The file has \(size) bytes instead of \(expected). Check the expected size and the URL."
        throw .failed(Failure(.sizeMismatch, text))
    }

    /// Returns the failure if the digest of the whole file does not match; nil otherwise.
    private func mismatch(
        _ expected: Checksum?,
        size: Int64
    ) async throws(TransferEnd) -> Failure? {
        guard let follower, let expected else { return nil }
        let found = try await reading { () throws(FileError) in
            try await follower.value(upTo: size, while: mayGoOn)
        }
        guard found != expected else { return nil }
        let advice =
            if isFinished {
                ". Another program may have changed it. Retry downloads it again."
            } else if request.checksum == nil {
                ", which its server tells. Try later, or \(Failure.freshLink)"
            } else {
                ". Check the expected checksum and the URL."
            }
        let text = "The file has the checksum \(found?.description ?? "") instead of \(expected)"
        return Failure(.checksumMismatch, text + advice)
    }

    private func badPieces(
        _ part: PartFile?,
        of pieces: PieceHashes,
        size: Int64
    ) async throws(TransferEnd) -> [ByteRange] {
        guard let part else { throw .failed(FileError.vanished.failure) }
        guard pieces.cover(size) else {
            let text =
                "The file has \(size) bytes, but the metalink lists pieces of another length."
                + " Use a metalink that belongs to the file."
            throw .failed(Failure(.sizeMismatch, text))
        }
        return try await reading { () throws(FileError) in
            try await PieceCheck(part, pieces, size: size).bad(on: disk, while: mayGoOn)
        }
    }

    /// Runs a long reading and returns its result.
    ///
    /// - Throws: the error of the file system as a failure; `stopped` if the reading was ended.
    private func reading<Value>(
        _ body: () async throws(FileError) -> Value
    ) async throws(TransferEnd) -> Value {
        let value: Value
        do {
            value = try await body()
        } catch {
            throw .failed(error.failure)
        }
        guard mayGoOn() else { throw .stopped }
        return value
    }
}
