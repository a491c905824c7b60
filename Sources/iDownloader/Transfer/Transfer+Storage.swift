// SPDX-License-Identifier: Apache-2.0

import iDownState

extension Transfer {
    /// Room that stays free on the disk beside the file.
    static let reservedSpace: Int64 = 16 << 20
    /// Files below this are written at once; a reservation would only cost.
    static let smallestPreallocation: Int64 = 1 << 20

    /// Opens the folder, and the partial file of an earlier attempt if it is still ours.
    func reopen() async throws(TransferEnd) {
        let system = engine.fileSystem
        let directory = job.request.directory
        folder = try await onDisk { () throws(FileError) in
            try OpenFolder(directory, fileSystem: system)
        }
        guard let folder, let file else { return }
        part = try await onDisk { () throws(FileError) in
            do throws(FileError) {
                return try PartFile.reopen(file, in: folder)
            } catch {
                // Gone, or replaced by somebody: what stands there now is not touched.
                switch error {
                case .vanished, .notOurs: return nil
                case .system, .nameTaken, .folderMoved: throw error
                }
            }
        }
        if part == nil, try await wasPublished(file, in: folder) { return }
        if let part {
            // A crash may have cut it shorter than what the record once knew.
            let size = try await onDisk { () throws(FileError) in try part.size() }
            synced.truncate(to: size)
            stored = synced
        } else {
            self.file = nil
            forget()
        }
        live.bytes = stored.byteCount
    }

    /// Whether the file stands complete under its name already: an earlier attempt renamed it and
    /// could not say so.
    private func wasPublished(
        _ file: LocalFile,
        in folder: OpenFolder
    ) async throws(TransferEnd) -> Bool {
        guard let total = known.total, synced.covers(total) else { return false }
        let state = try await onDisk { () throws(FileError) in
            try folder.publicationState(of: file, as: file.name)
        }
        guard case .published = state else { return false }
        isPublished = true
        return true
    }

    /// Makes ready what the body goes into, and has it recorded before the first byte.
    func open(
        for judgement: Judgement,
        _ head: ResponseHead?,
        _ hop: Hop
    ) async throws(TransferEnd) {
        switch judgement {
        case .begin(let version): try await begin(version, head, hop)
        case .resume(let version): try await goOn(version, from: stored.prefixLength)
        case .compare(let version): try await goOn(version, from: 0)
        case .complete, .askAgain, .redirect, .fail: break
        }
    }

    private func begin(
        _ version: RemoteVersion,
        _ head: ResponseHead?,
        _ hop: Hop
    ) async throws(TransferEnd) {
        try await checkSpace(for: version.total, keeping: 0)
        forget()
        known = version
        if let part, let file {
            // The record gives up the old bytes before the first of them is overwritten.
            try await commit(.opened(file, version, keeping: SegmentMap()))
            try await onDisk { () throws(FileError) in try part.truncate(to: 0) }
        } else {
            try await create(version, head, hop)
        }
        try await preallocate()
        live.bytes = 0
        if let part { writer = SegmentWriter(part, from: 0, to: version.total) }
    }

    /// Goes on in the same version: behind what is there, or comparing with it from zero.
    private func goOn(_ version: RemoteVersion, from start: Int64) async throws(TransferEnd) {
        guard let part, let file else { throw .failed(FileError.vanished.failure) }
        known = version
        if version != recordedVersion {
            try await commit(.opened(file, version, keeping: synced))
        }
        try await checkSpace(for: version.total, keeping: stored.byteCount)
        writer = SegmentWriter(
            part,
            from: start,
            to: version.total,
            comparingUpTo: start == 0 ? stored.prefixLength : 0
        )
    }

    private func checkSpace(
        for total: Int64?,
        keeping kept: Int64
    ) async throws(TransferEnd) {
        guard let folder, let total else { return }
        // What an earlier attempt reserved for this file is not free, and not missing either.
        let part = part
        let (free, allocated) = try await onDisk { () throws(FileError) in
            (try folder.freeBytes(), try part?.allocatedBytes() ?? 0)
        }
        let missing = max(0, total - max(kept, allocated))
        guard free - Self.reservedSpace < missing else { return }
        throw .failed(
            Failure(.fileNoSpace, "the disk has \(free) bytes free, and \(missing) are to come")
        )
    }

    private func preallocate() async throws(TransferEnd) {
        guard let part, let total = known.total, total >= Self.smallestPreallocation else { return }
        try await onDisk { () throws(FileError) in try part.reserve(upTo: total) }
    }

    private func forget() {
        synced = SegmentMap()
        stored = SegmentMap()
    }

    // MARK: Checkpoints

    /// Syncs what is in the file, and only then has the record claim it.
    func checkpoint() async throws(TransferEnd) {
        guard let writer else { return }
        let step = await flush(writer)
        if step == .failed, let failure = writer.failure { throw .failed(failure.failure) }
        guard let written = writer.written else { return }
        stored.insert(written)
        let reached = stored
        guard reached != synced else { return }
        try await synchronize { part throws(FileError) in try part.synchronizeData() }
        try await commit(.checkpointed(synced))
    }

    /// Brings what is stored at this moment to the disk, so that the record may claim it.
    ///
    /// The kernel reports a write that it lost once, and then forgets it (fsync(2)): after a
    /// failure nothing that was not synced before is ever claimed.
    func synchronize(
        _ body: @escaping @Sendable (PartFile) throws(FileError) -> Void
    ) async throws(TransferEnd) {
        guard let part else { throw .failed(FileError.vanished.failure) }
        let reached = stored
        do {
            try await onDisk { () throws(FileError) in try body(part) }
        } catch {
            stored = synced
            writer = nil
            self.part = nil
            throw error
        }
        synced = reached
    }

    /// The bytes on disk from the writer's position on are not those of the server: the record
    /// gives them up before they are overwritten.
    func cut() async throws(TransferEnd) {
        guard let writer else { return }
        let position = writer.writtenEnd
        stored.truncate(to: position)
        synced.truncate(to: position)
        try await commit(.checkpointed(synced))
        writer.cut()
    }

    /// Writes what the buffer holds, away from Swift's threads.
    private func flush(_ writer: SegmentWriter) async -> SegmentWriter.Step {
        await engine.disk.run(key: job.task.rawValue) { writer.flush() }
    }

    /// Brings the rest of the buffer into the file.
    func settle() async throws(TransferEnd) {
        guard let writer else { return }
        if await flush(writer) == .differs {
            try await cut()
            _ = await flush(writer)
        }
        if let failure = writer.failure { throw .failed(failure.failure) }
        if let written = writer.written { stored.insert(written) }
        self.writer = nil
    }

    /// The last checkpoint of a transfer that ends early.
    func keepWhatIsThere() async {
        guard part != nil else { return }
        if let writer {
            _ = await flush(writer)
            if let written = writer.written { stored.insert(written) }
        }
        writer = nil
        guard stored != recorded else { return }
        do throws(TransferEnd) {
            if stored != synced {
                try await synchronize { part throws(FileError) in try part.synchronizeData() }
            }
            try await commit(.checkpointed(synced))
        } catch {
            // What could not be synced or recorded is fetched again: it was never claimed.
        }
    }
}
