// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

// Calls on names. Each name is relative to an open folder.
extension FileSystem {
    /// Opens a name in `folder` without following a link; children do not inherit the descriptor;
    /// openat(2).
    package func open(
        _ name: String,
        in folder: Int32,
        flags: Int32,
        mode: UInt32 = 0
    ) throws(FileError) -> Descriptor {
        let number = try call("openat", on: name) {
            openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
        }
        return Descriptor(owning: number)
    }

    /// Returns the metadata of the entry, birth time included; nil if there is none; statx(2).
    ///
    /// Of a link, this is its own metadata, not that of its target.
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

    /// Renames a file, in its folder or to another one, and never replaces a file; renameat2(2).
    ///
    /// Fails with EEXIST if the new name is taken, and with EXDEV between file systems.
    func renameToFree(
        _ old: String,
        in folder: Int32,
        as new: String,
        in target: Int32
    ) throws(FileError) {
        _ = try call("renameat2", on: new) {
            renameat2(folder, old, target, new, CLINUX_RENAME_NOREPLACE)
        }
        if folder == target { observer?.didRename(old, as: new, in: folder) }
    }

    /// Gives a file a second name, which must be free, in its folder or another one; linkat(2).
    func link(_ old: String, in folder: Int32, as new: String, in target: Int32) throws(FileError) {
        _ = try call("linkat", on: new) { linkat(folder, old, target, new, 0) }
    }

    /// Renames a file and replaces any file that has the new name; renameat(2).
    func renameReplacing(
        _ old: String,
        in folder: Int32,
        as new: String,
        in target: Int32
    ) throws(FileError) {
        _ = try call("renameat") { renameat(folder, old, target, new) }
    }

    /// Makes a file without a name, which is deleted with its last descriptor; O_TMPFILE of
    /// open(2).
    func openUnnamed(in folder: Int32, mode: UInt32) throws(FileError) -> Descriptor {
        let number = try call("openat") {
            openat(folder, ".", CLINUX_O_TMPFILE | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode)
        }
        return Descriptor(owning: number)
    }

    /// Gives an unnamed file a name, which must be free; linkat(2) through /proc.
    func link(_ descriptor: Int32, as name: String, in folder: Int32) throws(FileError) {
        _ = try call("linkat", on: name) {
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", folder, name, AT_SYMLINK_FOLLOW)
        }
    }

    /// Removes a name; unlinkat(2).
    package func unlink(_ name: String, in folder: Int32) throws(FileError) {
        _ = try call("unlinkat") { unlinkat(folder, name, 0) }
    }

    /// Makes a folder; returns false if the name was taken; mkdirat(2).
    package func makeFolder(
        _ name: String,
        in folder: Int32,
        mode: UInt32
    ) throws(FileError) -> Bool {
        do {
            _ = try call("mkdirat") { mkdirat(folder, name, mode) }
            return true
        } catch .system(EEXIST, _) {
            return false
        }
    }

    /// Throws if this process may not make files in the folder; faccessat(2).
    ///
    /// For root, this still detects a read-only file system.
    package func checkWritable(_ folder: Int32) throws(FileError) {
        _ = try call("faccessat") { faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) }
    }
}
