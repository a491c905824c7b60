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
