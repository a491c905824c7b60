// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

// A file that gets its name (`.part`) only once the record says that it is idown's: open(2) makes
// it with O_TMPFILE. A crash in between leaves nothing behind; a file with a name would stay for
// ever.
extension PartFile {
    /// Makes the file, which gets its name by `appear`, or at once where the file system knows no
    /// files without a name.
    ///
    /// - Throws: `nameTaken` where it had to be made by name, and anything stands there.
    static func createUnnamed(
        _ name: String,
        in folder: OpenFolder
    ) throws(FileError) -> PartFile {
        if let unnamed = try unnamed(name, in: folder) { return unnamed }
        return try create(name, in: folder)
    }

    /// Makes a file without a name, which goes with its last descriptor.
    ///
    /// - Returns: nil where the file system knows no such files.
    static func unnamed(
        _ name: String,
        in folder: OpenFolder
    ) throws(FileError) -> PartFile? {
        let fileSystem = folder.fileSystem
        let descriptor: Descriptor
        do throws(FileError) {
            descriptor = try fileSystem.openUnnamed(in: folder.number, mode: 0o600)
        } catch {
            guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.errno) else { throw error }
            return nil
        }
        let identity = try fileSystem.status(of: descriptor.number).identity
        return PartFile(folder.record(identity, as: name), folder, descriptor)
    }

    /// The same file with another name in view.
    func named(_ name: String) -> PartFile {
        var file = file
        file.name = name
        return PartFile(file, folder, descriptor)
    }

    /// Gives an unnamed file its name; does nothing to one that has it.
    ///
    /// - Returns: nil once it has its name; where none can be given to an unnamed file, as without
    ///   hard links or /proc, another, empty file that was made by name.
    /// - Throws: `nameTaken` where anything else stands there.
    func appear() throws(FileError) -> PartFile? {
        if try hasName() { return nil }
        if try give(file.partName) { return nil }
        return try PartFile.create(file.name, in: folder)
    }

    /// Gives an unnamed file, which is complete, its final name.
    ///
    /// ``OpenFolder/synchronize()`` makes it last.
    ///
    /// - Returns: false where none can be given to an unnamed file, as without hard links or /proc.
    /// - Throws: `nameTaken` where anything else stands there.
    func publishUnnamed() throws(FileError) -> Bool {
        guard try give(file.name) else { return false }
        fileSystem.witness?.didLink(as: file.name, in: folder.number)
        return true
    }

    /// Whether it stands in a folder.
    func hasName() throws(FileError) -> Bool { try fileSystem.status(of: number).linkCount > 0 }

    private func give(_ name: String) throws(FileError) -> Bool {
        do throws(FileError) {
            try fileSystem.link(number, as: name, in: folder.number)
            return true
        } catch {
            // An answer that was lost on the way says nothing of what was done.
            if try hasName() { return true }
            if error.errno == EEXIST { throw .nameTaken }
            let isUnable = [EACCES, ENOENT, ENOSYS, EOPNOTSUPP, EPERM, EXDEV].contains(error.errno)
            guard isUnable else { throw error }
            return false
        }
    }
}
