// SPDX-License-Identifier: Apache-2.0

import iDownState

extension Transfer {
    /// Files below this are written at once; a reservation would only cost.
    static let smallestPreallocation: Int64 = 1 << 20

    /// Opens the folder, and the partial file of an earlier attempt if it is still ours.
    func reopen() async throws(TransferEnd) {
        guard let file else { return }
        let folder = try await openedFolder()
        if try await wasPublished(file, in: folder) { return }
        part = try await onDisk { () throws(FileError) in
            do throws(FileError) {
                return try PartFile.reopen(file, in: folder)
            } catch {
                // Gone, or replaced by somebody: what stands there now is not touched.
                switch error {
                case .vanished, .notOurs: return nil
                case .system, .nameTaken, .shortened, .folderMoved, .otherDrive: throw error
                }
            }
        }
        if let part {
            // A crash may have cut it shorter than what the record once knew.
            let size = try await onDisk { () throws(FileError) in try part.size() }
            synced.truncate(to: size)
            stored = synced
            // It may be changed from here on, so that nobody may publish it as it is.
            if job.possibleName != nil {
                try await commit(.opened(file, known, keeping: synced))
            }
        } else {
            self.file = nil
            forget()
            // Whoever waits to hear whether it has its name need not wait for the server.
            if job.possibleName != nil {
                try await commit(.opened(file, known, keeping: SegmentMap()))
            }
        }
        // Known beforehand, it need not cost a request.
        if let total = known.total { try await checkSpace(for: total, keeping: stored.byteCount) }
    }

    /// The target folder, opened at the first need: a small file needs it once, and all at once.
    func openedFolder() async throws(TransferEnd) -> OpenFolder {
        if let folder { return folder }
        let (system, directory) = (engine.fileSystem, job.request.directory)
        let opened = try await onDisk { () throws(FileError) in
            try OpenFolder(directory, fileSystem: system)
        }
        folder = opened
        return opened
    }

    /// Whether the file stands complete under its name already: an earlier attempt gave it that and
    /// could not say so.
    private func wasPublished(
        _ file: LocalFile,
        in folder: OpenFolder
    ) async throws(TransferEnd) -> Bool {
        guard let name = job.possibleName else { return false }
        let size = try await onDisk { () throws(FileError) in
            try folder.endPublication(of: file, as: name)
        }
        guard let size else { return false }
        self.file?.name = name
        synced = SegmentMap(ByteRange(first: 0, length: size).map { [$0] } ?? [])
        stored = synced
        isPublished = true
        return true
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
        try check(size: version.total)
        try await checkSpace(for: version.total, keeping: 0)
        let before = stored.byteCount
        forget()
        own(by: connection.source, after: before)
        isOfOneAnswer = true
        findings.tags.beginFile(givingUp: known.differsByTagAlone(from: version) ? before : 0)
        know(version, from: connection)
        if let part, let file {
            // The record gives up the old bytes before the first of them is overwritten.
            try await commit(.opened(file, version, keeping: SegmentMap()))
            try await onDisk { () throws(FileError) in try part.truncate(to: 0) }
        } else {
            try await create(version, connection.sink.head, connection.hop)
        }
        try await preallocate()
        return part.map { SegmentWriter($0, from: 0, to: version.total ?? endOfInterest) }
    }

    /// Goes on in the same version: behind what is there, or comparing with it from zero.
    private func goOn(
        _ version: RemoteVersion,
        from start: Int64,
        to end: Int64?,
        comparing compared: SegmentMap = SegmentMap()
    ) async throws(TransferEnd) -> SegmentWriter {
        guard let part, let file else { throw .failed(FileError.vanished.failure) }
        try check(size: version.total)
        isOfOneAnswer = start == 0 && compared == stored
        known = version
        if version != recordedVersion {
            try await commit(.opened(file, version, keeping: synced))
        }
        try await checkSpace(for: version.total, keeping: stored.byteCount)
        return SegmentWriter(part, from: start, to: end, comparing: compared)
    }

    private func preallocate() async throws(TransferEnd) {
        guard let part, let total = known.total, total >= Self.smallestPreallocation else { return }
        try await onDisk { () throws(FileError) in try part.reserve(upTo: total) }
    }

    func forget() {
        hasEqualSamples = false
        synced = SegmentMap()
        stored = SegmentMap()
    }
}
