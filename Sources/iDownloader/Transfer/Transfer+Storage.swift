// SPDX-License-Identifier: Apache-2.0

import iDownState

extension Transfer {
    /// Looks at what an earlier attempt has left.
    func reopen() async throws(TransferEnd) {
        let file = job.file
        switch try await target.reopen() {
        case .nothing:
            guard file != nil else { return }
            forget()
        case .published(let size):
            synced = SegmentMap(ByteRange(first: 0, length: size).map { [$0] } ?? [])
            stored = synced
            return
        case .partial(let size):
            // A crash may have cut it shorter than what the record once knew.
            synced.truncate(to: size)
            stored = synced
        }
        // It may be changed from here on, so that nobody may publish it as it is; and where it is
        // gone, whoever waits to hear whether it has its name need not wait for the server.
        if let file, job.possibleName != nil {
            try await ledger.commit(.opened(file, known, keeping: synced))
        }
        // Known beforehand, it need not cost a request.
        if let total = known.total {
            try await target.checkSpace(for: total, keeping: stored.byteCount)
        }
    }

    /// Makes ready what the body goes into, and has it recorded before the first byte.
    func open(
        _ connection: Connection,
        for judgement: Judgement
    ) async throws(TransferEnd) {
        let writer: SegmentWriter?
        switch judgement {
        case .begin(let version):
            writer = try await begin(version, by: connection)
        case .resume(let version):
            let ask = connection.ask
            writer = try await goOn(version, from: ask.offset, to: ask.end ?? version.total)
        case .compare(let version):
            writer = try await goOn(version, from: 0, to: version.total, comparing: stored)
        case .prove(let version, let start):
            writer = try await prove(version, from: start, by: connection)
        case .check:
            writer = try check(connection)
        case .complete, .askAgain, .redirect, .fail:
            writer = nil
        }
        guard let writer else { return }
        connection.store(in: writer, at: engine.hosts.now)
        live.follow(writer)
    }

    private func begin(
        _ version: RemoteVersion,
        by connection: Connection
    ) async throws(TransferEnd) -> SegmentWriter? {
        try verifier.check(size: version.total)
        try await target.checkSpace(for: version.total, keeping: 0)
        let before = stored.byteCount
        forget()
        own(by: connection.source, after: before)
        isOfOneAnswer = true
        findings.tags.beginFile(givingUp: known.differsByTagAlone(from: version) ? before : 0)
        know(version, from: connection)
        if target.part != nil {
            try await target.beginAnew(version)
        } else {
            try await target.create(
                version,
                as: wantedName(connection.sink.head, connection.hop)
            )
        }
        try await target.reserve(known.total)
        return target.part.map {
            SegmentWriter($0, from: 0, to: version.total ?? job.request.endOfInterest)
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
        try verifier.check(size: version.total)
        isOfOneAnswer = start == 0 && compared == stored
        known = version
        if version != ledger.version {
            try await ledger.commit(.opened(file, version, keeping: synced))
        }
        try await target.checkSpace(for: version.total, keeping: stored.byteCount)
        return SegmentWriter(part, from: start, to: end, comparing: compared)
    }

    func forget() {
        hasEqualSamples = false
        synced = SegmentMap()
        stored = SegmentMap()
    }
}

extension TaskRequest {
    /// Where a body without a length is cut: a byte behind the size that the client expects says
    /// as much as all that may follow.
    fileprivate var endOfInterest: Int64? { expectedSize.map { $0 == .max ? $0 : $0 + 1 } }
}
