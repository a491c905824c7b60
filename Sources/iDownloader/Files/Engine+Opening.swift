// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

extension Engine {
    /// Opens the file of a task for reading, finished or partial.
    ///
    /// - Returns: a descriptor that the caller owns; nil if the file is not on disk.
    /// - Throws: the error of the file system.
    package func openFile(of record: TaskRecord) async throws(FileError) -> Int32? {
        guard let file = record.file else { return nil }
        if let found = try await open(file, in: record.request.directory, of: record) {
            return found
        }
        switch record.move {
        case .to(let place, let made?), .copied(let place, let made):
            return try await open(made, in: place.directory, of: record)
        case .to(_, nil), .from, nil: return nil
        }
    }

    private func open(
        _ file: LocalFile,
        in directory: String,
        of record: TaskRecord
    ) async throws(FileError) -> Int32? {
        let isFinished = record.state == .completed
        do throws(FileError) {
            return try await inFolder(directory, of: nil) { folder throws(FileError) in
                let part = try PartFile.forReading(file, isFinished: isFinished, in: folder)
                return try folder.fileSystem.duplicate(part.number)
            }
        } catch {
            guard error.isGone else { throw error }
            return nil
        }
    }

    /// Returns a pipe from which the finished file of a task can be read; it must be the file that
    /// idown made.
    ///
    /// A pipe is used because a process that gets a descriptor of the file could reopen it for
    /// writing.
    ///
    /// - Parameters:
    ///   - record: the completed task.
    ///   - owner: the application that asks; ``FileFeeds`` limits its pipes.
    /// - Returns: the reading end, which the caller owns; nil if the file is gone.
    /// - Throws: `FileError`, or `FileFeeds.Full` if too many pipes are open.
    package func feedFile(of record: TaskRecord, to owner: String) async throws -> Int32? {
        guard record.state == .completed, let file = record.file else { return nil }
        do {
            let part = try await inFolder(record.request.directory, of: nil) {
                folder throws(FileError) in
                try PartFile.finished(file, in: folder, isMadeHere: true)
            }
            return try feeds.begin(part, on: disk, for: owner)
        } catch let error as FileError where error.isGone {
            return nil
        }
    }
}

extension PartFile {
    /// Opens the file of a task read-only.
    ///
    /// Any regular file is accepted under the name of a finished file. Under a partial name, only
    /// idown's own file or a copy of it is accepted.
    ///
    /// - Throws: `vanished` or `notOurs` if there is no such file.
    fileprivate static func forReading(
        _ file: LocalFile,
        isFinished: Bool,
        in folder: OpenFolder
    ) throws(FileError) -> PartFile {
        if isFinished { return try finished(file, in: folder) }
        var named = file
        named.name = file.partName
        let part = try finished(named, in: folder)
        let status = try folder.fileSystem.status(of: part.number)
        guard
            folder.isRecorded(status, as: file)
                || folder.copiedByteCount(of: file, status, part.number) != nil
        else { throw .notOurs }
        return part
    }
}
