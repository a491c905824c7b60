// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// A target folder held open: all names are relative to it, wherever its path leads later.
package final class OpenFolder: Sendable {
    /// The recorded path, links resolved.
    package let path: String
    package let fileSystem: FileSystem
    /// The longest name in bytes that the file system takes.
    package let nameLimit: Int
    /// What sets its file system apart.
    package let traits: FileSystemTraits
    private let descriptor: Descriptor

    /// Opens the folder and makes sure that it is the one that was judged.
    ///
    /// - Parameters:
    ///   - path: the path as it was recorded, links resolved.
    ///   - fileSystem: the door to the system.
    /// - Throws: `vanished` where nothing stands there; `folderMoved` where an element of the path
    ///   has become a link or a file.
    package convenience init(_ path: String, fileSystem: FileSystem) throws(FileError) {
        try self.init(path, relativeTo: AT_FDCWD, path: path, fileSystem: fileSystem)
    }

    /// Opens a folder in an open one.
    convenience init(_ name: String, in folder: OpenFolder, path: String) throws(FileError) {
        try self.init(
            name,
            relativeTo: folder.number,
            path: path,
            fileSystem: folder.fileSystem
        )
    }

    private init(
        _ name: String,
        relativeTo base: Int32,
        path: String,
        fileSystem: FileSystem
    ) throws(FileError) {
        let descriptor: Descriptor
        do throws(FileError) {
            descriptor = try fileSystem.open(name, in: base, flags: O_RDONLY | O_DIRECTORY)
        } catch {
            switch error.errno {
            case ENOENT: throw .vanished
            case ENOTDIR, ELOOP: throw .folderMoved
            default: throw error
            }
        }
        // O_NOFOLLOW looks at the last element only; the kernel's own idea of the path tells
        // whether one of those before it has become a link.
        guard try fileSystem.path(of: descriptor.number) == path else { throw .folderMoved }
        self.path = path
        self.fileSystem = fileSystem
        self.descriptor = descriptor
        self.nameLimit = fileSystem.nameLimit(of: descriptor.number)
        self.traits = FileSystemTraits(of: descriptor.number)
    }

    /// The folder's descriptor, open for as long as this object lives.
    package var number: Int32 { descriptor.number }

    /// What tells the folder from every other.
    package func identity() throws(FileError) -> FileIdentity {
        try fileSystem.status(of: number).identity
    }

    /// Whether it has another path than when it was opened, by what the kernel knows: its disk is not
    /// asked.
    var isMoved: Bool { (try? fileSystem.path(of: number)) != path }

    /// Where it stands now, if that is another place than when it was opened.
    package var newPath: String? {
        guard let now = try? fileSystem.path(of: number), now != path,
            let found = try? OpenFolder(now, fileSystem: fileSystem),
            let there = try? found.identity(), let here = try? identity(), there == here
        else { return nil }
        return now
    }

    /// Whether it is the file that was recorded.
    package func isRecorded(_ status: FileStatus, as file: LocalFile) -> Bool {
        traits.mark(of: status.identity) == file.mark
    }

    /// Whether the file was made on another file system: of what is not here, nobody can say that it
    /// is gone.
    package func isElsewhere(_ file: LocalFile) -> Bool {
        file.fileSystem != 0 && file.fileSystem != traits.number
    }

    /// What is recorded of a file that was made here.
    func record(_ identity: FileIdentity, as name: String) -> LocalFile {
        LocalFile(name: name, fileSystem: traits.number, mark: traits.mark(of: identity))
    }

    /// What stands under the name; nil for nothing.
    package func status(of name: String) throws(FileError) -> FileStatus? {
        try fileSystem.status(of: name, in: number)
    }

    /// The bytes that may still be written to its file system.
    package func freeBytes() throws(FileError) -> Int64 {
        try fileSystem.freeBytes(at: number)
    }

    /// Brings the names in it to the disk; slow.
    package func synchronize() throws(FileError) {
        do throws(FileError) {
            try fileSystem.synchronize(number)
        } catch {
            // Some file systems know no fsync of a folder and write names when they like. EROFS,
            // which fsync(2) names beside it, is no such answer: ext4 gives it after it has
            // stopped itself.
            guard error.errno == EINVAL else { throw error }
        }
    }
}
