// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// Stores the bodies of answers in the file, and records the ranges that are synced.
///
/// Belongs to its transfer's actor.
final class Storage {
    private let attempt: Attempt
    /// The connections whose bodies are stored.
    private var receiving: [Connection] = []

    init(_ attempt: Attempt) { self.attempt = attempt }

    private var target: TargetFile { attempt.target }
    private var ledger: Ledger { attempt.ledger }
    private var content: Content { attempt.content }

    /// The progress of each connection whose body is stored.
    var progress: [Int: Joining.Look.Progress] {
        let all = receiving.compactMap { connection in
            connection.writer.map {
                (connection.number, Joining.Look.Progress(position: $0.position, end: $0.end))
            }
        }
        return Dictionary(uniqueKeysWithValues: all)
    }

    // MARK: Where a body goes

    /// Prepares the file for the body of a lead connection, and records it before the first byte.
    func open(_ connection: Connection, for judgement: Judgement) async throws(TransferEnd) {
        switch judgement {
        case .begin(let version):
            try await attempt.report(version, by: connection)
            try checkAgreement(with: version, from: connection)
            try await admit(version, keeping: 0)
        case .resume(let version), .compare(let version), .prove(let version, _):
            try await admit(version, keeping: content.stored.byteCount)
        case .check, .complete, .askAgain, .redirect, .fail: break
        }
        guard let body = attempt.fetch.open(connection.number) else { return }
        switch judgement {
        case .begin(let version):
            if target.part != nil {
                // It holds the old file open, whose blocks the new one may need.
                attempt.verifier.end()
                try await target.beginAnew(version)
            } else {
                let wish = attempt.wantedName(connection.sink.head, connection.hop)
                try await target.create(version, as: wish)
            }
            try await target.reserve(version.total)
        case .resume(let version), .compare(let version):
            if version != ledger.version { try await record(version) }
        // The record keeps the old version until the comparison is decided.
        case .prove, .check, .complete, .askAgain, .redirect, .fail: break
        }
        guard let part = target.part else { throw .failed(FileError.vanished.failure) }
        let writer = SegmentWriter(
            part,
            from: body.start,
            to: body.end,
            comparing: body.compared,
            isProof: body.isProof
        )
        store(connection, in: writer)
        // The bytes that came before the head was judged; the writer remembers a failure of the file
        // system.
        let kept = connection.sink.kept
        if !kept.isEmpty { _ = kept.withUnsafeBytes { writer.append($0) } }
    }

    /// Checks the file's size, and that there is room for it.
    private func admit(
        _ version: RemoteVersion,
        keeping byteCount: Int64
    ) async throws(TransferEnd) {
        if byteCount > 0, target.part == nil { throw .failed(FileError.vanished.failure) }
        try attempt.verifier.check(size: version.total)
        // If the attempt ends before there is a file, the record gets the version all the same.
        if target.file == nil { attempt.fetch.content.know(version) }
        try await target.checkSpace(for: version.total, keeping: byteCount)
    }

    /// Checks the length of a file that a browser has handed over and that is asked for again.
    ///
    /// Only a hand-over has a version before it has a file. The browser has given its own answer
    /// up, so a few bytes that tell of a used-up link must not become the file.
    private func checkAgreement(
        with version: RemoteVersion,
        from connection: Connection
    ) throws(TransferEnd) {
        let agreed = ledger.version
        guard attempt.job.record.file == nil, target.file == nil, connection.route.source == 0,
            !agreed.needsProof, let expected = agreed.total, let total = version.total,
            total != expected
        else { return }
        let text =
            "The server now gives \(total) bytes instead of the \(expected) that it gave the browser."
            + " Download the file from its page again, or retry to take these bytes."
        throw .failed(Failure(.serverContentChanged, text))
    }

    /// Stores a joining connection's range; returns false if the file is gone.
    func join(_ connection: Connection, _ range: ByteRange) -> Bool {
        guard let part = target.part else { return false }
        if content.stored.meets(range) { attempt.verifier.noteOverlap() }
        if case .race = connection.route.role { attempt.verifier.noteOverlap() }
        attempt.fetch.content.join(from: connection.route.source)
        store(connection, in: SegmentWriter(part, from: range.first, to: range.end))
        return true
    }

    private func store(_ connection: Connection, in writer: SegmentWriter) {
        let (number, now) = (connection.number, attempt.engine.hosts.now)
        connection.store(in: writer)
        attempt.fetch.requests.brings(number, from: writer.start, at: now)
        attempt.live.store(number, in: writer, at: attempt.engine.time.now)
        receiving.append(connection)
    }

    // MARK: Comparisons

    /// Records the bytes on disk as those of the version that was proven.
    func adopt(_ connection: Connection) async throws(TransferEnd) {
        guard let showsTags = attempt.fetch.proven(connection.number) else { return }
        try await record(content.known)
        if showsTags {
            let origin = connection.hop.origin
            attempt.engine.hosts.givesSeveralTags(origin, by: attempt.job.request)
        }
        connection.writer?.release()
    }

    /// Handles a difference between the server's bytes and those on disk.
    ///
    /// - Returns: false if neither the bytes on disk nor this answer can be used.
    func correct(_ connection: Connection) async throws(TransferEnd) -> Bool {
        guard let writer = connection.writer else { return true }
        // The record stops claiming the old bytes before the first of them is overwritten.
        switch attempt.fetch.differs(connection.number, at: writer.writtenEnd) {
        case .worthless:
            close(connection)
            return false
        case .cut: try await ledger.commit(.checkpointed(content.synced))
        case .cutAs(let version): try await record(version)
        }
        writer.cut()
        return true
    }

    /// Records a version and its synced ranges.
    private func record(_ version: RemoteVersion) async throws(TransferEnd) {
        guard let file = target.file else { throw .failed(FileError.vanished.failure) }
        try await ledger.commit(.opened(file, version, keeping: content.synced))
    }

    // MARK: The end of a body

    /// Writes the rest of a connection's buffer.
    func settle(_ connection: Connection) async throws(TransferEnd) {
        guard let writer = connection.writer else { return }
        // The flush may still end a comparison, with either verdict.
        for _ in 0..<2 {
            switch await writer.flush() {
            case .differs: if try await !correct(connection) { return }
            case .proven: try await adopt(connection)
            case nil: break
            }
        }
        takeWritten(by: connection)
        close(connection)
        if let failure = writer.failure { throw .failed(failure.failure) }
    }

    /// Keeps the bytes of a connection when the transfer ends early.
    func keep(_ connection: Connection) async {
        guard let writer = connection.writer else { return }
        _ = await writer.flush()
        // A sync that failed meanwhile has removed the writer, so that none of its bytes is
        // claimed.
        takeWritten(by: connection)
        close(connection)
    }

    /// Counts a connection's written bytes as stored.
    private func takeWritten(by connection: Connection) {
        guard let writer = connection.writer else { return }
        attempt.fetch.stored(connection.number, upTo: writer.writtenEnd)
    }

    /// Stops storing a connection's body.
    private func close(_ connection: Connection) {
        if let writer = connection.writer { attempt.live.leave(writer) }
        connection.dropWriter()
        receiving.removeAll { $0 === connection }
    }

    // MARK: What is safe

    /// Syncs the file, and then records the stored ranges.
    func checkpoint() async throws(TransferEnd) {
        let writers = receiving.compactMap(\.writer)
        guard !writers.isEmpty else { return }
        // If the length is known, its room was checked before, and reserved where the file system
        // can.
        if content.known.total == nil { try await target.checkSpace(for: nil, keeping: 0) }
        for writer in writers { _ = await writer.flush() }
        for connection in receiving {
            if let failure = connection.writer?.failure { throw .failed(failure.failure) }
            takeWritten(by: connection)
        }
        attempt.verifier.follow(target.part, upTo: content.size, as: content.known)
        if content.stored != content.synced { try await recordStored() }
    }

    /// Makes the last checkpoint of a transfer that ends early; without a file, records the version
    /// that an answer has offered.
    func keepWhatIsThere() async {
        if target.file == nil, content.known.isOnRecord, content.known != ledger.version {
            let url = attempt.job.request.urlWithoutLogin
            _ = try? await ledger.commit(.answered(content.known, of: url))
        }
        guard target.part != nil, !target.isUnnamed, content.stored != ledger.segments else {
            return
        }
        do throws(TransferEnd) {
            try await recordStored()
        } catch {
            // Bytes that could not be synced or recorded are not claimed, and are fetched again.
        }
    }

    /// Syncs what is stored, and lets the record claim it.
    private func recordStored() async throws(TransferEnd) {
        if content.stored != content.synced {
            try await synchronize { part throws(TransferEnd) in
                try await target.disk { () throws(FileError) in try part.synchronizeData() }
            }
        }
        try await ledger.commit(.checkpointed(content.synced))
        await target.writeRecordAttribute()
    }

    /// Syncs all bytes that are stored now, so that the record may claim them.
    ///
    /// After a failed sync no byte is claimed that was not synced before.
    func synchronize(
        _ body: (PartFile) async throws(TransferEnd) -> Void
    ) async throws(TransferEnd) {
        guard let part = target.part else { throw .failed(FileError.vanished.failure) }
        let reached = content.stored
        do {
            try await body(part)
        } catch {
            attempt.fetch.content.sync(nil)
            for connection in receiving { close(connection) }
            target.close()
            throw error
        }
        attempt.fetch.content.sync(reached)
    }

    // MARK: A small file

    /// Makes a file of a complete body in memory.
    ///
    /// - Returns: false if the body has to go through a partial file: it is not complete, its
    ///   digest has to be checked first, or the file system has no unnamed files.
    func arrive(
        _ version: RemoteVersion,
        by connection: Connection
    ) async throws(TransferEnd) -> Bool {
        let body = connection.sink.kept
        guard target.part == nil, target.file == nil, !body.isEmpty,
            version.total == Int64(body.count)
        else { return false }
        try attempt.verifier.check(size: version.total)
        try checkAgreement(with: version, from: connection)
        attempt.fetch.content.forget()
        attempt.fetch.content.know(version)
        guard !attempt.fetch.hasDigest else { return false }
        let wish = attempt.wantedName(connection.sink.head, connection.hop)
        guard try await target.fill(with: body, of: version, as: wish) else { return false }
        attempt.fetch.content.isWhole(size: Int64(body.count))
        return true
    }
}
