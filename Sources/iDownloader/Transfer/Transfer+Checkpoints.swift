// SPDX-License-Identifier: Apache-2.0

import iDownState

extension Transfer {
    /// Syncs what is in the file, and only then has the record claim it.
    func checkpoint() async throws(TransferEnd) {
        let writers = connections.compactMap(\.writer)
        guard !writers.isEmpty else { return }
        // Where the length is known its room was looked at, and reserved where that is possible.
        if known.total == nil { try await target.checkSpace(for: nil, keeping: 0) }
        await target.disk.run {
            for writer in writers { _ = writer.flush() }
        }
        for connection in connections {
            if let failure = connection.writer?.failure { throw .failed(failure.failure) }
            takeWritten(by: connection)
        }
        verifier.follow(target.part, upTo: stored.prefixLength, as: known)
        guard stored != synced else { return }
        try await synchronizeData()
        try await ledger.commit(.checkpointed(synced))
    }

    private func synchronizeData() async throws(TransferEnd) {
        try await synchronize { part throws(TransferEnd) in
            try await target.disk { () throws(FileError) in try part.synchronizeData() }
        }
    }

    /// Brings what is stored at this moment to the disk, so that the record may claim it.
    ///
    /// The kernel reports a write that it lost once, and then forgets it (fsync(2)): after a
    /// failure nothing that was not synced before is ever claimed.
    func synchronize(
        _ body: (PartFile) async throws(TransferEnd) -> Void
    ) async throws(TransferEnd) {
        guard let part = target.part else { throw .failed(FileError.vanished.failure) }
        let reached = stored
        do {
            try await body(part)
        } catch {
            stored = synced
            for connection in connections { dropWriter(of: connection) }
            target.close()
            throw error
        }
        synced = reached
    }

    /// The bytes on disk from the writer's position on are not those of the server: the record
    /// gives them up before they are overwritten.
    func cut(_ writer: SegmentWriter) async throws(TransferEnd) {
        let position = writer.writtenEnd
        stored.truncate(to: position)
        synced.truncate(to: position)
        try await ledger.commit(.checkpointed(synced))
        writer.cut()
    }

    /// Writes what the buffer holds, away from Swift's threads.
    func flush(_ writer: SegmentWriter) async -> SegmentWriter.Step {
        guard !writer.isFlushed else { return .done }
        return await target.disk.run {
            writer.flush()
        }
    }

    /// Brings what came before the head was judged into the writer, ahead of all that follows.
    func storeKept(of connection: Connection) async {
        let kept = connection.sink.kept
        guard let writer = connection.writer, !kept.isEmpty else { return }
        await target.disk.run {
            // What the file system says to it, the writer remembers.
            _ = kept.withUnsafeBytes { writer.append($0) }
        }
    }

    /// Brings the rest of a connection's buffer into the file.
    func settle(_ connection: Connection) async throws(TransferEnd) {
        guard let writer = connection.writer else { return }
        // A comparison may still have to say that the bytes are equal, or that they are not.
        for _ in 0..<2 {
            switch await flush(writer) {
            case .differs: if try await !standsCorrected(connection) { return }
            case .proven: try await adopt(connection)
            case .done, .full, .failed: break
            }
        }
        takeWritten(by: connection)
        concludeProof(of: connection)
        dropWriter(of: connection)
        if let failure = writer.failure { throw .failed(failure.failure) }
    }

    /// Keeps what a connection of a transfer that ends early has brought.
    func keep(_ connection: Connection) async {
        guard let writer = connection.writer else { return }
        _ = await flush(writer)
        // A sync that failed meanwhile has taken the writer away: nothing of it is claimed.
        takeWritten(by: connection)
        dropWriter(of: connection)
    }

    /// Counts what a connection has written among what is on disk, and notes whose that is now.
    private func takeWritten(by connection: Connection) {
        guard let writer = connection.writer, let written = writer.written else { return }
        var map = stored
        map.insert(written)
        let isMore = map != stored
        // From the first byte on it was held against all that was there, and nobody else came.
        let isAll =
            writer.start == 0 && connection.isComparing && joining == nil
            && writer.writtenEnd >= stored.ranges.last?.end ?? 0
        if isAll, isMore || owner == nil {
            own(by: connection.source)
        } else if isMore, owner != connection.source {
            own(by: nil)
        }
        stored = map
    }

    func dropWriter(of connection: Connection) {
        if let writer = connection.writer { live.leave(writer) }
        connection.dropWriter()
    }

    /// The last checkpoint of a transfer that ends early.
    func keepWhatIsThere() async {
        guard target.part != nil, !target.isUnnamed, stored != ledger.segments else { return }
        do throws(TransferEnd) {
            if stored != synced {
                try await synchronizeData()
            }
            try await ledger.commit(.checkpointed(synced))
        } catch {
            // What could not be synced or recorded is fetched again: it was never claimed.
        }
    }
}
