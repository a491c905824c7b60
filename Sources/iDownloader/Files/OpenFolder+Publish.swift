// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// How far the publication of a file has come, as the folder tells.
package enum PublicationState: Hashable, Sendable {
    /// The file stands under its partial name alone.
    case unpublished
    /// It stands under the final name; with `partRemains` under the partial one as well.
    case published(size: Int64, partRemains: Bool)
    /// It stands under neither.
    case gone
}

extension OpenFolder {
    /// Where our file stands now: what an interrupted publication is completed by.
    package func publicationState(
        of file: LocalFile,
        as name: String
    ) throws(FileError) -> PublicationState {
        let part = try status(of: file.partName).flatMap { isRecorded($0, as: file) ? $0 : nil }
        if let final = try status(of: name), isRecorded(final, as: file),
            // Under two names, ours is one file; two that were made within two seconds can look alike.
            part == nil || part?.identity == final.identity
        {
            return .published(size: final.size, partRemains: part != nil)
        }
        return part == nil ? .gone : .unpublished
    }

    /// Gives the complete file its final name, never that of another file.
    ///
    /// Whoever swaps the entry between the look at it and the rename gets that file renamed, not
    /// overwritten and not deleted. ``synchronize()`` makes the new name last.
    ///
    /// - Returns: the file under the final name.
    /// - Throws: `nameTaken` where the name is another file's, and the caller takes the next one;
    ///   `vanished` and `notOurs` where our file is not under its partial name, `otherDrive` where
    ///   it is not to be expected here.
    package func publish(_ file: LocalFile, as name: String) throws(FileError) -> LocalFile {
        switch try publicationState(of: file, as: name) {
        case .published(_, partRemains: true):
            // A publication by a second name was cut off before the first was taken away.
            try fileSystem.unlink(file.partName, in: number)
        case .published(_, partRemains: false):
            break
        case .gone:
            if isElsewhere(file) { throw .otherDrive }
            throw try status(of: file.partName) == nil ? .vanished : .notOurs
        case .unpublished:
            try rename(file, as: name)
        }
        return LocalFile(name: name, fileSystem: file.fileSystem, mark: file.mark)
    }

    /// Ends a publication of which nobody knows how far it came, where the file has its name.
    ///
    /// - Returns: the size in bytes of the file, whose name lasts now; nil where it has another or
    ///   none.
    package func endPublication(
        of file: LocalFile,
        as name: String
    ) throws(FileError) -> Int64? {
        guard case .published(let size, let partRemains) = try publicationState(of: file, as: name)
        else { return nil }
        // A publication by a second name was cut off before the first was taken away.
        if partRemains { try fileSystem.unlink(file.partName, in: number) }
        try synchronize()
        return size
    }

    private func rename(_ file: LocalFile, as name: String) throws(FileError) {
        do throws(FileError) {
            try fileSystem.renameToFree(file.partName, in: number, as: name, in: number)
        } catch {
            switch error.errno {
            case EEXIST: throw .nameTaken
            // A file system without RENAME_NOREPLACE: NFS, ntfs-3g, older FUSE.
            case EINVAL, ENOSYS, EOPNOTSUPP: try link(file, as: name)
            default: throw error
            }
        }
    }

    /// Publishes by a second name, which as little replaces anything.
    private func link(_ file: LocalFile, as name: String) throws(FileError) {
        do throws(FileError) {
            try fileSystem.link(file.partName, in: number, as: name, in: number)
        } catch {
            switch error.errno {
            case EEXIST: throw .nameTaken
            // A file system without hard links: FAT, some FUSE.
            case EPERM, EOPNOTSUPP, ENOSYS, EMLINK: return try replacePlaceholder(file, as: name)
            default: throw error
            }
        }
        try fileSystem.unlink(file.partName, in: number)
    }

    /// Publishes over an empty file of our own, which holds the name meanwhile.
    ///
    /// A crash in between leaves the empty file behind, and the next start takes another name:
    /// nothing tells it from somebody else's.
    private func replacePlaceholder(_ file: LocalFile, as name: String) throws(FileError) {
        let placeholder: Descriptor
        do throws(FileError) {
            placeholder = try fileSystem.open(
                name,
                in: number,
                flags: O_WRONLY | O_CREAT | O_EXCL,
                mode: 0o600
            )
        } catch {
            guard error.errno == EEXIST else { throw error }
            throw .nameTaken
        }
        let ours = try fileSystem.status(of: placeholder.number).identity
        // Between this look and the rename another program could still replace the placeholder;
        // a file system with neither of the two safe ways leaves no better one.
        guard try status(of: name)?.identity == ours else { throw .nameTaken }
        do throws(FileError) {
            try fileSystem.renameReplacing(file.partName, as: name, in: number)
        } catch {
            if (try? status(of: name))?.identity == ours {
                try? fileSystem.unlink(name, in: number)
            }
            throw error
        }
    }
}
