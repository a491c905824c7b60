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
