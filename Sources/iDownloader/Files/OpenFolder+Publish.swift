// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
package import iDownState

extension OpenFolder {
    /// Gives the complete file its final name and never replaces another file.
    ///
    /// If another program replaces the file between the check and the rename, its file is renamed,
    /// but not overwritten or deleted. ``synchronize()`` makes the new name durable.
    ///
    /// - Throws: `nameTaken` if another file has the name, and the caller tries the next one;
    ///   `vanished` or `notOurs` if the file does not have its partial name; `otherDrive` if the
    ///   file was made on another file system.
    package func publish(_ file: LocalFile, as name: String) throws(FileError) {
        let (size, hasPart) = try settle(file, as: name)
        guard size == nil else { return }
        guard hasPart else {
            if isElsewhere(file) { throw .otherDrive }
            throw try status(of: file.partName) == nil ? .vanished : .notOurs
        }
        try move(file.partName, to: name, in: self)
    }

    /// Completes an interrupted publication if the file already has its final name.
    ///
    /// - Returns: the size of the file in bytes, once its name is durable; nil if it does not have
    ///   the name.
    package func endPublication(of file: LocalFile, as name: String) throws(FileError) -> Int64? {
        guard let size = try settle(file, as: name).size else { return nil }
        try synchronize()
        return size
    }

    /// Removes the partial name of a file that has its final name too, because a publication by
    /// hard link was interrupted.
    ///
    /// - Returns: the size of the file if it has its final name, else nil; and whether it has its
    ///   partial name.
    private func settle(
        _ file: LocalFile,
        as name: String
    ) throws(FileError) -> (size: Int64?, hasPart: Bool) {
        let part = try status(of: file.partName).flatMap { isRecorded($0, as: file) ? $0 : nil }
        guard let final = try status(of: name), isRecorded(final, as: file),
            // A file with both names is one inode. On FAT, two files made within two seconds have
            // the same mark.
            part == nil || part?.identity == final.identity
        else { return (nil, part != nil) }
        if part != nil { try fileSystem.unlink(file.partName, in: number) }
        return (final.size, false)
    }

    /// Moves a file to a free name in this folder, or in another one of the same file system, and never
    /// replaces another file.
    ///
    /// - Parameters:
    ///   - old: the name in this folder.
    ///   - name: the new name.
    ///   - target: the folder of the new name.
    /// - Throws: `nameTaken` if another file has the new name; EXDEV between file systems.
    package func move(_ old: String, to name: String, in target: OpenFolder) throws(FileError) {
        do throws(FileError) {
            _ = try fileSystem.call("renameat2", on: name) {
                renameat2(number, old, target.number, name, CLINUX_RENAME_NOREPLACE)
            }
            if number == target.number {
                fileSystem.observer?.didRename(old, as: name, in: number)
            }
        } catch {
            switch error.errno {
            case EEXIST: throw .nameTaken
            // The file system lacks RENAME_NOREPLACE: NFS, ntfs-3g, older FUSE.
            case EINVAL, ENOSYS, EOPNOTSUPP: try link(old, to: name, in: target)
            default: throw error
            }
        }
    }

    /// Moves by a hard link, which never replaces a file either, and then removes the old name.
    private func link(_ old: String, to name: String, in target: OpenFolder) throws(FileError) {
        do throws(FileError) {
            _ = try fileSystem.call("linkat", on: name) {
                linkat(number, old, target.number, name, 0)
            }
        } catch {
            switch error.errno {
            case EEXIST: throw .nameTaken
            // The file system has no hard links: FAT, some FUSE.
            case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
                return try replacePlaceholder(by: old, as: name, in: target)
            default: throw error
            }
        }
        try fileSystem.unlink(old, in: number)
    }

    /// Moves by creating an empty file that takes the name, and renaming over it.
    ///
    /// A crash in between leaves the empty file behind. The next start takes another name, because
    /// the empty file cannot be told from another program's.
    private func replacePlaceholder(
        by old: String,
        as name: String,
        in target: OpenFolder
    ) throws(FileError) {
        let placeholder = try target.create(name)
        do throws(FileError) {
            // Another program could still replace the placeholder between this check and the
            // rename. A file system with neither of the two safe calls offers nothing better.
            guard try target.isThere(placeholder, as: name) else { throw .nameTaken }
            _ = try fileSystem.call("renameat") { renameat(number, old, target.number, name) }
        } catch {
            if (try? target.isThere(placeholder, as: name)) == true {
                try? fileSystem.unlink(name, in: target.number)
            }
            throw error
        }
    }

    /// Whether this open file has the name in the folder.
    private func isThere(_ file: Descriptor, as name: String) throws(FileError) -> Bool {
        try status(of: name)?.identity == fileSystem.status(of: file.number).identity
    }
}
