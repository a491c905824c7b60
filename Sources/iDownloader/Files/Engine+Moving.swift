// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

extension Engine {
    /// Records the file that is about to appear in the new folder; returns false if the move was
    /// given up.
    package typealias MoveJournal = @Sendable (LocalFile) async throws -> Bool

    /// Moves the file of a task to its new folder, from the beginning or after a crash.
    ///
    /// Within one file system the file is renamed. A partial file is copied to another file system,
    /// and the copy gets its name once all bytes are synced. The old file stays until the record
    /// tells that the copy is complete, and is deleted only while the copy is there: somebody may
    /// delete the new folder meanwhile.
    ///
    /// - Parameters:
    ///   - record: the task, whose file no transfer has open.
    ///   - recording: records the file that is about to appear.
    /// - Returns: the outcome, which the caller records.
    /// - Throws: `CancellationError` if the move was given up, and what `recording` throws.
    package func move(
        _ record: TaskRecord,
        recording: @escaping MoveJournal
    ) async throws -> MoveEvent {
        guard let step = record.move, let place = step.destination, let file = record.file else {
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
            event = try await move.run(step)
        } catch let error as FileError {
            event = .failed(error.failureOfMove)
        } catch {
            restoreName(of: record)
            throw error
        }
        // A finished file keeps its name by existing: no reservation is needed.
        if record.state == .completed {
            names.release(record.id)
        } else if case .failed = event {
            restoreName(of: record)
        }
        return event
    }

    /// Deletes a partial file if idown made it, so that no power cut brings it back.
    ///
    /// It succeeds if the file is gone, or its folder or drive is; with `isLeftover` it throws where the
    /// folder or the drive is gone, as the file may still exist.
    func deletePart(
        _ file: LocalFile,
        in directory: String,
        of task: TaskID,
        isLeftover: Bool = false
    ) async throws(FileError) {
        let fileSystem = fileSystem
        do throws(FileError) {
            try await disk.runSyncing(key: task.rawValue, in: directory) {
                () throws(FileError) -> (Void, DiskSync?) in
                let folder = try OpenFolder(directory, fileSystem: fileSystem)
                if try folder.deletePart(file) { return ((), .folder(folder)) }
                if isLeftover, folder.isElsewhere(file) { throw .otherDrive }
                return ((), nil)
            }
        } catch {
            guard error.isGone, !isLeftover else { throw error }
        }
    }

    /// Deletes the file that a move by copy left in the old folder; throws if that folder is not there.
    package func deleteLeftover(of record: TaskRecord) async throws(FileError) {
        guard case .from(let directory, let file) = record.move else { return }
        try await deletePart(file, in: directory, of: record.id, isLeftover: true)
    }
}

/// The move of one file.
private struct FileMove: Sendable {
    /// Bytes copied in one go.
    ///
    /// Between two slices the move can be given up, and other work runs on the disk thread.
    private static let slice: Int64 = 1 << 20

    let record: TaskRecord
    let file: LocalFile
    let place: Move.Place
    let engine: Engine
    let recording: Engine.MoveJournal

    private var isFinished: Bool { record.state == .completed }
    private var mayRename: Bool { !isFinished && record.request.onExisting == .rename }

    /// Returns the name of the file in its folder: the final name if complete, else the partial
    /// name.
    private func entry(of file: LocalFile) -> String { isFinished ? file.name : file.partName }

    func run(_ step: Move) async throws -> MoveEvent {
        switch step {
        case .to(_, let made): try await begin(after: made)
        case .copied(_, let copy): try await replaceOriginal(by: copy)
        case .from: .failed(nil)
        }
    }

    private func begin(after made: LocalFile?) async throws -> MoveEvent {
        let target = try await openTarget(after: made)
        if let made, let arrived = try await settle(made, in: target) {
            return .arrived(arrived, leavesCopy: false)
        }
        if try await isThere(in: target) { return .arrived(file, leavesCopy: false) }
        guard let source = try await openSource() else {
            guard isFinished else { return .lost }
            return .failed(.goneBeforeMove)
        }
        do {
            let moved = try await rename(from: source.folder, to: target)
            return .arrived(moved, leavesCopy: false)
        } catch FileError.system(EXDEV, _) {
            guard !isFinished else {
                let text = "A finished file stays on its file system. Choose a folder there."
                return .failed(Failure(.fileFailed, text))
            }
            return try await copy(source.part, to: target)
        }
    }

    // MARK: Steps

    private func onTarget<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await engine.disk.run(key: record.id.rawValue, in: place.directory, body)
    }

    /// Opens the new folder.
    ///
    /// - Throws: `Unsettled` if an earlier try may already have moved the file there.
    private func openTarget(after made: LocalFile?) async throws -> OpenFolder {
        do throws(FileError) {
            return try await engine.inFolder(place.directory, of: record.id) { $0 }
        } catch {
            guard made?.mark == file.mark,
                (try? await find(file, in: record.request.directory)) != true
            else { throw error }
            throw Unsettled()
        }
    }

    /// Whether the file is in the new folder already, since the user has renamed or moved its
    /// folder, or has copied the folder and deleted the old one.
    private func isThere(in target: OpenFolder) async throws -> Bool {
        guard place.name == file.name, place.directory != record.request.directory else {
            return false
        }
        let (name, file, isFinished) = (entry(of: file), file, isFinished)
        let isOriginal = try await onTarget { () throws(FileError) -> Bool? in
            guard let status = try target.status(of: name), status.isRegular else { return nil }
            if target.isRecorded(status, as: file) { return true }
            // The next attempt compares a copy with the server's bytes, and takes it over.
            return !isFinished && target.hasCopy(of: file, status) ? false : nil
        }
        guard let isOriginal else { return false }
        do {
            return try await find(file, in: record.request.directory) != true
        } catch {
            // The file of which this is a copy may still be there.
            return isOriginal
        }
    }

    /// Finishes an interrupted rename, or deletes an interrupted copy.
    ///
    /// - Returns: the file if it already has its new name; nil if the move starts again. A copy is
    ///   deleted because it may be incomplete.
    private func settle(_ made: LocalFile, in target: OpenFolder) async throws -> LocalFile? {
        let (new, old, file) = (entry(of: made), entry(of: file), file)
        let (directory, fileSystem) = (record.request.directory, engine.fileSystem)
        do {
            return try await onTarget { () throws(FileError) in
                guard try target.status(of: new, as: made) != nil else { return nil }
                guard made.mark == file.mark else {
                    try target.deletePart(made)
                    return nil
                }
                let source = try? OpenFolder(directory, fileSystem: fileSystem)
                try source?.takeAway(old, of: file, nowNamed: new, in: target)
                try target.synchronize()
                return made
            }
        } catch {
            throw Unsettled()
        }
    }

    /// Opens the folder and the partial file to move; returns nil if the file is gone.
    ///
    /// `part` is nil for a finished file, which is never copied.
    private func openSource() async throws -> (folder: OpenFolder, part: PartFile?)? {
        let (file, isFinished) = (file, isFinished)
        // If the folder itself is missing, this throws: its drive may be disconnected, so the file
        // is not lost.
        return try await engine.inFolder(record.request.directory, of: record.id) {
            folder throws(FileError) -> (folder: OpenFolder, part: PartFile?)? in
            do throws(FileError) {
                guard isFinished else {
                    let part = try PartFile.reopen(file, in: folder)
                    // This is a copy from a restored home. The next attempt has to take it over
                    // first.
                    guard part.copiedByteCount == nil else { throw .otherDrive }
                    return (folder, part)
                }
                guard try folder.status(of: file.name, as: file) != nil else { return nil }
                return (folder, nil)
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
    /// - Returns: the file, whose new name is durable.
    /// - Throws: EXDEV if the new folder is on another file system; `Unsettled` if the outcome is
    ///   unknown until the folder is read again.
    private func rename(from source: OpenFolder, to target: OpenFolder) async throws -> LocalFile {
        for _ in 0..<NameReservations.mostCollisions {
            let name = try await reserveName(in: target)
            let moved = LocalFile(name: name, fileSystem: file.fileSystem, mark: file.mark)
            try await checkWanted(moved)
            let (old, new, file, mayRename) = (entry(of: file), entry(of: moved), file, mayRename)
            let isTaken = try await onTarget { () throws -> Bool in
                do throws(FileError) {
                    try source.move(old, to: new, in: target)
                } catch {
                    // The call may have succeeded although its result was lost on the way.
                    guard let isThere = try? target.status(of: new, as: moved) != nil else {
                        throw Unsettled()
                    }
                    if !isThere {
                        guard case .nameTaken = error, mayRename else { throw error }
                        return true
                    }
                }
                do throws(FileError) {
                    try source.takeAway(old, of: file, nowNamed: new, in: target)
                    try target.synchronize()
                    try source.synchronize()
                    return false
                } catch {
                    throw Unsettled()
                }
            }
            if !isTaken { return moved }
        }
        throw FileError.nameTaken
    }

    private func reserveName(in target: OpenFolder) async throws -> String {
        let (names, task, mayRename, file) = (engine.names, record.id, mayRename, file)
        let wanted = FileName(trusted: place.name)
        return try await onTarget { () throws(FileError) in
            try names.reserve(wanted, in: target, for: task, own: file, mayRename: mayRename).text
        }
    }

    /// Where the file is now is unknown: the recorded intent stays, and the move is tried again.
    private struct Unsettled: Error {}

    // MARK: To another file system

    private func copy(_ part: PartFile?, to target: OpenFolder) async throws -> MoveEvent {
        guard let part else { throw FileError.vanished }
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
            for _ in 0..<NameReservations.mostCollisions {
                let copy = shown
                try await checkWanted(copy.file)
                if !isFilled { try await fill(copy, from: part) }
                let next = try await onTarget { () throws(FileError) in
                    try names.appear(copy, for: task, mayRename: mayRename)
                }
                guard let next else {
                    try await onTarget { () throws(FileError) in try target.synchronize() }
                    return .copied(copy.file, record.segments)
                }
                // If an unnamed file cannot get a name here, `next` is a new, empty file that has
                // one.
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

    /// Deletes the original of a complete copy, if the copy is still there.
    private func replaceOriginal(by copy: LocalFile) async throws -> MoveEvent {
        let hasCopy = try await find(copy, in: place.directory)
        guard hasCopy == true else {
            switch (hasCopy, try await find(file, in: record.request.directory)) {
            case (_, true): return .failed(FileError.vanished.failureOfMove)
            case (false, false): return .lost
            case (_, nil), (_, false): throw Unsettled()
            }
        }
        engine.names.restore(copy.name, in: place.directory, for: record.id)
        do {
            let old = record.request.directory
            try await engine.deletePart(file, in: old, of: record.id, isLeftover: true)
            return .arrived(copy, leavesCopy: false)
        } catch {
            return .arrived(copy, leavesCopy: true)
        }
    }

    /// Returns whether a folder has a file; nil if the folder or its drive is missing.
    ///
    /// - Throws: `Unsettled` if the file system does not tell.
    private func find(_ part: LocalFile, in directory: String) async throws -> Bool? {
        let name = entry(of: part)
        do throws(FileError) {
            return try await engine.inFolder(directory, of: record.id) {
                folder throws(FileError) -> Bool? in
                if try folder.status(of: name, as: part) != nil { return true }
                return folder.isElsewhere(part) ? nil : false
            }
        } catch {
            guard error.isGone else { throw Unsettled() }
            return nil
        }
    }

    /// Copies the bytes that the record claims, and syncs them.
    ///
    /// Each file system is read or written on its own thread, so that a slow one does not hold up
    /// the other.
    private func fill(_ copy: PartFile, from part: PartFile) async throws {
        for range in record.segments.ranges {
            var offset = range.first
            while offset < range.end {
                try Task.checkCancellation()
                let (start, end) = (offset, min(offset + Self.slice, range.end))
                let bytes = try await engine.disk.digestThread(for: part.folder.path).run {
                    () throws(FileError) in
                    let bytes = try part.bytes(from: start, to: end)
                    guard Int64(bytes.count) == end - start else { throw .shortened }
                    return bytes
                }
                try await onTarget { () throws(FileError) in try copy.write(bytes, at: start) }
                offset = end
            }
        }
        let byteCount = record.segments.byteCount
        try await onTarget { () throws(FileError) in
            copy.writeRecordAttribute(byteCount: byteCount)
            try copy.synchronize()
        }
    }
}

extension OpenFolder {
    /// Removes the old name of a file that has its new name too, after a rename in two steps
    /// (linkat, unlinkat).
    ///
    /// Both may be one and the same name, which stays: the folder has two paths, by a mount, or its
    /// file system does not tell upper from lower case.
    fileprivate func takeAway(
        _ old: String,
        of file: LocalFile,
        nowNamed new: String,
        in target: OpenFolder
    ) throws(FileError) {
        guard let status = try status(of: old, as: file), status.linkCount > 1 else { return }
        // Another name that the user has made may count, too.
        let isSameFolder = try identity() == target.identity()
        guard !isSameFolder || old.lowercased() != new.lowercased() else { return }
        try fileSystem.unlink(old, in: number)
    }
}

extension FileError {
    /// The failure, with a message that says that the file stays in its old folder, unless it may
    /// be gone from there.
    fileprivate var failureOfMove: Failure {
        var failure = failure
        failure.neededSpace = nil
        failure.isTransient = false
        if failure.code == .fileVanished {
            failure.message =
                "The file could not be moved, because a folder or the file itself is not there."
        } else {
            failure.message += " The file stays in its old folder."
        }
        return failure
    }
}

extension Failure {
    /// The failure of a move or a new name where somebody has taken the finished file away.
    package static let goneBeforeMove = Failure(
        .fileVanished,
        "The file could not be moved, because it is gone. Retry downloads it again."
    )
}
