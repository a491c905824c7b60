// SPDX-License-Identifier: Apache-2.0

import iDownState

extension Transfer {
    /// Looks at what an earlier attempt has left.
    func reopen() async throws(TransferEnd) {
        let file = job.file
        switch try await target.reopen() {
        case .nothing:
            guard file != nil else { return }
            fetch.content.forget()
        case .published(let size):
            return fetch.content.isWhole(size: size)
        case .partial(let size):
            fetch.content.foundPart(size: size)
        }
        // It may be changed from here on, so that nobody may publish it as it is; and where it is
        // gone, whoever waits to hear whether it has its name need not wait for the server.
        if let file, job.possibleName != nil {
            try await ledger.commit(.opened(file, content.known, keeping: content.synced))
        }
        // Known beforehand, it need not cost a request.
        if let total = content.known.total {
            try await target.checkSpace(for: total, keeping: content.stored.byteCount)
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
            writer = try await goOn(version, from: 0, to: version.total, comparing: content.stored)
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
        fetch.begin(version, by: connection.answer)
        if target.part != nil {
            try await target.beginAnew(version)
        } else {
            try await target.create(
                version,
                as: wantedName(connection.sink.head, connection.hop)
            )
        }
        try await target.reserve(version.total)
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
        fetch.content.goOn(version, isCompared: start == 0 && compared == content.stored)
        if version != ledger.version {
            try await ledger.commit(.opened(file, version, keeping: content.synced))
        }
        try await target.checkSpace(for: version.total, keeping: content.stored.byteCount)
        return SegmentWriter(part, from: start, to: end, comparing: compared)
    }
}

extension TaskRequest {
    /// Where a body without a length is cut: a byte behind the size that the client expects says
    /// as much as all that may follow.
    fileprivate var endOfInterest: Int64? { expectedSize.map { $0 == .max ? $0 : $0 + 1 } }
}
