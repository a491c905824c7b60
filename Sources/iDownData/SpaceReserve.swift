// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Reserved disk space for commits that free more space, such as the removal of a task.
///
/// The file `reserve` beside the list holds the space. When the disk is full, the file is deleted
/// and the failed commit is tried once more; a later commit makes the file again.
final class SpaceReserve: Sendable {
    /// The size in bytes: enough for some hundred commits of a few tasks.
    private static let size: off_t = 262_144

    private let path: String
    private let isKept = Mutex(false)

    init(folder: String) { path = folder + "/reserve" }

    /// Reserves the space, if the disk has enough.
    func keep() {
        isKept.withLock { isKept in
            guard !isKept else { return }
            let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { return }
            isKept = posix_fallocate(descriptor, 0, Self.size) == 0
            close(descriptor)
            if !isKept { unlink(path) }
        }
    }

    /// Gives the space up before the store opens if the disk has hardly any other.
    ///
    /// SQLite maps its file `-shm` into memory, where a write that finds no block ends the process
    /// (SIGBUS, mmap(2)). It makes sure of a block for each 4 KiB, but those of a small file system
    /// may be smaller.
    ///
    /// - Throws: `ENOSPC` where such a file system has nothing left.
    func giveForOpening() throws(FileFailure) {
        let folder = Files.parent(of: path)
        var disk = statvfs()
        // Some file systems of FUSE tell no sizes at all.
        let hasLess = { (size: UInt) in
            statvfs(folder, &disk) == 0 && disk.f_blocks > 0
                && disk.f_bavail < size / max(1, disk.f_frsize)
        }
        guard hasLess(UInt(Self.size)), !release(), disk.f_frsize < 4_096, hasLess(65_536) else {
            return
        }
        throw FileFailure(operation: "mmap", path: folder, code: ENOSPC)
    }

    /// Gives the space up.
    ///
    /// - Returns: whether any space was reserved.
    func release() -> Bool {
        isKept.withLock { isKept in
            isKept = false
            return unlink(path) == 0
        }
    }
}
