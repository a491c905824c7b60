// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// A target folder that is kept open, so that names stay relative to it even if its path changes.
package final class OpenFolder: Sendable {
    /// The recorded path, links resolved.
    package let path: String
    package let fileSystem: FileSystem
    /// The length in bytes of the longest name that the file system takes.
    package let nameLimit: Int
    /// The properties of its file system.
    package let traits: FileSystemTraits
    private let descriptor: Descriptor

    /// Opens the folder and makes sure that it is the one that was checked.
    ///
    /// - Parameters:
    ///   - path: the recorded path, with links resolved.
    ///   - fileSystem: makes the system calls.
    /// - Throws: `folderMissing` if nothing is there; `folderMoved` if an element of the path has become
    ///   a link or a file.
    package init(_ path: String, fileSystem: FileSystem) throws(FileError) {
        let descriptor: Descriptor
        do throws(FileError) {
            descriptor = try fileSystem.open(path, in: AT_FDCWD, flags: O_RDONLY | O_DIRECTORY)
        } catch {
            switch error.errno {
            case ENOENT: throw .folderMissing
            case ENOTDIR, ELOOP: throw .folderMoved
            default: throw error
            }
        }
        // O_NOFOLLOW checks the last element only. The kernel's path of the open folder differs if
        // an earlier element has become a link.
        guard try fileSystem.path(of: descriptor.number) == path else { throw .folderMoved }
        self.path = path
        self.fileSystem = fileSystem
        self.descriptor = descriptor
        self.nameLimit = fileSystem.nameLimit(of: descriptor.number)
        self.traits = FileSystemTraits(of: descriptor.number)
    }

    /// The descriptor of the folder, open as long as this object lives.
    package var number: Int32 { descriptor.number }

    /// Returns the identity of the folder, which no other folder has.
    package func identity() throws(FileError) -> FileIdentity {
        try fileSystem.status(of: number).identity
    }

    /// Whether the folder has another path than when it was opened; answered by the kernel without
    /// the disk.
    var isMoved: Bool { (try? fileSystem.path(of: number)) != path }

    /// The present path of the folder, if it differs from the path at opening; nil otherwise.
    package var newPath: String? {
        guard let now = try? fileSystem.path(of: number), now != path,
            let found = try? OpenFolder(now, fileSystem: fileSystem),
            let there = try? found.identity(), let here = try? identity(), there == here
        else { return nil }
        return now
    }

    /// Whether the status is that of the recorded file.
    package func isRecorded(_ status: FileStatus, as file: LocalFile) -> Bool {
        traits.mark(of: status.identity) == file.mark
    }

    /// Whether the file was made on another file system, in which case its absence here does not
    /// mean that it is gone.
    package func isElsewhere(_ file: LocalFile) -> Bool {
        file.fileSystem != 0 && file.fileSystem != traits.number
    }

    /// Returns what is recorded of a file that was made in this folder.
    func record(_ identity: FileIdentity, as name: String) -> LocalFile {
        LocalFile(name: name, fileSystem: traits.number, mark: traits.mark(of: identity))
    }

    /// Returns the metadata of the entry; nil if there is none.
    package func status(of name: String) throws(FileError) -> FileStatus? {
        try fileSystem.status(of: name, in: number)
    }

    /// Returns the metadata of the recorded file; nil if it does not have this name.
    func status(of name: String, as file: LocalFile) throws(FileError) -> FileStatus? {
        guard let status = try status(of: name), status.isRegular, isRecorded(status, as: file)
        else { return nil }
        return status
    }

    /// Opens a file and follows no link.
    ///
    /// - Throws: `vanished` if nothing has the name; `notOurs` if a link has it, or anything else
    ///   that cannot be opened like a file.
    func open(_ name: String, flags: Int32) throws(FileError) -> Descriptor {
        do throws(FileError) {
            // O_NONBLOCK: a pipe under this name must not hold the thread until it is written to.
            return try fileSystem.open(name, in: number, flags: flags | O_NONBLOCK)
        } catch {
            switch error.errno {
            case ENOENT: throw .vanished
            case ELOOP, EISDIR, ENXIO, ENODEV: throw .notOurs
            default: throw error
            }
        }
    }

    /// Makes an empty file with access for this user only.
    ///
    /// - Throws: `nameTaken` if the name is taken, even by a link.
    func create(_ name: String) throws(FileError) -> Descriptor {
        let flags = O_RDWR | O_CREAT | O_EXCL
        do throws(FileError) {
            return try fileSystem.open(name, in: number, flags: flags, mode: 0o600)
        } catch {
            guard error.errno == EEXIST else { throw error }
            throw .nameTaken
        }
    }

    /// Returns the bytes that may still be written to its file system.
    package func freeBytes() throws(FileError) -> Int64 { try fileSystem.freeBytes(at: number) }

    /// Makes the names in the folder durable; slow.
    package func synchronize() throws(FileError) {
        do throws(FileError) {
            try fileSystem.synchronize(number)
        } catch {
            // Some file systems have no fsync of folders, and return EINVAL. EROFS, the other such
            // error in fsync(2), stays a failure: ext4 returns it after it has shut down.
            guard error.errno == EINVAL else { throw error }
        }
    }

    /// Deletes the partial file if it is the one that idown made, or a copy of it.
    ///
    /// Linux has no call that deletes a name only if it belongs to a certain inode. If another
    /// program replaces the file between the check and the call, the replacement is deleted.
    ///
    /// - Returns: false if no such file was there; then nothing was deleted.
    @discardableResult
    package func deletePart(_ file: LocalFile) throws(FileError) -> Bool {
        guard let status = try status(of: file.partName), status.isRegular,
            isRecorded(status, as: file) || hasCopy(of: file, status)
        else { return false }
        do throws(FileError) {
            try fileSystem.unlink(file.partName, in: number)
        } catch {
            guard error.errno == ENOENT else { throw error }
            return false
        }
        return true
    }
}
