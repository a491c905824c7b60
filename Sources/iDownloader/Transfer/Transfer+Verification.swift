// SPDX-License-Identifier: Apache-2.0

import iDownState

// What the file is held against before it is published.
extension Transfer {
    /// What the bytes must come to, as the client and as the server say.
    private var expected: [Checksum] {
        [job.request.checksum, known.checksum].compactMap(\.self)
    }

    /// What is known of a complete file: it is complete only once it was held against its digests.
    var provenIntegrity: Integrity { expected.isEmpty ? known.provenIntegrity : .checksum }

    /// Has the digests that will be asked for computed as far as the file goes; returns at once.
    func followDigests() {
        let algorithms = Set(expected.map(\.algorithm))
        guard let part, !algorithms.isEmpty else {
            digests = nil
            return
        }
        if digests?.part !== part || digests?.algorithms != algorithms {
            digests = DigestFollower(part, algorithms, on: engine.disk.digests)
        }
        digests?.follow(upTo: stored.prefixLength)
    }

    /// Holds the complete file against its size and its digests.
    ///
    /// - Throws: `Integrity.SizeMismatch`, or `Integrity.ChecksumMismatch` where its bytes come to
    ///   anything else.
    func verify() async throws(TransferEnd) {
        let size = stored.prefixLength
        try check(size: size)
        followDigests()
        guard let digests else { return }
        while digests.position < size {
            guard !brake.isPulled else { throw .stopped }
            do {
                try await digests.reach(min(digests.position + DigestFollower.slice, size))
            } catch {
                throw .failed(error.failure)
            }
        }
        guard !brake.isPulled else { throw .stopped }
        let values = digests.values
        for checksum in expected where !values.contains(checksum) {
            let found = values.first { $0.algorithm == checksum.algorithm }
            throw .failed(
                Failure(
                    .checksumMismatch,
                    "the file is \(found?.description ?? ""), and should be \(checksum)"
                )
            )
        }
    }

    /// Where a body without a length is cut: a byte behind the size that the client expects says
    /// as much as all that may follow.
    var endOfInterest: Int64? { job.request.expectedSize.map { $0 == .max ? $0 : $0 + 1 } }

    /// Holds a size against the one that the client expects: before anything is stored where the
    /// head tells it, and of the complete file.
    func check(size: Int64?) throws(TransferEnd) {
        guard let size, let expected = job.request.expectedSize, size != expected else { return }
        throw .failed(
            Failure(.sizeMismatch, "the file has \(size) bytes, and should have \(expected)")
        )
    }
}
