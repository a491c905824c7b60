// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
package import iDownState

// What the service does to the files of tasks that do not run.
extension Engine {
    /// Deletes the partial file of a record, if it is still ours, and what a move of it has made or
    /// left elsewhere; what is gone is as good.
    package func deletePartial(of record: TaskRecord) async throws(FileError) {
        if let file = record.file {
            try await deletePart(file, in: record.request.directory, of: record.id)
        }
        switch record.move {
        case .to(let place, let made?):
            try await deletePart(made, in: place.directory, of: record.id)
        case .from(let directory, let left):
            try await deletePart(left, in: directory, of: record.id)
        case .to(_, nil), nil:
            break
        }
    }

    /// Moves the finished file of a record into the trash; one that is gone, or is not ours any more,
    /// is as good.
    package func moveToTrash(
        fileOf record: TaskRecord,
        dataHome: String
    ) async throws(FileError) {
        guard record.state == .completed, let file = record.file else { return }
        let (directory, fileSystem) = (record.request.directory, fileSystem)
        try await disk.run(key: record.id.rawValue, in: directory) { () throws(FileError) in
            _ = try Trash(dataHome: dataHome, fileSystem: fileSystem)
                .put(file, from: directory, at: Glibc.time(nil))
        }
    }

    /// The name that the task has reserved is free again.
    package func forgetName(of record: TaskRecord) {
        names.release(record.id)
    }

    /// Reserves the name of a record's file, which the task had before.
    package func restoreName(of record: TaskRecord) {
        guard let file = record.file else { return }
        names.restore(file.name, in: record.request.directory, for: record.id)
    }

    /// Holds a record against its partial file, whose name is reserved again on the way.
    ///
    /// - Returns: what was found; nil where the file system does not tell, for then the transfer
    ///   looks again before it relies on anything.
    package func measurePartial(of record: TaskRecord) async -> Event? {
        guard let file = record.file else { return nil }
        restoreName(of: record)
        // It may be in its new place already.
        if record.isMoving { return nil }
        // It may have its name: whoever touches it next looks.
        if case .publish = record.intent { return nil }
        return await measure(file, of: record)
    }

    private func measure(_ file: LocalFile, of record: TaskRecord) async -> Event? {
        let (directory, fileSystem) = (record.request.directory, fileSystem)
        do throws(FileError) {
            return try await disk.run(key: record.id.rawValue, in: directory) {
                () throws(FileError) in
                // Nil where its drive is not mounted yet.
                guard let folder = try? OpenFolder(directory, fileSystem: fileSystem) else {
                    return nil
                }
                return .partialFound(size: try PartFile.reopen(file, in: folder).size())
            }
        } catch {
            return error.isAbsence ? .partialFound(size: nil) : nil
        }
    }

    /// Looks whether the finished file of an open publication has its name.
    ///
    /// - Returns: what was found; nil where the file system does not tell.
    package func settlePublication(of record: TaskRecord) async -> Event? {
        guard case .publish(let name) = record.intent, let file = record.file else { return nil }
        do throws(FileError) {
            return try await inFolder(record.request.directory, of: record.id) {
                folder throws(FileError) in
                if let size = try folder.endPublication(of: file, as: name) {
                    return .publicationFound(name: name, size: size)
                }
                return .partialFound(size: try PartFile.reopen(file, in: folder).size())
            }
        } catch {
            switch error {
            // A drive that is missing keeps nobody from giving the task up.
            case .vanished, .notOurs, .folderMoved, .otherDrive: return .partialFound(size: nil)
            case .system, .nameTaken, .shortened: return nil
            }
        }
    }

    /// Carries out what a record intended when the last run of the service ended.
    ///
    /// - Returns: the event to record; nil where the file system refuses for now, and where only a
    ///   verb may move the task on.
    package func carryOutIntent(of record: TaskRecord) async -> Event? {
        switch record.intent {
        case .publish(let name):
            guard record.state.kind == .waiting else { return nil }
            return await completePublication(of: record, as: name)
        case .discard, .remove:
            do throws(FileError) {
                try await deletePartial(of: record)
                return .partialDeleted
            } catch {
                return nil
            }
        case nil:
            return nil
        }
    }

    private func completePublication(of record: TaskRecord, as name: String) async -> Event? {
        guard let file = record.file else { return .partialFound(size: nil) }
        let (directory, fileSystem) = (record.request.directory, fileSystem)
        do throws(FileError) {
            return try await disk.run(key: record.id.rawValue, in: directory) {
                () throws(FileError) in
                // Nil where its drive is not mounted yet.
                guard let folder = try? OpenFolder(directory, fileSystem: fileSystem) else {
                    return nil
                }
                _ = try folder.publish(file, as: name)
                let size = try folder.endPublication(of: file, as: name)
                return size.map { .publicationFound(name: name, size: $0) }
            }
        } catch {
            switch error {
            case .nameTaken:
                // All bytes are there; the next attempt publishes them under another name.
                names.restore(file.name, in: directory, for: record.id)
                return await measure(file, of: record)
            case .vanished, .notOurs, .folderMoved: return .partialFound(size: nil)
            case .system, .shortened, .otherDrive: return nil
            }
        }
    }

    /// Whether a new task could not have this very name.
    package func isTaken(_ name: String, in directory: String) async -> Bool {
        let isFree = try? await inFolder(directory, of: nil) { folder throws(FileError) in
            let part = name + LocalFile.partSuffix
            guard try folder.status(of: name) == nil else { return false }
            return try folder.status(of: part) == nil
        }
        return isFree == false
    }

    /// What is free on the file system of a folder; nil where the folder cannot be looked at.
    ///
    /// - Returns: the file system's number, and the bytes that may still be written to it.
    package func freeSpace(in directory: String) async -> (device: UInt64, bytes: Int64)? {
        try? await inFolder(directory, of: nil) { folder throws(FileError) in
            (try folder.identity().device, try folder.freeBytes())
        }
    }

    /// Judges and makes a folder that a client gave.
    ///
    /// - Returns: its path, links resolved.
    package func prepareFolder(
        _ text: String,
        rules: FolderRules
    ) async throws(FolderRefusal) -> String {
        try await folders.prepare(text, rules: rules)
    }

    /// What the file's attributes may say of where it came from; nothing for a private download.
    func origins(
        of home: URLReference,
        for request: TaskRequest
    ) -> (url: String, referrer: String?) {
        guard !request.isPrivate else { return ("", nil) }
        let referrer = request.referrer.flatMap { try? URLReference($0) }
        return (home.withoutUserInfoAndQuery, referrer?.withoutUserInfoAndQuery)
    }
}
