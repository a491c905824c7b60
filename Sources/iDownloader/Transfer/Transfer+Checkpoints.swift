// SPDX-License-Identifier: Apache-2.0

import iDownState

extension Transfer {
    /// Syncs what is in the file, and only then has the record claim it.
    func checkpoint() async throws(TransferEnd) {
        let writers = connections.compactMap(\.writer)
        guard !writers.isEmpty else { return }
        // Where the length is known its room was looked at, and reserved where that is possible.
        if content.known.total == nil { try await target.checkSpace(for: nil, keeping: 0) }
        await target.disk.run {
            for writer in writers { _ = writer.flush() }
        }
        for connection in connections {
            if let failure = connection.writer?.failure { throw .failed(failure.failure) }
            takeWritten(by: connection)
        }
        verifier.follow(target.part, upTo: content.size, as: content.known)
        guard content.stored != content.synced else { return }
        try await synchronizeData()
        try await ledger.commit(.checkpointed(content.synced))
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
            fetch.content.sync(nil)
            for connection in connections { dropWriter(of: connection) }
            target.close()
            throw error
        }
        fetch.content.sync(reached)
    }

    /// Writes what the buffer holds, away from Swift's threads.
    func flush(_ writer: SegmentWriter) async -> SegmentWriter.Step {
        guard !writer.isFlushed else { return .done }
        return await target.disk.run { writer.flush() }
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
        // From the first byte on it was held against all that was there, and nobody else came.
        let coversAll =
            writer.start == 0 && connection.isComparing && joining == nil
            && writer.writtenEnd >= content.stored.end
        fetch.content.store(written, from: connection.source, coversAll: coversAll)
    }

    func dropWriter(of connection: Connection) {
        if let writer = connection.writer { live.leave(writer) }
        connection.dropWriter()
    }

    /// The last checkpoint of a transfer that ends early.
    func keepWhatIsThere() async {
        guard target.part != nil, !target.isUnnamed, content.stored != ledger.segments
        else { return }
        do throws(TransferEnd) {
            if content.stored != content.synced {
                try await synchronizeData()
            }
            try await ledger.commit(.checkpointed(content.synced))
        } catch {
            // What could not be synced or recorded is fetched again: it was never claimed.
        }
    }
}
