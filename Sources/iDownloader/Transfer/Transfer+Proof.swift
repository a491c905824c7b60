// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// What a comparison of the server's bytes with those on disk is to show.
enum Proof {
    /// A sample of the bytes on disk is what the server has.
    case sample(ByteRange)
    /// The bytes on disk before `end` are of `version`: compared are those from `start` on.
    case rest(RemoteVersion, from: Int64, to: Int64)
    /// They are equal, or they are not.
    case succeeded, failed
}

extension Transfer {
    /// Asks, but has samples of what is on disk compared before an answer may go on behind it.
    func exchangeWithProof(_ ask: Ask) async throws(TransferEnd) -> ExchangeEnd {
        guard case .overlap(let start, let resumePoint, _) = ask,
            !content.hasEqualSamples || fetch.isAskingForTags
        else {
            return try await exchange(ask)
        }
        if firstHop.url.isFTP, try await repeatsBeginning(from: start, to: resumePoint) {
            return try await exchange(.whole)
        }
        var generator = engine.time
        let samples = OverlapProof.samples(
            of: content.stored,
            leavingOut: ByteRange(from: start, to: resumePoint),
            using: &generator
        )
        var count = 0
        while count < samples.count || (fetch.isAskingForTags && !samples.isEmpty) {
            let end = try await exchange(.sample(samples[count % samples.count]))
            guard case .equal = end else { return end }
            count += 1
            headerBytes = 0
        }
        fetch.content.samplesWereEqual()
        return try await exchange(ask)
    }

    /// Whether bytes on disk are those that the file begins with, so that to compare them would
    /// prove nothing: an FTP server may ignore REST and send the file from its first byte.
    private func repeatsBeginning(
        from start: Int64,
        to end: Int64
    ) async throws(TransferEnd) -> Bool {
        guard let part = target.part else { return false }
        return try await target.disk { () throws(FileError) in
            try part.bytes(from: start, to: end) == part.bytes(from: 0, to: end - start)
        }
    }

    /// Makes a comparison ready whose outcome decides what the bytes on disk are worth.
    ///
    /// The record keeps the old version until that is known.
    func prove(
        _ version: RemoteVersion,
        from start: Int64,
        by connection: Connection
    ) async throws(TransferEnd) -> SegmentWriter {
        guard let part = target.part else { throw .failed(FileError.vanished.failure) }
        try verifier.check(size: version.total)
        try await target.checkSpace(for: version.total, keeping: content.stored.byteCount)
        var (resumePoint, end) = (content.size, version.total)
        if case .overlap(start, let askedPoint, let askedEnd) = connection.ask, start > 0 {
            resumePoint = askedPoint
            end = askedEnd ?? end
        }
        fetch.content.beginProof(from: start)
        connection.proof = .rest(version, from: start, to: resumePoint)
        return SegmentWriter(
            part,
            from: start,
            to: end,
            comparing: SegmentMap([ByteRange(from: start, to: resumePoint)].compactMap(\.self)),
            isProof: true
        )
    }

    /// Makes the comparison of a sample ready: nothing of it is written.
    func check(_ connection: Connection) throws(TransferEnd) -> SegmentWriter? {
        guard let part = target.part else { throw .failed(FileError.vanished.failure) }
        let range: ByteRange
        switch connection.ask {
        case .sample(let sample), .ending(let sample): range = sample
        case .whole, .decoded, .rest, .part, .overlap: return nil
        }
        connection.proof = .sample(range)
        return SegmentWriter(
            part,
            from: range.first,
            to: range.end,
            comparing: SegmentMap([range]),
            isProof: true
        )
    }

    /// The bytes on disk are proven: they are the new version's from now on.
    func adopt(_ connection: Connection) async throws(TransferEnd) {
        guard let file = target.file, case .rest(let version, let start, let end) = connection.proof
        else { return }
        let showsTags = fetch.adopt(version, from: start, to: end, by: connection.answer)
        try await ledger.commit(.opened(file, version, keeping: content.synced))
        if showsTags { engine.hosts.givesSeveralTags(connection.hop.url.origin) }
        connection.proof = nil
        connection.writer?.release()
    }

    /// The server's bytes are not those on disk.
    ///
    /// Compared from the file's start on, they leave those before the first difference; a
    /// difference in any other place means another file.
    ///
    /// - Returns: false where what is on disk is worth nothing, and this answer no use.
    func standsCorrected(_ connection: Connection) async throws(TransferEnd) -> Bool {
        guard let writer = connection.writer else { return true }
        let version: RemoteVersion?
        switch connection.proof {
        case nil, .succeeded: version = nil
        case .rest(let proven, from: 0, to: _): version = proven
        case .rest, .sample, .failed:
            dropWriter(of: connection)
            fetch.content.forget()
            connection.proof = .failed
            return false
        }
        guard let file = target.file else { return false }
        fetch.cut(
            to: writer.writtenEnd,
            as: version,
            comparedFrom: writer.start,
            by: connection.answer
        )
        // The record gives up the old bytes before the first of them is overwritten.
        if let version {
            try await ledger.commit(.opened(file, version, keeping: content.synced))
            connection.proof = nil
        } else {
            try await ledger.commit(.checkpointed(content.synced))
        }
        writer.cut()
        return true
    }

    /// Takes note of how far a comparison came whose answer is over.
    func concludeProof(of connection: Connection) {
        guard case .sample(let range) = connection.proof,
            connection.writer?.writtenEnd == range.end
        else { return }
        connection.proof = .succeeded
    }

    /// Draws the sum of a comparison whose answer is over.
    ///
    /// - Parameters:
    ///   - connection: the one that brought it.
    ///   - isWhole: it brought all that it had announced.
    /// - Returns: what to do next; nil where the body was stored, or broke off.
    func proofEnd(of connection: Connection, isWhole: Bool) -> ExchangeEnd? {
        switch connection.proof {
        case nil: nil
        // The content changed: it is fetched from zero, and nothing is mixed.
        case .failed: .again(.whole, RemoteVersion())
        case .succeeded: .equal
        // Less came than the proof needs.
        case .sample, .rest: isWhole ? .again(.whole, content.known) : nil
        }
    }
}
