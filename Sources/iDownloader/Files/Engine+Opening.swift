// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

extension Engine {
    /// Opens the file of a task for reading, finished or partial.
    ///
    /// - Returns: a descriptor that is the caller's; nil where nothing of the file is on disk.
    /// - Throws: what the file system says.
    package func openFile(of record: TaskRecord) async throws(FileError) -> Int32? {
        guard let file = record.file else { return nil }
        if let found = try await open(file, in: record.request.directory, of: record) {
            return found
        }
        guard case .to(let place, let made?) = record.move else { return nil }
        return try await open(made, in: place.directory, of: record)
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

    /// Has a pipe filled with the finished file of a task, which must be the very file that idown
    /// made.
    ///
    /// A descriptor of the file itself could be opened again for writing by who receives it.
    ///
    /// - Parameters:
    ///   - record: the completed task.
    ///   - owner: who asks, as ``FileFeeds`` counts it.
    /// - Returns: the reading end, which is the caller's; nil where the file is not there.
    /// - Throws: `FileError`; `FileFeeds.Full`.
    package func feedFile(of record: TaskRecord, to owner: String) async throws -> Int32? {
        guard record.state == .completed, let file = record.file else { return nil }
        do {
            let part = try await inFolder(record.request.directory, of: nil) {
                folder throws(FileError) -> PartFile? in
                let part = try PartFile.forReading(file, isFinished: true, in: folder)
                let status = try folder.fileSystem.status(of: part.number)
                return folder.isRecorded(status, as: file) ? part : nil
            }
            return try part.map { try feeds.begin($0, on: disk, for: owner) }
        } catch let error as FileError where error.isGone {
            return nil
        }
    }
}

extension PartFile {
    /// Opens the file of a task for reading alone.
    ///
    /// Whatever regular file stands under a finished file's name is meant; under a partial one's,
    /// only our own.
    ///
    /// - Throws: `vanished` or `notOurs` where it is not there.
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
