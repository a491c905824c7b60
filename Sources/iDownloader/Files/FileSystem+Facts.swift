// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

// What the system tells about paths, file systems and this process.
extension FileSystem {
    /// Returns the bytes that this user may still write to the file system; fstatvfs(3).
    ///
    /// Returns 0 if no further file can be made: a disk may run out of inodes before bytes.
    package func freeBytes(at descriptor: Int32) throws(FileError) -> Int64 {
        var status = statvfs()
        _ = try call("fstatvfs") { fstatvfs(descriptor, &status) }
        if faults?.takeFullness() == true || observer?.isFull == true { return 0 }
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

    /// Returns the umask: the permissions that new files of this process do not get;
    /// proc_pid_status(5).
    ///
    /// umask(2) can only read the value by changing it for all threads. If /proc does not tell the
    /// umask, this returns 077, which withholds everything from other users.
    package func umask() -> UInt32 {
        knownUmask.withLock { known in
            let umask = known ?? readUmask()
            known = umask
            return umask
        }
    }

    private func readUmask() -> mode_t {
        let strictest: mode_t = 0o077
        guard let file = try? open("/proc/self/status", in: AT_FDCWD, flags: O_RDONLY) else {
            return strictest
        }
        // The line follows the process name, which has at most 64 bytes.
        var head = [UInt8](repeating: 0, count: 1024)
        let count = head.withUnsafeMutableBytes { bytes in
            (try? read(into: bytes, from: file.number, at: 0)) ?? 0
        }
        for line in head.prefix(count).split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix("Umask:") else { continue }
            let digits = text.dropFirst(6).drop { $0 == " " || $0 == "\t" }
            return mode_t(digits, radix: 8).map { $0 & 0o777 } ?? strictest
        }
        return strictest
    }
}
