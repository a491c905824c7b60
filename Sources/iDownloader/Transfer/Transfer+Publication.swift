// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension Transfer {
    /// Chooses a name that nobody has, makes the file and has both recorded.
    func create(
        _ version: RemoteVersion,
        _ head: ResponseHead?,
        _ hop: Hop
    ) async throws(TransferEnd) {
        let folder = try await openedFolder()
        let candidates = wantedName(head, hop).names(limit: folder.nameLimit)
        let (names, task) = (engine.names, job.task)
        let mayRename = job.request.onExisting == .rename
        let created = try await onDisk { () throws(FileError) in
            try names.create(candidates, in: folder, for: task, mayRename: mayRename) {
                name throws(FileError) in try PartFile.createUnnamed(name, in: folder)
            }
        }
        part = try await recordAndShow(created, version)
        file = part?.file
    }

    /// Has a new file recorded as ours, and only then lets it be seen.
    private func recordAndShow(
        _ created: PartFile,
        _ version: RemoteVersion
    ) async throws(TransferEnd) -> PartFile {
        let (names, task) = (engine.names, job.task)
        let mayRename = job.request.onExisting == .rename
        var part = created
        // Whoever takes one name after the other away from under us wins in the end.
        for _ in 0..<100 {
            let shown = part
            do throws(TransferEnd) {
                try await commit(.opened(shown.file, version, keeping: SegmentMap()))
                let next = try await onDisk { () throws(FileError) in
                    try names.appear(shown, for: task, mayRename: mayRename)
                }
                guard let next else { return shown }
                part = next
            } catch {
                // Nobody may ever know that this file is ours: it goes now or never.
                _ = try? await onDisk { () throws(FileError) in
                    try shown.folder.deletePart(shown.file)
                }
                names.release(task)
                throw error
            }
        }
        throw .failed(FileError.nameTaken.failure)
    }

    /// All that is known of the name that the file is to have.
    func wantedName(_ head: ResponseHead?, _ hop: Hop) -> NameWish {
        NameWish(
            option: job.request.fileName,
            contentDisposition: head?.contentDisposition,
            urlPath: hop.url.path,
            mimeType: head?.facts.mimeType ?? ""
        )
    }

    /// Gives the complete file its name: synced, intended, renamed, synced again, recorded.
    func publish() async throws(TransferEnd) {
        guard !brake.isPulled else { throw .stopped }
        guard let file else { throw .failed(FileError.vanished.failure) }
        live.activity = .verifying
        let size = stored.prefixLength
        if isPublished {
            return try await commit(.completed(name: file.name, size: size, provenIntegrity))
        }
        if let total = known.total, total != size {
            throw .failed(
                Failure(
                    .serverTruncated,
                    "Only \(size) of \(total) bytes arrived. A later try may succeed.",
                    isTransient: true
                )
            )
        }
        try await addListedFiles()
        let folder = try await openedFolder()
        let name: String
        if isUnnamed {
            name = try await nameArrived(in: folder)
        } else {
            try await complete(size)
            name = try await rename(file, in: folder)
        }
        try await commit(
            .completed(name: name, size: size, provenIntegrity, movedTo: folder.newPath)
        )
    }

    /// Gives the file what every complete one has, and brings all of it to the disk.
    private func complete(_ size: Int64) async throws(TransferEnd) {
        let (origin, referrer) = engine.origins(of: home, referrer: job.request.referrer)
        try await synchronize { part throws(TransferEnd) in
            try await onDisk(syncing: .file(part)) { () throws(FileError) in
                try part.expectAllWritten()
                if try part.size() != size { try part.truncate(to: size) }
                try part.setFinalPermissions()
                part.recordOrigin(url: origin, referrer: referrer)
            }
        }
    }

    /// Renames under the first free name; each is recorded before it is tried, and lasts before
    /// the next is recorded.
    func rename(_ file: LocalFile, in folder: OpenFolder) async throws(TransferEnd)
        -> String
    {
        var name = file.name
        // Whoever takes one name after the other away from under us wins in the end.
        for _ in 0..<100 {
            try await commit(.publishing(name: name))
            let (names, task, wanted) = (engine.names, job.task, name)
            let mayRename = job.request.onExisting == .rename
            let next = try await onDisk(syncing: .folder(folder)) {
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
}
