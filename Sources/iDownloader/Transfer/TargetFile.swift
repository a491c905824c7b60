// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// The file of one attempt: its folder, the partial file, and its names.
///
/// Belongs to its transfer's actor; blocking work runs on the disk's threads.
final class TargetFile {
    /// The smallest file (1 MiB) for which blocks are reserved.
    private static let smallestReservation: Int64 = 1 << 20

    /// The file as the record describes it.
    private(set) var file: LocalFile?
    /// The partial file, open for reading and writing; nil if there is none, and after a failed
    /// sync.
    private(set) var part: PartFile?
    /// The folder, opened when it is first needed; nil before.
    private var folder: OpenFolder?
    /// Whether the file is complete, has no name yet, and is not recorded.
    private(set) var isUnnamed = false
    /// Whether the file was found under its final name, so that nothing is left to fetch.
    private(set) var isPublished = false

    let disk: TaskDisk
    private let job: TransferJob
    private let ledger: Ledger
    private let engine: Engine
    /// The origin that the file's extended attributes may name; none for a private download.
    private let origins: (url: String, referrer: String?)

    init(_ job: TransferJob, home: URLReference, engine: Engine, ledger: Ledger) {
        self.job = job
        self.ledger = ledger
        self.engine = engine
        file = job.record.file
        disk = TaskDisk(engine.disk, for: job)
        if job.request.isPrivate {
            origins = ("", nil)
        } else {
            let referrer = job.request.referrer.flatMap { try? URLReference($0) }
            origins = (home.withoutUserInfoAndQuery, referrer?.withoutUserInfoAndQuery)
        }
    }

    /// Whether the file system has sparse files.
    ///
    /// Others fill the space before a byte in the middle, which takes time.
    var hasHoles: Bool { folder?.traits.hasHoles != false }

    /// The longest name in bytes that the folder takes; 255 while that is unknown.
    var nameLimit: Int { folder?.nameLimit ?? 255 }

    private var mayRename: Bool { job.request.onExisting == .rename }

    // MARK: What is there

    /// Opens the folder, and the partial file of an earlier attempt if it is still idown's.
    ///
    /// - Returns: the size of the partial file, of a copy of it, or of the published file, in bytes;
    ///   nil if there is none of them.
    func reopen() async throws(TransferEnd) -> Int64? {
        guard let file else { return nil }
        let folder = try await openedFolder()
        // An earlier attempt may have published the file without being able to record that.
        if let name = job.possibleName {
            let size = try await disk { () throws(FileError) in
                try folder.endPublication(of: file, as: name)
            }
            if let size {
                self.file?.name = name
                isPublished = true
                return size
            }
        }
        let found = try await disk { () throws(FileError) -> (PartFile, Int64)? in
            do throws(FileError) {
                let part = try PartFile.reopen(file, in: folder)
                return (part, try part.size())
            } catch {
                // The file is gone or was replaced. A file that stands there now is not touched.
                guard error.isAbsence else { throw error }
                return nil
            }
        }
        part = found?.0
        self.file = part?.file
        if part?.copiedByteCount != nil { ledger.copy = part?.file }
        return found?.1
    }

    /// Writes the number of recorded bytes into the file's extended attributes, by which a restored
    /// copy is recognised.
    func writeRecordAttribute() async {
        let byteCount = ledger.segments.byteCount
        guard let part, byteCount > 0 else { return }
        try? await disk { part.writeRecordAttribute(byteCount: byteCount) }
    }

    private func openedFolder() async throws(TransferEnd) -> OpenFolder {
        if let folder { return folder }
        let (system, directory) = (engine.fileSystem, job.request.directory)
        let opened = try await disk { () throws(FileError) in
            try OpenFolder(directory, fileSystem: system)
        }
        folder = opened
        return opened
    }

    /// Makes sure that the folder is there.
    func expectFolder() async throws(TransferEnd) { _ = try await openedFolder() }

    /// Closes the file, whose unsynced bytes cannot be relied upon.
    func close() { part = nil }

    /// Frees a reserved name without a file, and closes everything.
    func release() {
        if isUnnamed || (file == nil && job.record.file == nil) { engine.names.release(job.task) }
        part = nil
        folder = nil
    }

    // MARK: Room

    /// Checks that the rest of the file and the reserve fit on the disk.
    ///
    /// A full disk is no failed try: the task waits until there is room.
    ///
    /// - Parameters:
    ///   - total: the size of the whole file; nil if it is unknown, and then only the reserve has
    ///     to fit.
    ///   - kept: the number of bytes on disk already.
    /// - Throws: a failure that says how much is needed.
    func checkSpace(for total: Int64?, keeping kept: Int64) async throws(TransferEnd) {
        let folder = try await openedFolder()
        // Blocks that an earlier attempt reserved for this file count neither as free nor as
        // missing.
        let part = part
        let (free, allocated) = try await disk { () throws(FileError) in
            (try folder.freeBytes(), try part?.allocatedBytes() ?? 0)
        }
        let missing = max(0, (total ?? 0) - max(kept, allocated))
        // A file that is complete, or whose blocks are reserved, needs no more room.
        if total != nil, missing == 0 { return }
        try Self.check(free, for: missing)
    }

    private static func check(_ free: Int64, for missing: Int64) throws(TransferEnd) {
        let needed = SpacePolicy.needed(for: missing)
        guard free < needed else { return }
        let text =
            free == 0
            ? "The disk is full, or has so many files that it takes no further one. Delete some files."
            : "The disk has \(free) bytes free, and \(needed) are needed: \(missing) that are still to"
                + " come, and a reserve. Make room."
        throw .failed(Failure(.fileNoSpace, text, neededSpace: needed))
    }

    /// Adds to a full disk's failure how much must be free before another try.
    ///
    /// If there is room for the rest of the file, a quota may be full. Nothing tells when a quota
    /// has room again, so that this is a failed try like others.
    ///
    /// - Parameters:
    ///   - failure: the disk's failure; returned unchanged if it is not about room.
    ///   - total: the size of the whole file; nil if it is unknown.
    ///   - kept: the number of bytes on disk.
    /// - Returns: the failure to report.
    func measuringNeed(_ failure: Failure, total: Int64?, keeping kept: Int64) async -> Failure {
        guard failure.neededSpace == 0 else { return failure }
        var failure = failure
        // A small file may have failed before its folder was opened here.
        let (part, folder) = (part, try? await openedFolder())
        let looked = try? await disk { () throws(FileError) in
            (free: try folder?.freeBytes(), allocated: try part?.allocatedBytes())
        }
        let there = max(kept, looked?.allocated ?? 0)
        let needed = SpacePolicy.needed(for: max(0, (total ?? there) - there))
        if let free = looked?.free, free >= needed {
            failure.neededSpace = nil
            failure.isTransient = true
            failure.message += " The disk shows \(free) free bytes, though."
        } else {
            failure.neededSpace = needed
        }
        return failure
    }

    // MARK: A new file

    /// Chooses a free name, makes the file, and records both.
    ///
    /// - Parameters:
    ///   - version: what the server says of the file.
    ///   - wish: the sources of the name; nil for the name that the file has had so far.
    /// - Throws: the failure of the disk or the list.
    func create(_ version: RemoteVersion, as wish: NameWish?) async throws(TransferEnd) {
        let folder = try await openedFolder()
        let before = (file?.name).map { [FileName(trusted: $0)] } ?? []
        let candidates = wish?.names(limit: folder.nameLimit) ?? before
        let (names, task, mayRename) = (engine.names, job.task, mayRename)
        var shown = try await disk { () throws(FileError) in
            try names.create(candidates, in: folder, for: task, mayRename: mayRename) {
                name throws(FileError) in try PartFile.createUnnamed(name, in: folder)
            }
        }
        for _ in 0..<NameReservations.mostCollisions {
            let made = shown
            do throws(TransferEnd) {
                // The record knows the file before it appears in the folder.
                try await ledger.commit(.opened(made.file, version, keeping: SegmentMap()))
                let next = try await disk { () throws(FileError) in
                    made.writeRecordAttribute(byteCount: 0)
                    return try names.appear(made, for: task, mayRename: mayRename)
                }
                guard let next else {
                    part = made
                    file = made.file
                    return
                }
                shown = next
            } catch {
                // The record may never know this file, so that it is deleted now.
                _ = try? await disk { () throws(FileError) in
                    try made.folder.deletePart(made.file)
                }
                if let file {
                    names.restore(file.name, in: folder.path, for: task)
                } else {
                    names.release(task)
                }
                throw error
            }
        }
        throw .failed(FileError.nameTaken.failure)
    }

    /// Records that no byte is stored any more, and makes an empty file in place of the old one.
    ///
    /// The old file is deleted and not emptied: who has opened it keeps its bytes.
    func beginAnew(_ version: RemoteVersion) async throws(TransferEnd) {
        guard part != nil, let file else { throw .failed(FileError.vanished.failure) }
        let folder = try await openedFolder()
        // The record comes first: it claims no byte that is deleted.
        try await ledger.commit(.opened(file, version, keeping: SegmentMap()))
        part = nil
        try await disk { () throws(FileError) in _ = try folder.deletePart(file) }
        try await create(version, as: nil)
    }

    /// Reserves blocks for the whole file, if it is large enough.
    func reserve(_ total: Int64?) async throws(TransferEnd) {
        guard let part, let total, total >= Self.smallestReservation else { return }
        try await disk { () throws(FileError) in try part.reserve(upTo: total) }
    }

    /// Makes a file of a body that is there as a whole.
    ///
    /// A small file (at most 64 KiB) that comes in one go is never partial: one job on the disk's
    /// thread makes it without a name, fills it and syncs it. It gets its final name once it is
    /// recorded. That takes two commits instead of three and two jobs instead of six, and a crash
    /// in between leaves nothing behind.
    ///
    /// - Returns: false if the file system has no unnamed files.
    func fill(
        with body: [UInt8],
        of version: RemoteVersion,
        as wish: NameWish
    ) async throws(TransferEnd) -> Bool {
        let (opened, system, directory) = (folder, engine.fileSystem, job.request.directory)
        let (names, task, mayRename) = (engine.names, job.task, mayRename)
        let (origins, changed) = (origins, timeOfChange(version))
        let (target, free, made) = try await disk.syncing {
            () throws(FileError) -> ((OpenFolder, Int64, PartFile?), DiskSync?) in
            // Opened in the same job, so that no other task's sync comes in between.
            let folder =
                if let opened { opened } else { try OpenFolder(directory, fileSystem: system) }
            let free = try folder.freeBytes()
            guard free >= SpacePolicy.needed(for: Int64(body.count)) else {
                return ((folder, free, nil), nil)
            }
            let made = try names.create(
                wish.names(limit: folder.nameLimit),
                in: folder,
                for: task,
                mayRename: mayRename
            ) { name throws(FileError) in try PartFile.unnamed(name, in: folder) }
            try made?.fill(with: body, from: origins, changed: changed)
            return ((folder, free, made), made.map { .file($0) })
        }
        folder = target
        guard let made else {
            try Self.check(free, for: Int64(body.count))
            return false
        }
        part = made
        file = made.file
        isUnnamed = true
        return true
    }
}

// MARK: - Its names

extension TargetFile {
    /// Publishes the complete file; its name is durable on return.
    ///
    /// - Parameter version: the version to record for a small file that came in one go.
    /// - Returns: the name, and the folder's present path if it was moved.
    /// - Throws: the failure of the disk or the list. The file then has its old name, or the next
    ///   attempt finds it.
    func publish(_ version: RemoteVersion) async throws(TransferEnd) -> (String, movedTo: String?) {
        let folder = try await openedFolder()
        let name =
            isUnnamed ? try await nameArrived(version, in: folder) : try await rename(in: folder)
        let newPath = folder.isMoved ? try await disk { folder.newPath } : nil
        return (name, newPath)
    }

    /// Sets permissions, time and attributes of the complete file, and syncs it.
    func complete(
        _ part: PartFile,
        of version: RemoteVersion,
        size: Int64
    ) async throws(TransferEnd) {
        let (origins, changed) = (origins, timeOfChange(version))
        try await disk(syncing: .file(part)) { () throws(FileError) in
            try part.expectAllWritten()
            if try part.size() != size { try part.truncate(to: size) }
            try part.setFinalPermissions()
            part.recordOrigin(url: origins.url, referrer: origins.referrer)
            part.removeRecordAttribute()
            if let changed { part.setModificationTime(changed) }
        }
    }

    /// The modification time that the finished file gets; nil if it keeps that of the download.
    private func timeOfChange(_ version: RemoteVersion) -> WallTime? {
        engine.usesServerTime ? version.lastModified?.time : nil
    }

    /// Renames the file to the first free name.
    ///
    /// Each name is recorded before it is tried, and its failure is durable before the next name is
    /// recorded.
    private func rename(in folder: OpenFolder) async throws(TransferEnd) -> String {
        guard let file else { throw .failed(FileError.vanished.failure) }
        var name = file.name
        for _ in 0..<NameReservations.mostCollisions {
            try await ledger.commit(.publishing(name: name))
            let (names, task, wanted, mayRename) = (engine.names, job.task, name, mayRename)
            let next = try await disk(syncing: .folder(folder)) {
                () throws(FileError) -> String? in
                do throws(FileError) {
                    try folder.publish(file, as: wanted)
                    return nil
                } catch {
                    guard case .nameTaken = error, mayRename else { throw error }
                    let other = FileName(trusted: file.name)
                    return try names.reserve(other, in: folder, for: task, own: file).text
                }
            }
            guard let next else { return name }
            name = next
        }
        throw .failed(FileError.nameTaken.failure)
    }

    /// Records the small file that came in one go, and then gives it its name.
    private func nameArrived(
        _ version: RemoteVersion,
        in folder: OpenFolder
    ) async throws(TransferEnd) -> String {
        guard var arrived = part else { throw .failed(FileError.vanished.failure) }
        let (names, task, mayRename) = (engine.names, job.task, mayRename)
        for _ in 0..<NameReservations.mostCollisions {
            do throws(TransferEnd) {
                try await ledger.commit(.arrived(arrived.file, version))
            } catch {
                // The file disappears when its descriptor is closed; no record knows it.
                names.release(task)
                throw error
            }
            let shown = arrived
            isUnnamed = false
            let next: PartFile?
            do throws(TransferEnd) {
                next = try await disk(syncing: .folder(folder)) {
                    () throws(FileError) -> PartFile? in
                    try names.appear(shown, for: task, mayRename: mayRename) {
                        part throws(FileError) in try part.publishUnnamed() ? nil : part
                    }
                }
            } catch {
                // The file has its name or is gone, and the next attempt looks. Until then it
                // counts only if it is seen in the folder.
                let isThere = try? await disk { () throws(FileError) in
                    try folder.status(of: shown.file.name, as: shown.file) != nil
                }
                if isThere != true { part = nil }
                throw error
            }
            guard let next else { return shown.file.name }
            if next === shown { return try await nameCopy(of: shown, version, in: folder) }
            isUnnamed = true
            arrived = next
            part = next
            file = next.file
        }
        throw .failed(FileError.nameTaken.failure)
    }

    /// Publishes a named copy, if the file system cannot give names to unnamed files.
    private func nameCopy(
        of unnamed: PartFile,
        _ version: RemoteVersion,
        in folder: OpenFolder
    ) async throws(TransferEnd) -> String {
        let (origins, changed) = (origins, timeOfChange(version))
        let copy = try await disk.syncing { () throws(FileError) -> (PartFile, DiskSync?) in
            let body = try unnamed.bytes(from: 0, to: unnamed.size())
            let copy = try PartFile.create(unnamed.file.name, in: folder)
            do throws(FileError) {
                try copy.fill(with: body, from: origins, changed: changed)
            } catch {
                _ = try? folder.deletePart(copy.file)
                throw error
            }
            return (copy, .file(copy))
        }
        do throws(TransferEnd) {
            try await ledger.commit(.arrived(copy.file, version))
        } catch {
            // Nobody may ever know that this file is ours: it goes now or never.
            _ = try? await disk { () throws(FileError) in try folder.deletePart(copy.file) }
            throw error
        }
        part = copy
        file = copy.file
        return try await rename(in: folder)
    }
}

extension PartFile {
    /// Fills an unnamed file, and sets its permissions, time and attributes.
    fileprivate func fill(
        with body: [UInt8],
        from origins: (url: String, referrer: String?),
        changed: WallTime?
    ) throws(FileError) {
        try write(body, at: 0)
        try setFinalPermissions()
        recordOrigin(url: origins.url, referrer: origins.referrer)
        if let changed { setModificationTime(changed) }
    }
}
