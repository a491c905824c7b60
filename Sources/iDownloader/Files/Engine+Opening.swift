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
                let part =
                    isFinished
                    ? try PartFile.finished(file, in: folder)
                    : try PartFile.reopen(file, in: folder, for: O_RDONLY)
                return try folder.fileSystem.duplicate(part.number)
            }
        } catch {
            guard error.isMissing else { throw error }
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
