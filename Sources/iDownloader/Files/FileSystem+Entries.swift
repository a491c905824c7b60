// SPDX-License-Identifier: Apache-2.0

import CLinux
package import Glibc

// Calls on names. Each name is one element, relative to an open folder.
extension FileSystem {
    /// Opens a name below `folder`, never through a link and never inherited by a child; openat(2).
    package func open(
        _ name: String,
        in folder: Int32,
        flags: Int32,
        mode: mode_t = 0
    ) throws(FileError) -> Descriptor {
        let number = try call("openat", on: name) {
            openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
        }
        return Descriptor(owning: number)
    }

    /// What stands under the name, a link itself rather than its target; nil for nothing;
    /// statx(2), with the time of birth.
    package func status(of name: String, in folder: Int32) throws(FileError) -> FileStatus? {
        var status = statx()
        do {
            _ = try call("statx", on: name) {
                statx(folder, name, AT_SYMLINK_NOFOLLOW, CLINUX_STATX_WANTED, &status)
            }
        } catch .system(ENOENT, _) {
            return nil
        }
        return FileStatus(status)
    }

    /// Renames in a folder, or moves to another one of the same file system, where the new name is
    /// free, else fails with EEXIST, and with EXDEV between file systems; renameat2(2).
    func renameToFree(
        _ old: String,
        in folder: Int32,
        as new: String,
        in target: Int32
    ) throws(FileError) {
        _ = try call("renameat2", on: new) {
            renameat2(folder, old, target, new, CLINUX_RENAME_NOREPLACE)
        }
        if folder == target { witness?.didRename(old, as: new, in: folder) }
    }

    /// The same where the caller has reserved the new name, and the file system may have no such
    /// call; renameat(2).
    func moveToFree(
        _ old: String,
        in folder: Int32,
        to new: String,
        in target: Int32
    ) throws(FileError) {
        do throws(FileError) {
            try renameToFree(old, in: folder, as: new, in: target)
        } catch {
            guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(error.errno) else { throw error }
            _ = try call("renameat") { renameat(folder, old, target, new) }
        }
    }

    /// Gives a file a second name, in this folder or another one, which must be free; linkat(2).
    func link(
        _ old: String,
        in folder: Int32,
        as new: String,
        in target: Int32
    ) throws(FileError) {
        _ = try call("linkat", on: new) { linkat(folder, old, target, new, 0) }
    }

    /// Renames and replaces what stands under the new name; renameat(2).
    func renameReplacing(_ old: String, as new: String, in folder: Int32) throws(FileError) {
        _ = try call("renameat") { renameat(folder, old, folder, new) }
    }

    /// Makes a file without a name, which goes with its last descriptor; O_TMPFILE of open(2).
    func openUnnamed(in folder: Int32, mode: mode_t) throws(FileError) -> Descriptor {
        let number = try call("openat") {
            openat(folder, ".", CLINUX_O_TMPFILE | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode)
        }
        return Descriptor(owning: number)
    }

    /// Gives an unnamed file a name, which must be free; linkat(2) by way of /proc.
    func link(_ descriptor: Int32, as name: String, in folder: Int32) throws(FileError) {
        _ = try call("linkat", on: name) {
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", folder, name, AT_SYMLINK_FOLLOW)
        }
    }

    /// Takes a name away; unlinkat(2).
    package func unlink(_ name: String, in folder: Int32) throws(FileError) {
        _ = try call("unlinkat") { unlinkat(folder, name, 0) }
    }

    /// Makes a folder; true where it is new, false where the name was there; mkdirat(2).
    package func makeFolder(
        _ name: String,
        in folder: Int32,
        mode: mode_t
    ) throws(FileError) -> Bool {
        do {
            _ = try call("mkdirat") { mkdirat(folder, name, mode) }
            return true
        } catch .system(EEXIST, _) {
            return false
        }
    }

    /// Fails where this process may not make files in the folder; faccessat(2).
    ///
    /// For root it still tells a file system that is read-only.
    package func checkWritable(_ folder: Int32) throws(FileError) {
        _ = try call("faccessat") { faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) }
    }
}
