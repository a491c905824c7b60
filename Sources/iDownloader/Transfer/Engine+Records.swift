// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

// Work on the files of tasks that do not run.
extension Engine {
    /// Deletes a record's partial file, if it is still idown's, and copies that a move has made or
    /// left.
    ///
    /// Files that are gone already count as deleted.
    package func deletePartial(of record: TaskRecord) async throws(FileError) {
        if let file = record.file {
            try await deletePart(file, in: record.request.directory, of: record.id)
        }
        switch record.move {
        case .to(let place, let made?), .copied(let place, let made):
            try await deletePart(made, in: place.directory, of: record.id)
        case .from(let directory, let left):
            try await deletePart(left, in: directory, of: record.id)
        case .to(_, nil), nil:
            break
        }
    }

    /// Moves a record's finished file into the trash.
    ///
    /// A file that is gone, or is not idown's any more, is no error.
    package func moveToTrash(fileOf record: TaskRecord, dataHome: String) async throws(FileError) {
        guard record.state == .completed, let file = record.file else { return }
        let (directory, fileSystem) = (record.request.directory, fileSystem)
        try await disk.run(key: record.id.rawValue, in: directory) { () throws(FileError) in
            _ = try Trash(dataHome: dataHome, fileSystem: fileSystem)
                .put(file, from: directory, at: Glibc.time(nil))
        }
    }

    /// Reserves the recorded name of a task's file again.
    package func restoreName(of record: TaskRecord) {
        guard let file = record.file else { return }
        names.restore(file.name, in: record.request.directory, for: record.id)
    }

    /// Compares a record with its partial file, and reserves the file's name again.
    ///
    /// - Returns: the event to record; nil if the file system does not tell. The transfer looks
    ///   again before it relies on the file.
    package func measurePartial(of record: TaskRecord) async -> Event? {
        guard let file = record.file else { return nil }
        restoreName(of: record)
        // The file may be in its new place already.
        if record.isMoving { return nil }
        // The file may be published already; the next attempt or verb looks.
        if case .publish = record.intent { return nil }
        do throws(FileError) {
            return try await inFolder(record.request.directory, of: record.id) {
                folder throws(FileError) in
                .partialFound(size: try PartFile.reopen(file, in: folder).size())
            }
        } catch {
            // A folder that is not there may be on a drive that is not mounted.
            return error.isAbsence ? .partialFound(size: nil) : nil
        }
    }

    /// Looks whether a file whose publication was recorded has its final name.
    ///
    /// - Parameters:
    ///   - record: the task.
    ///   - isGivenUp: whether the task is to be given up, from which a missing drive must not keep
    ///     the user.
    /// - Returns: the event to record; nil if the file system does not tell.
    package func settlePublication(of record: TaskRecord, isGivenUp: Bool) async -> Event? {
        do throws(FileError) {
            return try await publication(of: record)
        } catch {
            return isGivenUp && error.isMissing ? .partialFound(size: nil) : nil
        }
    }

    /// Returns which of its names the file of a recorded publication has; gives it the final one
    /// before where `completes` is set and the name is free.
    private func publication(
        of record: TaskRecord,
        completes: Bool = false
    ) async throws(FileError) -> Event? {
        guard case .publish(let name) = record.intent, let file = record.file else { return nil }
        return try await inFolder(record.request.directory, of: record.id) {
            folder throws(FileError) in
            do throws(FileError) {
                if completes { try folder.publish(file, as: name) }
            } catch .nameTaken {
                // All bytes are stored: the next attempt publishes the file under another name.
            }
            if let size = try folder.endPublication(of: file, as: name) {
                return .publicationFound(name: name, size: size)
            }
            return .partialFound(size: try PartFile.reopen(file, in: folder).size())
        }
    }

    /// Carries out the intent that the last run of the service recorded.
    ///
    /// - Returns: the event to record; nil if the file system refuses for now, or if only a verb
    ///   may change the task.
    package func carryOutIntent(of record: TaskRecord) async -> Event? {
        do throws(FileError) {
            switch record.intent {
            case .publish:
                guard record.state.kind == .waiting else { return nil }
                return try await publication(of: record, completes: true)
            case .discard, .remove:
                try await deletePartial(of: record)
                return .partialDeleted
            case nil: return nil
            }
        } catch {
            // The drive of the folder or of the file may not be mounted.
            return error.isAbsence && !record.isDeleting ? .partialFound(size: nil) : nil
        }
    }

    /// Returns whether a path leads to a folder.
    package func isFolder(_ path: String) async -> Bool {
        let fileSystem = fileSystem
        return await disk.run(key: nil, in: path) {
            guard let place = try? fileSystem.resolve(path) else { return false }
            return (try? fileSystem.status(of: place, in: AT_FDCWD))?.isFolder == true
        }
    }

    /// Returns whether a file other than `own` has this name, or its partial file does.
    package func isTaken(
        _ name: String,
        in directory: String,
        own: LocalFile? = nil
    ) async -> Bool {
        let isFree = try? await inFolder(directory, of: nil) { folder throws(FileError) in
            try NameReservations.isFree(name, folder, own)
        }
        return isFree == false
    }

    /// Returns whether the finished file of a task is no longer in its folder; false where the folder
    /// cannot be looked at.
    package func isGone(fileOf record: TaskRecord) async -> Bool {
        guard let file = record.file else { return true }
        let isThere = try? await inFolder(record.request.directory, of: nil) {
            folder throws(FileError) in try folder.status(of: file.name, as: file) != nil
        }
        return isThere == false
    }

    /// Returns the device number of a folder's file system, and the free bytes on it; nil if the
    /// folder cannot be looked at.
    package func freeSpace(in directory: String) async -> (device: UInt64, bytes: Int64)? {
        try? await inFolder(directory, of: nil) { folder throws(FileError) in
            (try folder.identity().device, try folder.freeBytes())
        }
    }
}
