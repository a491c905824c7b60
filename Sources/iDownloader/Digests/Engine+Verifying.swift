// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

extension Engine {
    /// Reads a finished file and compares it with its known digest, or else with its known length.
    ///
    /// The client's digest comes first, then the piece hashes, then the server's digest.
    ///
    /// Any regular file with the name is read, because a file restored from a backup is accepted
    /// too. For the task of a sandboxed application it must be the file that idown made, because
    /// the application would learn what another file contains.
    ///
    /// - Parameters:
    ///   - record: the completed task.
    ///   - pieces: the hashes of the pieces of the file; nil if there are none.
    /// - Returns: the failure if the file does not match; nil if it does.
    /// - Throws: `CancellationError` if the caller was cancelled.
    package func verify(_ record: TaskRecord, _ pieces: PieceHashes?) async throws -> Failure? {
        guard let file = record.file else { return FileError.vanished.failure }
        let (directory, fileSystem) = (record.request.directory, fileSystem)
        do {
            let (part, size) = try await disk.digestThread(for: directory).run {
                () throws(FileError) in
                let part = try PartFile.finished(
                    file,
                    in: OpenFolder(directory, fileSystem: fileSystem),
                    isMadeHere: record.request.owner != nil
                )
                return (part, try part.size())
            }
            if let expected = record.request.checksum {
                return try await mismatch(of: part, size, expected)
            }
            let total = record.remote.total
            if let total, total != size {
                return Failure(
                    .sizeMismatch,
                    "The file has \(size) bytes instead of \(total). Another program may have"
                        + " changed it. Retry downloads it again."
                )
            }
            if let pieces { return try await mismatch(of: part, size, pieces) }
            guard let expected = record.request.expectedChecksum(of: record.remote) else {
                return nil
            }
            return try await mismatch(of: part, size, expected)
        } catch let error as FileError {
            return error.failureOfFinishedFile
        }
    }

    private func mismatch(
        of part: PartFile,
        _ size: Int64,
        _ expected: Checksum
    ) async throws -> Failure? {
        let thread = disk.digestThread(for: part.folder.path)
        let follower = DigestFollower(part, expected.algorithm, on: thread)
        let found = try await follower.value(upTo: size) { !Task.isCancelled }
        try Task.checkCancellation()
        guard found != expected else { return nil }
        return Failure(
            .checksumMismatch,
            "The file has the checksum \(found?.description ?? "") instead of \(expected). Another"
                + " program may have changed it. Retry downloads it again."
        )
    }

    private func mismatch(
        of part: PartFile,
        _ size: Int64,
        _ pieces: PieceHashes
    ) async throws -> Failure? {
        let check = PieceCheck(part, pieces, size: size)
        let bad = try await check.bad(on: disk) { !Task.isCancelled }
        try Task.checkCancellation()
        guard !bad.isEmpty else { return nil }
        return Failure(
            .checksumMismatch,
            "\(bad.count) pieces of the file do not have the checksums that the metalink"
                + " gives. Another program may have changed them. Retry downloads it again."
        )
    }
}

extension PartFile {
    /// Opens the finished file read-only.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - folder: its folder.
    ///   - isMadeHere: whether it must be the file that idown made, and not another of its name.
    /// - Returns: the file.
    /// - Throws: `vanished` or `notOurs` if no such regular file has the name.
    static func finished(
        _ file: LocalFile,
        in folder: OpenFolder,
        isMadeHere: Bool = false
    ) throws(FileError) -> PartFile {
        let descriptor = try folder.open(file.name, flags: O_RDONLY)
        let status = try folder.fileSystem.status(of: descriptor.number)
        guard status.isRegular, !isMadeHere || folder.isRecorded(status, as: file) else {
            throw .vanished
        }
        return PartFile(file, folder, descriptor)
    }
}

extension FileError {
    /// The failure, with a message for a file that was complete.
    fileprivate var failureOfFinishedFile: Failure {
        switch self {
        case .vanished, .notOurs, .shortened, .folderMissing, .folderMoved, .otherDrive:
            Failure(
                .fileVanished,
                "The finished file is not in its folder any more. Retry downloads it again."
            )
        case .system, .nameTaken: failure
        }
    }
}
