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
        let fileSystem = fileSystem
        var request = record.request
        // The record has the size of the file as it was complete.
        request.expectedSize = nil
        let (directory, isMadeHere) = (request.directory, request.owner != nil)
        let verifier = Verifier(request, disk: disk, isFinished: true) { !Task.isCancelled }
        defer { verifier.end() }
        do {
            let (part, size) = try await disk.digestThread(for: directory).run {
                () throws(FileError) in
                let folder = try OpenFolder(directory, fileSystem: fileSystem)
                let part = try PartFile.finished(file, in: folder, isMadeHere: isMadeHere)
                return (part, try part.size())
            }
            if request.checksum == nil, let total = record.remote.total, total != size {
                return Failure(
                    .sizeMismatch,
                    "The file has \(size) bytes instead of \(total). Another program may have"
                        + " changed it. Retry downloads it again."
                )
            }
            let bad = try await verifier.verify(part, size: size, as: record.remote) { pieces }
            guard !bad.isEmpty else { return nil }
            return Failure(
                .checksumMismatch,
                "\(bad.count) pieces of the file do not have the checksums that the metalink"
                    + " gives. Another program may have changed them. Retry downloads it again."
            )
        } catch let error as FileError {
            return error.failure.ofFinishedFile
        } catch TransferEnd.failed(let failure) {
            return failure.ofFinishedFile
        } catch {
            throw CancellationError()
        }
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

extension Failure {
    /// The failure, with a message for a file that was complete.
    fileprivate var ofFinishedFile: Failure {
        guard code == .fileVanished else { return self }
        let text = "The finished file is not in its folder any more. Retry downloads it again."
        return Failure(.fileVanished, text)
    }
}
