// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

// A small file (at most 64 KiB) that comes in one go is never partial: it is made, filled and
// synced in one visit of the disk, without a name. Once the record knows it, it gets its final
// name. That takes two commits instead of three and two visits of the disk instead of six, and a
// crash in between leaves nothing behind. A file that does not come at once, or has to match a
// digest, goes the way of all others.
extension Transfer {
    /// Whether the body of this request may be kept until all of it is there.
    func mayArrive(by route: Connection.Route) -> Bool {
        guard case .lead = route.role, case .whole = route.ask else { return false }
        return part == nil && file == nil && route.hop.url.isHTTP
    }

    /// Makes a file of a body that is there as a whole.
    ///
    /// - Returns: false where it has to go the way of all others: it is not all there, it is to be
    ///   held against a digest first, or the file system knows no files without a name.
    func arrive(
        _ version: RemoteVersion,
        by connection: Connection
    ) async throws(TransferEnd) -> Bool {
        let body = connection.sink.kept
        guard part == nil, file == nil, !body.isEmpty, version.total == Int64(body.count) else {
            return false
        }
        try check(size: version.total)
        forget()
        known = version
        guard !hasDigest else { return false }
        let wish = wantedName(connection.sink.head, connection.hop)
        let (opened, system, directory) = (folder, engine.fileSystem, job.request.directory)
        let (names, task) = (engine.names, job.task)
        let mayRename = job.request.onExisting == .rename
        let origins = engine.origins(of: home, referrer: job.request.referrer)
        let (target, outcome) = try await onDiskSyncing {
            () throws(FileError) -> ((OpenFolder, Arrival), DiskSync?) in
            // Not by a visit of its own: others' syncs would come between the two.
            let folder: OpenFolder
            if let opened {
                folder = opened
            } else {
                folder = try OpenFolder(directory, fileSystem: system)
            }
            let free = try folder.freeBytes()
            guard free >= Int64(body.count) + SpacePolicy.reserve else {
                return ((folder, .lacksSpace(free)), nil)
            }
            let made = try names.create(
                wish.names(limit: folder.nameLimit),
                in: folder,
                for: task,
                mayRename: mayRename
            ) { name throws(FileError) in try PartFile.unnamed(name, in: folder) }
            guard let made else { return ((folder, .isImpossible), nil) }
            try made.fill(with: body, from: origins)
            return ((folder, .made(made)), .file(made))
        }
        folder = target
        switch outcome {
        case .lacksSpace(let free):
            try Self.check(free, for: Int64(body.count))
            return false
        case .isImpossible:
            return false
        case .made(let made):
            part = made
            file = made.file
            isUnnamed = true
            stored = SegmentMap(ByteRange(first: 0, length: Int64(body.count)).map { [$0] } ?? [])
            synced = stored
            return true
        }
    }

    private enum Arrival {
        case made(PartFile)
        /// So many bytes are free.
        case lacksSpace(Int64)
        case isImpossible
    }

    /// Has the file that arrived recorded, and then gives it its name, which lasts on return.
    ///
    /// - Returns: the name.
    func nameArrived(in folder: OpenFolder) async throws(TransferEnd) -> String {
        guard var part else { throw .failed(FileError.vanished.failure) }
        let (names, task) = (engine.names, job.task)
        let mayRename = job.request.onExisting == .rename
        // Whoever takes one name after the other away from under us wins in the end.
        for _ in 0..<100 {
            do throws(TransferEnd) {
                try await commit(.arrived(part.file, known))
            } catch {
                // It goes with its descriptor, and nobody will ever know of it.
                names.release(task)
                throw error
            }
            let shown = part
            isUnnamed = false
            let next: PartFile?
            do throws(TransferEnd) {
                next = try await onDisk(syncing: .folder(folder)) {
                    () throws(FileError) -> PartFile? in
                    try names.appear(shown, for: task, mayRename: mayRename) {
                        part throws(FileError) in try part.publishUnnamed() ? nil : part
                    }
                }
            } catch {
                // It has its name or is gone; the next attempt looks. What is seen counts until
                // then, and else nothing is claimed.
                if await !isShown(shown.file, in: folder) {
                    forget()
                    self.part = nil
                }
                throw error
            }
            guard let next else { return shown.file.name }
            if next === shown { return try await nameCopy(of: shown, in: folder) }
            isUnnamed = true
            part = next
            self.part = next
            file = next.file
        }
        throw .failed(FileError.nameTaken.failure)
    }

    /// Whether a file stands under its final name, as far as the folder tells.
    private func isShown(_ file: LocalFile, in folder: OpenFolder) async -> Bool {
        let state = try? await onDisk { () throws(FileError) in
            try folder.publicationState(of: file, as: file.name)
        }
        guard case .published = state else { return false }
        return true
    }

    /// Publishes a copy that is made by name, where files without one cannot be given any.
    private func nameCopy(
        of unnamed: PartFile,
        in folder: OpenFolder
    ) async throws(TransferEnd) -> String {
        let size = Int(stored.prefixLength)
        let origins = engine.origins(of: home, referrer: job.request.referrer)
        let copy = try await onDiskSyncing {
            () throws(FileError) -> (PartFile, DiskSync?) in
            let body = try unnamed.bytes(upTo: size)
            let copy = try PartFile.create(unnamed.file.name, in: folder)
            do throws(FileError) {
                try copy.fill(with: body, from: origins)
            } catch {
                _ = try? folder.deletePart(copy.file)
                throw error
            }
            return (copy, .file(copy))
        }
        do throws(TransferEnd) {
            try await commit(.arrived(copy.file, known))
        } catch {
            // Nobody may ever know that this file is ours: it goes now or never.
            _ = try? await onDisk { () throws(FileError) in try folder.deletePart(copy.file) }
            throw error
        }
        part = copy
        file = copy.file
        return try await rename(copy.file, in: folder)
    }
}

extension PartFile {
    /// Gives an empty file all that a complete one has, but a name.
    fileprivate func fill(
        with body: [UInt8],
        from origins: (url: String, referrer: String?)
    ) throws(FileError) {
        let written = body.withUnsafeBytes { bytes in
            Result { () throws(FileError) in try write(bytes, at: 0) }
        }
        try written.get()
        try setFinalPermissions()
        recordOrigin(url: origins.url, referrer: origins.referrer)
    }
}
