// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Room on the list's disk for the commits that free more of it, as the removal of a task does.
///
/// The file `reserve` beside the list holds it. Where the disk is full the file goes, and what has
/// failed is tried once more; it comes back with later commits, when there is room again.
final class SpaceReserve: Sendable {
    /// In bytes: some hundred commits of a few tasks.
    private static let size: off_t = 262_144

    private let path: String
    private let isKept = Mutex(false)

    init(folder: String) { path = folder + "/reserve" }

    /// Takes the room, if there is any.
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

    /// Gives the room up.
    ///
    /// - Returns: whether there was any.
    func release() -> Bool {
        isKept.withLock { isKept in
            isKept = false
            return unlink(path) == 0
        }
    }
}
