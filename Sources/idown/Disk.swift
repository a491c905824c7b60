// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// Disks that may take long to answer: they sleep, are mounted at the first use, or hang.
enum Disk {
    /// The paths that were looked at: a list may name a folder a hundred thousand times.
    private static let seen = Mutex<Set<String>>([])

    /// Returns once the disk of a file or a folder answers: open(2), pread(2).
    ///
    /// After ten seconds it says so and waits on, because the user can end the command by Ctrl-C. A
    /// pipe is not opened, because its writer may take as long as it likes.
    static func wait(for path: String) {
        guard seen.withLock({ $0.insert(path).inserted }) else { return }
        let notice = DispatchWorkItem {
            Output.complain(
                "the disk of \(path) does not answer; waiting for it, Ctrl-C ends the wait"
            )
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(10), execute: notice)
        defer { notice.cancel() }
        var status = stat()
        guard stat(path, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            return
        }
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        var byte: UInt8 = 0
        pread(file, &byte, 1, 0)
        close(file)
    }

    /// Returns whether there is something at a path, once its disk answers: access(2).
    static func exists(_ path: String) -> Bool {
        wait(for: path)
        return access(path, F_OK) == 0
    }

    /// Returns the path of a file or folder without links; nil if there is none: realpath(3).
    static func resolved(_ path: String) -> String? {
        guard let target = realpath(path, nil) else { return nil }
        defer { free(target) }
        return String(cString: target)
    }

    /// Returns why a regular file cannot be read, once its disk answers; nil if it can be: stat(2),
    /// access(2).
    static func obstacle(to path: String) -> String? {
        wait(for: path)
        var status = stat()
        guard stat(path, &status) == 0 else { return String(cString: strerror(errno)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return access(path, R_OK) == 0 ? nil : String(cString: strerror(errno))
        case S_IFDIR: return String(cString: strerror(EISDIR))
        default: return "it is not a regular file"
        }
    }
}
