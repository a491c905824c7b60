// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// How far the publication of a file has come, by the names in its folder.
package enum PublicationState: Hashable, Sendable {
    /// The file has its partial name only.
    case unpublished
    /// The file has its final name; with `partRemains`, its partial name too.
    case published(size: Int64, partRemains: Bool)
    /// The file has neither name.
    case gone
}

extension OpenFolder {
    /// Returns which names the file has now, so that an interrupted publication can be completed.
    package func publicationState(
        of file: LocalFile,
        as name: String
    ) throws(FileError) -> PublicationState {
        let part = try status(of: file.partName).flatMap { isRecorded($0, as: file) ? $0 : nil }
        if let final = try status(of: name), isRecorded(final, as: file),
            // A file with both names is one inode. On FAT, two files made within two seconds have
            // the same mark.
            part == nil || part?.identity == final.identity
        {
            return .published(size: final.size, partRemains: part != nil)
        }
        return part == nil ? .gone : .unpublished
    }

    /// Gives the complete file its final name and never replaces another file.
    ///
    /// If another program replaces the file between the check and the rename, its file is renamed,
    /// but not overwritten or deleted. ``synchronize()`` makes the new name durable.
    ///
    /// - Returns: the file under the final name.
    /// - Throws: `nameTaken` if another file has the name, and the caller tries the next one;
    ///   `vanished` or `notOurs` if the file does not have its partial name; `otherDrive` if the
    ///   file was made on another file system.
    package func publish(_ file: LocalFile, as name: String) throws(FileError) -> LocalFile {
        switch try publicationState(of: file, as: name) {
        case .published(_, partRemains: true):
            // A publication by hard link was interrupted before the partial name was removed.
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

    /// Completes an interrupted publication if the file already has its final name.
    ///
    /// - Returns: the size of the file in bytes, once its name is durable; nil if it does not have
    ///   the name.
    package func endPublication(
        of file: LocalFile,
        as name: String
    ) throws(FileError) -> Int64? {
        guard case .published(let size, let partRemains) = try publicationState(of: file, as: name)
        else { return nil }
        // A publication by hard link was interrupted before the partial name was removed.
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
            // The file system lacks RENAME_NOREPLACE: NFS, ntfs-3g, older FUSE.
            case EINVAL, ENOSYS, EOPNOTSUPP: try link(file, as: name)
            default: throw error
            }
        }
    }

    /// Publishes by a hard link, which never replaces a file either, and then removes the partial
    /// name.
    private func link(_ file: LocalFile, as name: String) throws(FileError) {
        do throws(FileError) {
            try fileSystem.link(file.partName, in: number, as: name, in: number)
        } catch {
            switch error.errno {
            case EEXIST: throw .nameTaken
            // The file system has no hard links: FAT, some FUSE.
            case EPERM, EOPNOTSUPP, ENOSYS, EMLINK: return try replacePlaceholder(file, as: name)
            default: throw error
            }
        }
        try fileSystem.unlink(file.partName, in: number)
    }

    /// Publishes by creating an empty file that takes the name, and renaming over it.
    ///
    /// A crash in between leaves the empty file behind. The next start takes another name, because
    /// the empty file cannot be told from another program's.
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
        // Another program could still replace the placeholder between this check and the rename. A
        // file system with neither of the two safe calls offers nothing better.
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
