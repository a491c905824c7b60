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

/// Brings the bodies of answers into the file, and has the record claim what is safe there.
///
/// Belongs to its transfer's actor.
final class Storage {
    private let attempt: Attempt
    /// Those whose bodies go into the file.
    private var receiving: [Connection] = []

    init(_ attempt: Attempt) { self.attempt = attempt }

    private var target: TargetFile { attempt.target }
    private var ledger: Ledger { attempt.ledger }
    private var content: Content { attempt.content }

    /// What has come by now, the bytes that are on their way to the disk included.
    var taken: SegmentMap {
        var map = content.stored
        for connection in receiving {
            if let taken = connection.writer?.taken { map.insert(taken) }
        }
        return map
    }

    /// How far each connection is whose body goes into the file.
    var progress: [Int: Joining.Look.Progress] {
        let all = receiving.compactMap { connection in
            connection.writer.map {
                (connection.number, Joining.Look.Progress(position: $0.position, end: $0.end))
            }
        }
        return Dictionary(uniqueKeysWithValues: all)
    }

    // MARK: Where a body goes

    /// Makes ready what the body of a first connection goes into, and has it recorded before the
    /// first byte.
    func open(_ connection: Connection, for judgement: Judgement) async throws(TransferEnd) {
        let writer: SegmentWriter?
        switch judgement {
        case .begin(let version):
            writer = try await begin(version, by: connection)
        case .resume(let version):
            let ask = connection.route.ask
            writer = try await goOn(version, from: ask.offset, to: ask.end ?? version.total)
        case .compare(let version):
            writer = try await goOn(
                version,
                from: 0,
                to: version.total,
                comparing: content.stored
            )
        case .prove(let version, let start):
            writer = try await prove(version, from: start, by: connection)
        case .check:
            writer = try check(connection)
        case .complete, .askAgain, .redirect, .fail:
            writer = nil
        }
        if let writer { store(connection, in: writer) }
        storeKept(of: connection)
    }

    /// Has a connection that joins bring its part; false where the file is gone.
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
        attempt.live.follow(writer)
        attempt.live.store(number, in: writer, at: attempt.engine.time.now)
        receiving.append(connection)
    }

    private func begin(
        _ version: RemoteVersion,
        by connection: Connection
    ) async throws(TransferEnd) -> SegmentWriter? {
        try await attempt.report(version, by: connection)
        try attempt.verifier.check(size: version.total)
        try await target.checkSpace(for: version.total, keeping: 0)
        if let answer = connection.answer { attempt.fetch.begin(version, by: answer) }
        if target.part != nil {
            try await target.beginAnew(version)
        } else {
            let wish = attempt.wantedName(connection.sink.head, connection.hop)
            try await target.create(version, as: wish)
        }
        try await target.reserve(version.total)
        return target.part.map {
            SegmentWriter($0, from: 0, to: version.total ?? attempt.job.request.endOfInterest)
        }
    }

    /// Goes on in the same version: behind what is there, or comparing with it from zero.
    private func goOn(
        _ version: RemoteVersion,
        from start: Int64,
        to end: Int64?,
        comparing compared: SegmentMap = SegmentMap()
    ) async throws(TransferEnd) -> SegmentWriter {
        guard let part = target.part, let file = target.file else {
            throw .failed(FileError.vanished.failure)
        }
        try attempt.verifier.check(size: version.total)
        let isCompared = start == 0 && compared == content.stored
        attempt.fetch.content.goOn(version, isCompared: isCompared)
        if version != ledger.version {
            try await ledger.commit(.opened(file, version, keeping: content.synced))
        }
        try await target.checkSpace(for: version.total, keeping: content.stored.byteCount)
        return SegmentWriter(part, from: start, to: end, comparing: compared)
    }

    /// Makes a comparison ready whose outcome decides what the bytes on disk are worth.
    ///
    /// The record keeps the old version until that is known.
    private func prove(
        _ version: RemoteVersion,
        from start: Int64,
        by connection: Connection
    ) async throws(TransferEnd) -> SegmentWriter {
        guard let part = target.part else { throw .failed(FileError.vanished.failure) }
        try attempt.verifier.check(size: version.total)
        try await target.checkSpace(for: version.total, keeping: content.stored.byteCount)
        var (resumePoint, end) = (content.size, version.total)
        if case .overlap(start, let askedPoint, let askedEnd) = connection.route.ask, start > 0 {
            resumePoint = askedPoint
            end = askedEnd ?? end
        }
        attempt.fetch.content.beginProof(from: start)
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
    private func check(_ connection: Connection) throws(TransferEnd) -> SegmentWriter? {
        guard let part = target.part else { throw .failed(FileError.vanished.failure) }
        let range: ByteRange
        switch connection.route.ask {
        case .sample(let sample), .ending(let sample): range = sample
        case .whole, .rest, .part, .overlap: return nil
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

    /// Brings what came before the head was judged into the writer, ahead of all that follows.
    private func storeKept(of connection: Connection) {
        let kept = connection.sink.kept
        guard let writer = connection.writer, !kept.isEmpty else { return }
        // What the file system says to it, the writer remembers.
        _ = kept.withUnsafeBytes { writer.append($0) }
    }

    // MARK: Comparisons

    /// The bytes on disk are proven: they are the new version's from now on.
    func adopt(_ connection: Connection) async throws(TransferEnd) {
        guard let file = target.file, let answer = connection.answer,
            case .rest(let version, let start, let end) = connection.proof
        else { return }
        let showsTags = attempt.fetch.adopt(version, from: start, to: end, by: answer)
        try await ledger.commit(.opened(file, version, keeping: content.synced))
        if showsTags { attempt.engine.hosts.givesSeveralTags(connection.hop.url.origin) }
        connection.proof = nil
        connection.writer?.release()
    }

    /// The server's bytes are not those on disk.
    ///
    /// Compared from the file's start on, they leave those before the first difference; a
    /// difference in any other place means another file.
    ///
    /// - Returns: false where what is on disk is worth nothing, and this answer no use.
    func correct(_ connection: Connection) async throws(TransferEnd) -> Bool {
        guard let writer = connection.writer else { return true }
        let version: RemoteVersion?
        switch connection.proof {
        case nil, .succeeded: version = nil
        case .rest(let proven, from: 0, to: _): version = proven
        case .rest, .sample, .failed:
            close(connection)
            attempt.fetch.content.forget()
            connection.proof = .failed
            return false
        }
        guard let file = target.file, let answer = connection.answer else { return false }
        attempt.fetch.cut(
            to: writer.writtenEnd,
            as: version,
            comparedFrom: writer.start,
            by: answer
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

    // MARK: The end of a body

    /// Brings the rest of a connection's buffer into the file.
    func settle(_ connection: Connection) async throws(TransferEnd) {
        guard let writer = connection.writer else { return }
        // A comparison may still have to say that the bytes are equal, or that they are not.
        for _ in 0..<2 {
            switch await writer.flush() {
            case .differs: if try await !correct(connection) { return }
            case .proven: try await adopt(connection)
            case nil: break
            }
        }
        takeWritten(by: connection)
        if case .sample(let range) = connection.proof, writer.writtenEnd == range.end {
            connection.proof = .succeeded
        }
        close(connection)
        if let failure = writer.failure { throw .failed(failure.failure) }
    }

    /// Keeps what a connection of a transfer that ends early has brought.
    func keep(_ connection: Connection) async {
        guard let writer = connection.writer else { return }
        _ = await writer.flush()
        // A sync that failed meanwhile has taken the writer away: nothing of it is claimed.
        takeWritten(by: connection)
        close(connection)
    }

    /// Counts what a connection has written among what is on disk, and notes whose that is now.
    private func takeWritten(by connection: Connection) {
        guard let writer = connection.writer, let written = writer.written else { return }
        // From the first byte on it was held against all that was there, and nobody else came.
        let coversAll =
            writer.start == 0 && attempt.fetch.requests.joining == nil
            && attempt.fetch.requests[connection.number]?.isComparing == true
            && writer.writtenEnd >= content.stored.end
        attempt.fetch.content.store(written, from: connection.route.source, coversAll: coversAll)
    }

    /// Nothing more of a connection is stored.
    private func close(_ connection: Connection) {
        if let writer = connection.writer { attempt.live.leave(writer) }
        connection.dropWriter()
        receiving.removeAll { $0 === connection }
    }

    // MARK: What is safe

    /// Syncs what is in the file, and only then has the record claim it.
    func checkpoint() async throws(TransferEnd) {
        let writers = receiving.compactMap(\.writer)
        guard !writers.isEmpty else { return }
        // Where the length is known its room was looked at, and reserved where that is possible.
        if content.known.total == nil { try await target.checkSpace(for: nil, keeping: 0) }
        for writer in writers { _ = await writer.flush() }
        for connection in receiving {
            if let failure = connection.writer?.failure { throw .failed(failure.failure) }
            takeWritten(by: connection)
        }
        attempt.verifier.follow(target.part, upTo: content.size, as: content.known)
        try await recordStored()
    }

    /// The last checkpoint of a transfer that ends early.
    func keepWhatIsThere() async {
        guard target.part != nil, !target.isUnnamed, content.stored != ledger.segments else {
            return
        }
        do throws(TransferEnd) {
            if content.stored != content.synced { try await synchronizeData() }
            try await ledger.commit(.checkpointed(content.synced))
            await target.carryRecord()
        } catch {
            // What could not be synced or recorded is fetched again: it was never claimed.
        }
    }

    private func recordStored() async throws(TransferEnd) {
        guard content.stored != content.synced else { return }
        try await synchronizeData()
        try await ledger.commit(.checkpointed(content.synced))
        await target.carryRecord()
    }

    private func synchronizeData() async throws(TransferEnd) {
        try await synchronize { part throws(TransferEnd) in
            try await target.disk { () throws(FileError) in try part.synchronizeData() }
        }
    }

    /// Brings what is stored at this moment to the disk, so that the record may claim it.
    ///
    /// After a failure nothing that was not synced before is ever claimed.
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

    /// Makes a file of a body that is there as a whole.
    ///
    /// - Returns: false where it has to go the way of all others: it is not all there, it is to be
    ///   held against a digest first, or the file system knows no files without a name.
    func arrive(
        _ version: RemoteVersion,
        by connection: Connection
    ) async throws(TransferEnd) -> Bool {
        let body = connection.sink.kept
        guard target.part == nil, target.file == nil, !body.isEmpty,
            version.total == Int64(body.count)
        else { return false }
        try attempt.verifier.check(size: version.total)
        attempt.fetch.content.forget()
        attempt.fetch.content.know(version)
        guard !attempt.fetch.hasDigest else { return false }
        let wish = attempt.wantedName(connection.sink.head, connection.hop)
        guard case .made = try await target.fill(with: body, of: version, as: wish) else {
            return false
        }
        attempt.fetch.content.isWhole(size: Int64(body.count))
        return true
    }
}

extension TaskRequest {
    /// Where a body without a length is cut: a byte behind the size that the client expects says
    /// as much as all that may follow.
    fileprivate var endOfInterest: Int64? { expectedSize.map { $0 == .max ? $0 : $0 + 1 } }
}
