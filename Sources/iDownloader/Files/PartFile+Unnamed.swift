// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import iDownState

// open(2) with O_TMPFILE makes a file without a name. It gets its name (`.part`) once the list has
// recorded it as idown's. A crash in between then leaves nothing behind, whereas a named file that
// no record knows would stay for ever.
extension PartFile {
    /// Makes an unnamed file, which gets its name by `appear`; if the file system has no unnamed
    /// files, makes a named one.
    ///
    /// - Throws: `nameTaken` if the file had to be made with its name, and the name is taken.
    static func createUnnamed(_ name: String, in folder: OpenFolder) throws(FileError) -> PartFile {
        if let unnamed = try unnamed(name, in: folder) { return unnamed }
        return try create(name, in: folder)
    }

    /// Makes a file without a name, which is deleted with its last descriptor.
    ///
    /// - Returns: nil if the file system has no such files.
    static func unnamed(_ name: String, in folder: OpenFolder) throws(FileError) -> PartFile? {
        let fileSystem = folder.fileSystem
        let descriptor: Descriptor
        do throws(FileError) {
            let flags = CLINUX_O_TMPFILE | O_DIRECTORY | O_RDWR | O_CLOEXEC
            let number = try fileSystem.call("openat") { openat(folder.number, ".", flags, 0o600) }
            descriptor = Descriptor(owning: number)
        } catch {
            guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.errno) else { throw error }
            return nil
        }
        let identity = try fileSystem.status(of: descriptor.number).identity
        return PartFile(folder.record(identity, as: name), folder, descriptor)
    }

    /// Returns the same open file with another intended name.
    func named(_ name: String) -> PartFile {
        var file = file
        file.name = name
        return PartFile(file, folder, descriptor)
    }

    /// Gives an unnamed file its partial name; does nothing if it has a name.
    ///
    /// - Returns: nil once the file has its name. If an unnamed file cannot get a name (no hard
    ///   links, no /proc), a new, empty file that has the name.
    /// - Throws: `nameTaken` if another file has the name.
    func appear() throws(FileError) -> PartFile? {
        if try hasName() { return nil }
        if try give(file.partName) { return nil }
        return try PartFile.create(file.name, in: folder)
    }

    /// Gives a complete unnamed file its final name.
    ///
    /// ``OpenFolder/synchronize()`` makes the name durable.
    ///
    /// - Returns: false if an unnamed file cannot get a name (no hard links, no /proc).
    /// - Throws: `nameTaken` if another file has the name.
    func publishUnnamed() throws(FileError) -> Bool {
        guard try give(file.name) else { return false }
        fileSystem.observer?.didLink(as: file.name, in: folder.number)
        return true
    }

    /// Whether the file has a name in a folder.
    func hasName() throws(FileError) -> Bool { try fileSystem.status(of: number).linkCount > 0 }

    private func give(_ name: String) throws(FileError) -> Bool {
        do throws(FileError) {
            let path = "/proc/self/fd/\(number)"
            _ = try fileSystem.call("linkat", on: name) {
                linkat(AT_FDCWD, path, folder.number, name, AT_SYMLINK_FOLLOW)
            }
            return true
        } catch {
            // The call may have succeeded although its result was lost on the way.
            if try hasName() { return true }
            if error.errno == EEXIST { throw .nameTaken }
            let isUnable = [EACCES, ENOENT, ENOSYS, EOPNOTSUPP, EPERM, EXDEV].contains(error.errno)
            guard isUnable else { throw error }
            return false
        }
    }
}
