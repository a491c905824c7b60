// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// The file of one attempt on its disk: the folder, the partial file, and the names that it gets.
///
/// Belongs to its transfer's actor; what waits for the disk runs on the disk's threads.
final class TargetFile {
    /// What an earlier attempt has left.
    enum Remains {
        case nothing
        /// The partial file, with so many bytes.
        case partial(Int64)
        /// A copy of it with so many bytes, made when the record claimed `byteCount` of them.
        case copy(Int64, byteCount: Int64)
        /// The complete file under its name, with so many bytes.
        case published(Int64)
    }

    /// Files below this (1 MiB) are written at once; a reservation would only cost.
    private static let smallestReservation: Int64 = 1 << 20
    /// Whoever takes one name after the other away from under us wins in the end.
    private static let mostNames = 100

    /// What was recorded of it.
    private(set) var file: LocalFile?
    /// The partial file, open for reading and writing; nil where there is none, and after a failed
    /// sync.
    private(set) var part: PartFile?
    /// Opened at the first need: a small file needs it once, and all at once.
    private var folder: OpenFolder?
    /// The file is complete and has no name yet, and the record knows nothing of it.
    private(set) var isUnnamed = false
    /// The file was found under its final name: nothing is left to fetch.
    private(set) var isPublished = false

    let disk: TaskDisk
    private let job: TransferJob
    private let ledger: Ledger
    private let engine: Engine
    private let origins: (url: String, referrer: String?)

    init(_ job: TransferJob, home: URLReference, engine: Engine, ledger: Ledger) {
        self.job = job
        self.ledger = ledger
        self.engine = engine
        file = job.file
        disk = TaskDisk(engine.disk, for: job)
        origins = engine.origins(of: home, for: job.request)
    }

    /// Whether a first byte in the middle costs no time: some file systems fill what is before it.
    var hasHoles: Bool { folder?.traits.hasHoles != false }

    /// The longest name in bytes that the folder takes, as far as it is known.
    var nameLimit: Int { folder?.nameLimit ?? 255 }

    private var mayRename: Bool { job.request.onExisting == .rename }

    // MARK: What is there

    /// Opens the folder, and the partial file of an earlier attempt if it is still ours.
    func reopen() async throws(TransferEnd) -> Remains {
        guard let file else { return .nothing }
        let folder = try await openedFolder()
        // An earlier attempt may have given it its name, and could not say so.
        if let name = job.possibleName {
            let size = try await disk { () throws(FileError) in
                try folder.endPublication(of: file, as: name)
            }
            if let size {
                self.file?.name = name
                isPublished = true
                return .published(size)
            }
        }
        let found = try await disk { () throws(FileError) -> (PartFile, Int64)? in
            do throws(FileError) {
                let part = try PartFile.reopen(file, in: folder)
                return (part, try part.size())
            } catch {
                // Gone, or replaced by somebody: what stands there now is not touched.
                guard error.isAbsence else { throw error }
                return nil
            }
        }
        part = found?.0
        guard let (part, size) = found else {
            self.file = nil
            return .nothing
        }
        guard let byteCount = part.copiedByteCount else { return .partial(size) }
        self.file = part.file
        ledger.copy = part.file
        return .copy(size, byteCount: byteCount)
    }

    /// Has the partial file carry what the record has of it, so that a copy of it is known again.
    func carryRecord() async {
        let byteCount = ledger.segments.byteCount
        guard let part, byteCount > 0 else { return }
        await disk.run { part.carry(byteCount: byteCount) }
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

    /// Nothing more is written to the file: what it holds cannot be relied upon.
    func close() { part = nil }

    /// The attempt is over.
    func release() {
        // A name without a file is of use to nobody.
        if isUnnamed || (file == nil && job.file == nil) { engine.names.release(job.task) }
        part = nil
        folder = nil
    }

    /// The file is not to be given a name: its bytes are gone.
    private func drop(_ unnamed: PartFile) {
        if part === unnamed { part = nil }
    }

    // MARK: Room

    /// Makes sure that the rest of the file fits, and the reserve beside it.
    ///
    /// A full disk is no failed try: the bytes wait until there is room.
    ///
    /// - Parameters:
    ///   - total: the whole file; nil where nobody knows, and the reserve alone has to do.
    ///   - kept: the bytes that are on disk already.
    /// - Throws: a failure that says how much is needed.
    func checkSpace(for total: Int64?, keeping kept: Int64) async throws(TransferEnd) {
        let folder = try await openedFolder()
        // What an earlier attempt reserved for this file is not free, and not missing either.
        let part = part
        let (free, allocated) = try await disk { () throws(FileError) in
            (try folder.freeBytes(), try part?.allocatedBytes() ?? 0)
        }
        let missing = max(0, (total ?? 0) - max(kept, allocated))
        // One that is complete, or has its place already, takes nothing away from anybody.
        if total != nil, missing == 0 { return }
        try Self.check(free, for: missing)
    }

    private static func check(_ free: Int64, for missing: Int64) throws(TransferEnd) {
        let needed = SpacePolicy.needed(for: missing)
        guard free < needed else { return }
        throw .failed(
            Failure(
                .fileNoSpace,
                "The disk has \(free) bytes free, and \(needed) are needed: \(missing) that are still to"
                    + " come, and a reserve. Make room.",
                neededSpace: needed
            )
        )
    }

    /// Says of a disk that refused how much must be free before it is worth another try.
    ///
    /// Where there is room for all that is to come, room is not what is missing, or not for this
    /// user: a quota tells nobody when it has some again, so it is a failed try like others.
    ///
    /// - Parameters:
    ///   - failure: what the disk said; returned as it is where it is not about room.
    ///   - total: the whole file; nil where nobody knows.
    ///   - kept: the bytes that are on disk.
    /// - Returns: the failure to report.
    func measuringNeed(_ failure: Failure, total: Int64?, keeping kept: Int64) async -> Failure {
        guard failure.neededSpace == 0 else { return failure }
        var failure = failure
        // A small file that came at once has failed before anybody kept its folder.
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

    /// Chooses a name that nobody has, makes the file and has both recorded.
    func create(_ version: RemoteVersion, as wish: NameWish) async throws(TransferEnd) {
        let folder = try await openedFolder()
        let candidates = wish.names(limit: folder.nameLimit)
        let (names, task, mayRename) = (engine.names, job.task, mayRename)
        var shown = try await disk { () throws(FileError) in
            try names.create(candidates, in: folder, for: task, mayRename: mayRename) {
                name throws(FileError) in try PartFile.createUnnamed(name, in: folder)
            }
        }
        for _ in 0..<Self.mostNames {
            let made = shown
            do throws(TransferEnd) {
                // Recorded as ours first, and only then seen.
                try await ledger.commit(.opened(made.file, version, keeping: SegmentMap()))
                let next = try await disk { () throws(FileError) in
                    try names.appear(made, for: task, mayRename: mayRename)
                }
                guard let next else {
                    part = made
                    file = made.file
                    return
                }
                shown = next
            } catch {
                // Nobody may ever know that this file is ours: it goes now or never.
                _ = try? await disk { () throws(FileError) in
                    try made.folder.deletePart(made.file)
                }
                names.release(task)
                throw error
            }
        }
        throw .failed(FileError.nameTaken.failure)
    }

    /// Has the record give up all bytes, and empties the file.
    func beginAnew(_ version: RemoteVersion) async throws(TransferEnd) {
        guard let part, let file else { throw .failed(FileError.vanished.failure) }
        // Before the first of them is overwritten.
        try await ledger.commit(.opened(file, version, keeping: SegmentMap()))
        try await disk { () throws(FileError) in try part.truncate(to: 0) }
    }

    /// Reserves the disk's blocks for the whole file, where that is worth it.
    func reserve(_ total: Int64?) async throws(TransferEnd) {
        guard let part, let total, total >= Self.smallestReservation else { return }
        try await disk { () throws(FileError) in try part.reserve(upTo: total) }
    }

    /// Makes a file of a body that is there as a whole.
    ///
    /// A small file (at most 64 KiB) that comes in one go is never partial: it is made, filled and
    /// synced in one visit of the disk, without a name. Once the record knows it, it gets its final
    /// name. That takes two commits instead of three and two visits of the disk instead of six, and
    /// a crash in between leaves nothing behind.
    ///
    /// - Returns: false where the file system knows no files without a name.
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
            // Not by a visit of its own: others' syncs would come between the two.
            let folder: OpenFolder
            if let opened {
                folder = opened
            } else {
                folder = try OpenFolder(directory, fileSystem: system)
            }
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
    /// Gives the complete file its name, which lasts on return.
    ///
    /// - Parameter version: what is recorded of a file that arrived at once.
    /// - Returns: the name, and where the folder is now if somebody has moved it.
    /// - Throws: what the disk or the list says; the file has its old name then, or the next attempt
    ///   finds it.
    func publish(_ version: RemoteVersion) async throws(TransferEnd) -> (String, movedTo: String?) {
        let folder = try await openedFolder()
        let name =
            isUnnamed ? try await nameArrived(version, in: folder) : try await rename(in: folder)
        let newPath = folder.isMoved ? try await disk { folder.newPath } : nil
        return (name, newPath)
    }

    /// Gives the file what every complete one has, and brings all of it to the disk.
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
            part.stopCarrying()
            if let changed { part.setModificationTime(changed) }
        }
    }

    /// The time that the finished file gets; nil where it keeps that of the download.
    private func timeOfChange(_ version: RemoteVersion) -> WallTime? {
        engine.usesServerTime ? version.lastModified?.time : nil
    }

    /// Renames under the first free name; each is recorded before it is tried, and lasts before
    /// the next is recorded.
    private func rename(in folder: OpenFolder) async throws(TransferEnd) -> String {
        guard let file else { throw .failed(FileError.vanished.failure) }
        var name = file.name
        for _ in 0..<Self.mostNames {
            try await ledger.commit(.publishing(name: name))
            let (names, task, wanted, mayRename) = (engine.names, job.task, name, mayRename)
            let next = try await disk(syncing: .folder(folder)) {
                () throws(FileError) -> String? in
                do throws(FileError) {
                    _ = try folder.publish(file, as: wanted)
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

    /// Has the file that arrived recorded, and then gives it its name.
    private func nameArrived(
        _ version: RemoteVersion,
        in folder: OpenFolder
    ) async throws(TransferEnd) -> String {
        guard var arrived = part else { throw .failed(FileError.vanished.failure) }
        let (names, task, mayRename) = (engine.names, job.task, mayRename)
        for _ in 0..<Self.mostNames {
            do throws(TransferEnd) {
                try await ledger.commit(.arrived(arrived.file, version))
            } catch {
                // It goes with its descriptor, and nobody will ever know of it.
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
                // It has its name or is gone; the next attempt looks. What is seen counts until
                // then, and else nothing is claimed.
                if await !isShown(shown.file, in: folder) { drop(shown) }
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

    /// Whether a file stands under its final name, as far as the folder tells.
    private func isShown(_ file: LocalFile, in folder: OpenFolder) async -> Bool {
        let state = try? await disk { () throws(FileError) in
            try folder.publicationState(of: file, as: file.name)
        }
        guard case .published = state else { return false }
        return true
    }

    /// Publishes a copy that is made by name, where files without one cannot be given any.
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
    /// Gives an empty file all that a complete one has, but a name.
    fileprivate func fill(
        with body: [UInt8],
        from origins: (url: String, referrer: String?),
        changed: WallTime?
    ) throws(FileError) {
        let written = body.withUnsafeBytes { bytes in
            Result { () throws(FileError) in try write(bytes, at: 0) }
        }
        try written.get()
        try setFinalPermissions()
        recordOrigin(url: origins.url, referrer: origins.referrer)
        if let changed { setModificationTime(changed) }
    }
}
