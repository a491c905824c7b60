// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

extension Engine {
    /// Has recorded what is about to appear at the new place of a file; false where the move is not
    /// wanted any more.
    package typealias MoveJournal = @Sendable (LocalFile) async throws -> Bool

    /// Carries out the move of a record's file, from the beginning or after a crash.
    ///
    /// Within a file system the file is renamed. To another one a partial file is copied, where it
    /// appears under its name only once all bytes are synced; the old one stays until the record
    /// knows the copy.
    ///
    /// - Parameters:
    ///   - record: no transfer has its file open.
    ///   - recording: has the file recorded that is about to appear.
    /// - Returns: what has become of it, to be recorded.
    /// - Throws: `CancellationError` where it was given up, and what `recording` throws.
    package func move(
        _ record: TaskRecord,
        recording: @escaping MoveJournal
    ) async throws -> MoveEvent {
        guard case .to(let place, let made) = record.move, let file = record.file else {
            return .failed(nil)
        }
        let move = FileMove(
            record: record,
            file: file,
            place: place,
            engine: self,
            recording: recording
        )
        let event: MoveEvent
        do {
            event = try await move.run(after: made)
        } catch let error as FileError {
            event = .failed(error.failureOfMove)
        } catch {
            restoreName(of: record)
            throw error
        }
        // The finished file holds its name by itself.
        if record.state == .completed {
            names.release(record.id)
        } else if case .failed = event {
            restoreName(of: record)
        }
        return event
    }

    /// Deletes a partial file if it is still ours; one that is gone is as good.
    func deletePart(
        _ file: LocalFile,
        in directory: String,
        of task: TaskID
    ) async throws(FileError) {
        do throws(FileError) {
            try await inFolder(directory, of: task) { folder throws(FileError) in
                _ = try folder.deletePart(file)
            }
        } catch {
            guard error.isGone else { throw error }
        }
    }

    /// Deletes what a move has left at the old place of a file; a file that is gone is as good.
    ///
    /// - Throws: `vanished`, `folderMoved` or `otherDrive` where the folder or its drive is not
    ///   there: nobody can say whether the file is.
    package func deleteLeftover(of record: TaskRecord) async throws(FileError) {
        guard case .from(let directory, let file) = record.move else { return }
        try await inFolder(directory, of: record.id) { folder throws(FileError) in
            let isDeleted = try folder.deletePart(file)
            if !isDeleted, folder.isElsewhere(file) { throw .otherDrive }
        }
    }
}

/// The move of one file.
private struct FileMove: Sendable {
    /// Gives up after this many names were taken by others while the file was on its way.
    private static let mostNames = 100
    /// Copied at a time: in between the move can be given up, and others get their turn.
    private static let slice: Int64 = 1 << 20

    let record: TaskRecord
    let file: LocalFile
    let place: Move.Place
    let engine: Engine
    let recording: Engine.MoveJournal

    private var isFinished: Bool { record.state == .completed }
    private var mayRename: Bool { !isFinished && record.request.onExisting == .rename }

    /// The name under which a file stands: the final one once it is complete.
    private func entry(of file: LocalFile) -> String { isFinished ? file.name : file.partName }

    func run(after made: LocalFile?) async throws -> MoveEvent {
        let target = try await openTarget(after: made)
        if let made, let arrived = try await settle(made, in: target) {
            return .arrived(arrived, leavesCopy: false)
        }
        guard let source = try await openSource() else {
            return isFinished ? .failed(FileError.vanished.failureOfMove) : .lost
        }
        if let moved = try await rename(from: source.folder, to: target) {
            return .arrived(moved, leavesCopy: false)
        }
        guard !isFinished else {
            return .failed(
                Failure(
                    .fileFailed,
                    "A finished file stays on its file system. Choose a folder there."
                )
            )
        }
        return try await copy(source, to: target)
    }

    // MARK: Steps

    private func onTarget<Value: Sendable>(
        _ body: @escaping @Sendable () throws(FileError) -> Value
    ) async throws -> Value {
        try await engine.disk.run(key: record.id.rawValue, in: place.directory, body)
    }

    /// Opens the new folder.
    ///
    /// - Throws: `Unsettled` where an earlier try may have moved the file there already.
    private func openTarget(after made: LocalFile?) async throws -> OpenFolder {
        do throws(FileError) {
            return try await engine.inFolder(place.directory, of: record.id) { $0 }
        } catch {
            guard made?.mark == file.mark, await !isInOldPlace() else { throw error }
            throw Unsettled()
        }
    }

    /// Whether the file surely still has its old name.
    private func isInOldPlace() async -> Bool {
        let (old, file) = (entry(of: file), file)
        let isThere = try? await engine.inFolder(record.request.directory, of: record.id) {
            folder throws(FileError) in try folder.has(old, as: file)
        }
        return isThere == true
    }

    /// Looks how far an earlier try has come.
    ///
    /// - Returns: the file, where it has its new name already; a copy is deleted instead, since
    ///   nobody knows whether it is whole.
    private func settle(_ made: LocalFile, in target: OpenFolder) async throws -> LocalFile? {
        let (new, old, file) = (entry(of: made), entry(of: file), file)
        let (directory, fileSystem) = (record.request.directory, engine.fileSystem)
        do {
            return try await onTarget { () throws(FileError) in
                guard let status = try target.status(of: new), status.isRegular,
                    target.isRecorded(status, as: made)
                else { return nil }
                guard made.mark == file.mark else {
                    try target.deletePart(made)
                    return nil
                }
                let source = try? OpenFolder(directory, fileSystem: fileSystem)
                try source?.takeAway(old, of: file)
                try target.synchronize()
                return made
            }
        } catch {
            throw Unsettled()
        }
    }

    private struct Source: Sendable {
        let folder: OpenFolder
        /// Nil for a finished file, which is not copied.
        let part: PartFile?
    }

    /// Opens what is to be moved; nil where it is not there any more.
    private func openSource() async throws -> Source? {
        let (file, isFinished) = (file, isFinished)
        // A folder that is not there may be on a drive that is not there: its file is not lost.
        return try await engine.inFolder(record.request.directory, of: record.id) {
            folder throws(FileError) in
            do throws(FileError) {
                guard isFinished else {
                    let part = try PartFile.reopen(file, in: folder)
                    // A copy that a restored home has: the next attempt has to take it over first.
                    guard part.copiedByteCount == nil else { throw .otherDrive }
                    return Source(folder: folder, part: part)
                }
                guard let status = try folder.status(of: file.name), status.isRegular,
                    folder.isRecorded(status, as: file)
                else { return nil }
                return Source(folder: folder, part: nil)
            } catch {
                guard error.isAbsence else { throw error }
                return nil
            }
        }
    }

    private func checkWanted(_ made: LocalFile) async throws {
        try Task.checkCancellation()
        guard try await recording(made) else { throw CancellationError() }
    }

    /// Gives the file its new name within its file system.
    ///
    /// - Returns: the file under a name that lasts; nil where the place is on another file system.
    private func rename(
        from source: OpenFolder,
        to target: OpenFolder
    ) async throws -> LocalFile? {
        for _ in 0..<Self.mostNames {
            let name = try await reserveName(in: target)
            let moved = LocalFile(name: name, fileSystem: file.fileSystem, mark: file.mark)
            try await checkWanted(moved)
            let (old, new, file) = (entry(of: file), entry(of: moved), file)
            let outcome = try await onTarget { () throws(FileError) -> Renaming in
                do throws(FileError) {
                    try source.fileSystem.moveKeeping(
                        old,
                        in: source.number,
                        to: new,
                        in: target.number
                    )
                } catch {
                    // An answer that was lost on the way says nothing of what was done.
                    guard let found = try? target.has(new, as: moved) else { return .unknown }
                    if !found {
                        switch error.errno {
                        case EEXIST: return .taken
                        case EXDEV: return .impossible
                        default: throw error
                        }
                    }
                }
                do throws(FileError) {
                    try source.takeAway(old, of: file)
                    try target.synchronize()
                    try source.synchronize()
                    return .done
                } catch {
                    return .unknown
                }
            }
            switch outcome {
            case .done: return moved
            case .impossible: return nil
            case .unknown: throw Unsettled()
            case .taken: if !mayRename { throw FileError.nameTaken }
            }
        }
        throw FileError.nameTaken
    }

    private func reserveName(in target: OpenFolder) async throws -> String {
        let (names, task, mayRename, file) = (engine.names, record.id, mayRename, file)
        let wanted = FileName(trusted: place.name)
        return try await onTarget { () throws(FileError) in
            if mayRename {
                return try names.reserve(wanted, in: target, for: task, own: file).text
            }
            let isFree = try names.reserve(exactly: wanted.text, in: target, for: task, own: file)
            guard isFree else { throw .nameTaken }
            return wanted.text
        }
    }

    /// How a rename came out.
    private enum Renaming {
        case done, taken
        /// The place is on another file system.
        case impossible
        /// Only another look can tell.
        case unknown
    }

    /// What stands where is not known: the intent stays, and the move is tried again.
    private struct Unsettled: Error {}

    // MARK: To another file system

    private func copy(_ source: Source, to target: OpenFolder) async throws -> MoveEvent {
        guard let part = source.part else { throw FileError.vanished }
        let (names, task, mayRename) = (engine.names, record.id, mayRename)
        let missing = record.segments.byteCount
        let wanted = FileName(trusted: place.name)
        var shown = try await onTarget { () throws(FileError) -> PartFile in
            guard try target.freeBytes() >= SpacePolicy.needed(for: missing) else {
                throw .system(ENOSPC, "statvfs")
            }
            return try names.create([wanted], in: target, for: task, mayRename: mayRename) {
                name throws(FileError) in try PartFile.createUnnamed(name, in: target)
            }
        }
        do {
            var isFilled = false
            for _ in 0..<Self.mostNames {
                let copy = shown
                try await checkWanted(copy.file)
                if !isFilled { try await fill(copy, from: part) }
                let next = try await onTarget { () throws(FileError) in
                    try names.appear(copy, for: task, mayRename: mayRename)
                }
                guard let next else {
                    try await onTarget { () throws(FileError) in try target.synchronize() }
                    return .arrived(copy.file, leavesCopy: true)
                }
                // Where no unnamed file can get a name, another was made with one.
                isFilled = next.descriptor === copy.descriptor
                shown = next
            }
            throw FileError.nameTaken
        } catch {
            let copy = shown
            do {
                _ = try await onTarget { () throws(FileError) in try target.deletePart(copy.file) }
            } catch {
                throw Unsettled()
            }
            throw error
        }
    }

    /// Copies the bytes that the record claims, and brings them to the disk.
    ///
    /// Each file system is read or written on its own thread: a slow one holds up nothing of the
    /// other.
    private func fill(_ copy: PartFile, from part: PartFile) async throws {
        for range in record.segments.ranges {
            var offset = range.first
            while offset < range.end {
                try Task.checkCancellation()
                let (start, end) = (offset, min(offset + Self.slice, range.end))
                let bytes = try await engine.disk.readForDigests(in: part.folder.path) {
                    () throws(FileError) in
                    let bytes = try part.bytes(from: start, to: end)
                    guard Int64(bytes.count) == end - start else { throw .shortened }
                    return bytes
                }
                try await onTarget { () throws(FileError) in
                    let result = bytes.withUnsafeBytes { bytes in
                        Result { () throws(FileError) in try copy.write(bytes, at: start) }
                    }
                    try result.get()
                }
                offset = end
            }
        }
        let byteCount = record.segments.byteCount
        try await onTarget { () throws(FileError) in
            copy.carry(byteCount: byteCount)
            try copy.synchronize()
        }
    }
}

extension OpenFolder {
    /// Whether this very file stands under the name.
    fileprivate func has(_ name: String, as file: LocalFile) throws(FileError) -> Bool {
        guard let status = try status(of: name) else { return false }
        return status.isRegular && isRecorded(status, as: file)
    }

    /// Takes the old name away from a file that has its new one as well, where a rename was made
    /// of two steps.
    fileprivate func takeAway(_ name: String, of file: LocalFile) throws(FileError) {
        if try has(name, as: file) { try fileSystem.unlink(name, in: number) }
    }
}

extension FileSystem {
    /// Moves a name to another folder where the new one is free, and never replaces anything;
    /// renameat2(2), or linkat(2) where the file system lacks that.
    func moveKeeping(
        _ old: String,
        in folder: Int32,
        to new: String,
        in target: Int32
    ) throws(FileError) {
        do throws(FileError) {
            try renameToFree(old, in: folder, as: new, in: target)
        } catch {
            guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(error.errno) else { throw error }
            try link(old, in: folder, as: new, in: target)
            try unlink(old, in: folder)
        }
    }
}

extension FileError {
    /// The failure, in words for a file that stays where it is.
    fileprivate var failureOfMove: Failure {
        var failure = failure
        failure.neededSpace = nil
        failure.isTransient = false
        switch self {
        case .vanished, .folderMoved, .otherDrive, .notOurs, .shortened:
            failure.message =
                "The file could not be moved, because a folder or the file itself is not there."
        case .system, .nameTaken: break
        }
        failure.message += " The file stays in its old folder."
        return failure
    }
}
