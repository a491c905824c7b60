// SPDX-License-Identifier: Apache-2.0

import iDownState

// What the file is held against before it is published.
extension Transfer {
    /// What the bytes must come to.
    ///
    /// What the client says is the last word: servers give digests of what they have stored in
    /// another form, or of an older file. So with the hashes of its pieces nobody else's counts.
    private var expected: Checksum? {
        job.request.checksum ?? (job.request.hasPieceHashes ? nil : known.checksum)
    }

    /// Whether a wrong byte will show at the end, wherever it came from.
    var hasDigest: Bool { expected != nil || job.request.hasPieceHashes }

    /// What is known of a complete file: it is complete only once it was held against its digests.
    var provenIntegrity: Integrity { hasDigest ? .checksum : known.provenIntegrity }

    /// Has the digests that will be asked for computed as far as the file goes; returns at once.
    func followDigests() {
        guard let part, let expected else {
            digests = nil
            return
        }
        let algorithms: Set = [expected.algorithm]
        if digests?.part !== part || digests?.algorithms != algorithms {
            digests = DigestFollower(
                part,
                algorithms,
                on: engine.disk.digestQueue(for: job.request.directory)
            )
        }
        digests?.follow(upTo: stored.prefixLength)
    }

    /// Holds the complete file against its size and its digests.
    ///
    /// - Returns: the pieces that do not fit, where the rest need not be fetched again.
    /// - Throws: `Integrity.SizeMismatch`, or `Integrity.ChecksumMismatch` where its bytes come to
    ///   anything else and no piece of it is known to be wrong.
    func verify() async throws(TransferEnd) -> [ByteRange] {
        live.activity = .verifying
        if hasOverlaps { digests?.restart() }
        hasOverlaps = false
        try check(size: stored.prefixLength)
        let mismatch = try await mismatch()
        guard mismatch != nil || expected == nil, job.request.hasPieceHashes else {
            if let mismatch { throw .failed(mismatch) }
            return []
        }
        let bad = try await badPieces()
        if bad.isEmpty, let mismatch { throw .failed(mismatch) }
        return bad
    }

    /// Why the whole file is not what it should be; nil where it is.
    private func mismatch() async throws(TransferEnd) -> Failure? {
        let size = stored.prefixLength
        followDigests()
        guard let digests else { return nil }
        while digests.position < size {
            guard !brake.isPulled else { throw .stopped }
            do {
                try await digests.reach(min(digests.position + DigestFollower.slice, size))
            } catch {
                throw .failed(error.failure)
            }
        }
        guard !brake.isPulled else { throw .stopped }
        guard let expected else { return nil }
        let found = digests.values.first { $0.algorithm == expected.algorithm }
        guard found != expected else { return nil }
        return Failure(
            .checksumMismatch,
            "The file has the checksum \(found?.description ?? "") instead of \(expected)."
                + " Check the expected checksum and the URL."
        )
    }

    private func badPieces() async throws(TransferEnd) -> [ByteRange] {
        let size = stored.prefixLength
        guard let part, let pieces = try? await journal.pieceHashes(of: job.task) else {
            throw .failed(
                Failure(.fileFailed, "The list of downloads cannot be read.", isTransient: true)
            )
        }
        guard pieces.cover(size) else {
            throw .failed(
                Failure(
                    .sizeMismatch,
                    "The file has \(size) bytes, but the metalink lists pieces of another length."
                        + " Use a metalink that belongs to the file."
                )
            )
        }
        var check = PieceCheck(part, pieces, size: size, disk: engine.disk)
        do {
            while try await check.proceed() {
                guard !brake.isPulled else { throw TransferEnd.stopped }
            }
        } catch let error as FileError {
            throw .failed(error.failure)
        } catch {
            throw .stopped
        }
        return check.bad
    }

    /// Where a body without a length is cut: a byte behind the size that the client expects says
    /// as much as all that may follow.
    var endOfInterest: Int64? { job.request.expectedSize.map { $0 == .max ? $0 : $0 + 1 } }

    /// Holds a size against the one that the client expects: before anything is stored where the
    /// head tells it, and of the complete file.
    func check(size: Int64?) throws(TransferEnd) {
        guard let size, let expected = job.request.expectedSize, size != expected else { return }
        throw .failed(
            Failure(
                .sizeMismatch,
                "The file has \(size) bytes instead of \(expected). Check the expected size and"
                    + " the URL."
            )
        )
    }
}
