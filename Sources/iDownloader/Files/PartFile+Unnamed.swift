// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

// A file that has no name before the record says that it is ours: a crash in between leaves nothing
// behind that nobody would ever delete.
extension PartFile {
    /// Makes the file, which gets its name by `appear`, or at once where the file system knows no
    /// files without a name.
    ///
    /// - Throws: `nameTaken` where it had to be made by name, and anything stands there.
    static func createUnnamed(
        _ name: String,
        in folder: OpenFolder
    ) throws(FileError) -> PartFile {
        let fileSystem = folder.fileSystem
        let descriptor: Descriptor
        do throws(FileError) {
            descriptor = try fileSystem.openUnnamed(in: folder.number, mode: 0o600)
        } catch {
            guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.errno) else { throw error }
            return try create(name, in: folder)
        }
        let identity = try fileSystem.status(of: descriptor.number).identity
        let file = LocalFile(name: name, device: identity.device, inode: identity.inode)
        return PartFile(file, folder, descriptor)
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
        guard try fileSystem.status(of: number).linkCount == 0 else { return nil }
        do throws(FileError) {
            try fileSystem.link(number, as: file.partName, in: folder.number)
            return nil
        } catch {
            // An answer that was lost on the way says nothing of what was done.
            guard try fileSystem.status(of: number).linkCount == 0 else { return nil }
            if error.errno == EEXIST { throw .nameTaken }
            let isUnable = [EACCES, ENOENT, ENOSYS, EOPNOTSUPP, EPERM, EXDEV].contains(error.errno)
            guard isUnable else { throw error }
            return try PartFile.create(file.name, in: folder)
        }
    }
}
