// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

// What the system tells about paths, file systems and this process.
extension FileSystem {
    /// Returns the bytes that this user may still write to the file system; fstatvfs(3).
    ///
    /// Returns 0 if no further file can be made: a disk may run out of inodes before bytes.
    package func freeBytes(at descriptor: Int32) throws(FileError) -> Int64 {
        var status = statvfs()
        _ = try call("fstatvfs") { fstatvfs(descriptor, &status) }
        if observer?.isFull == true { return 0 }
        // Some file systems, mostly network ones, tell no size at all.
        if status.f_blocks == 0 { return .max }
        // Some file systems make inodes on demand, and report a total of 0 inodes.
        if status.f_files > 0, status.f_favail == 0 { return 0 }
        let (bytes, overflow) = UInt64(status.f_bavail)
            .multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }

    /// Returns the length in bytes of the longest name that the folder takes; fpathconf(3).
    ///
    /// If the file system does not say, this is 255, which all of Linux's own file systems support.
    package func nameLimit(of folder: Int32) -> Int {
        let answer = try? call("fpathconf") { fpathconf(folder, Int32(_PC_NAME_MAX)) }
        guard let answer, answer > 0 else { return 255 }
        return min(answer, 255)
    }

    /// Returns the path with all links resolved; nil if it does not exist; realpath(3).
    ///
    /// Throws `EILSEQ` for a path that is not UTF-8, because idown does not support such paths.
    package func resolve(_ path: String) throws(FileError) -> String? {
        var resolved: UnsafeMutablePointer<CChar>?
        defer { free(resolved) }
        do {
            _ = try call("realpath") { () -> Int32 in
                resolved = realpath(path, nil)
                return resolved == nil ? -1 : 0
            }
        } catch .system(ENOENT, _) {
            return nil
        }
        guard let resolved, let text = String(validatingCString: resolved) else {
            throw .system(EILSEQ, "realpath")
        }
        return text
    }

    /// Returns the path that an open folder has now; readlink(2) of `/proc/self/fd`.
    ///
    /// The kernel appends ` (deleted)` to the path of a deleted folder, which then equals no
    /// recorded path.
    package func path(of descriptor: Int32) throws(FileError) -> String {
        try readLink("/proc/self/fd/\(descriptor)")
    }

    /// Returns the target of a link; nil if the path is no link or cannot be read; readlink(2).
    func target(of path: String) -> String? { try? readLink(path) }

    private func readLink(_ path: String) throws(FileError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = try call("readlink") { readlink(path, &buffer, buffer.count) }
        guard let target = String(validating: buffer.prefix(count), as: UTF8.self) else {
            throw .system(EILSEQ, "readlink")
        }
        return target
    }

    /// The umask: the permissions that new files of this process do not get; umask(2).
    ///
    /// The call can only read the value by changing it for all threads. So it is made once, early, and
    /// a file that another thread makes meanwhile is withheld from other users.
    package static let umask: UInt32 = {
        let umask = Glibc.umask(0o077)
        _ = Glibc.umask(umask)
        return umask
    }()
}
