// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The right to use the store: an exclusive lock on the file `lock` in the state folder.
///
/// The lock is held as long as the object exists. The kernel drops it with the process, however
/// that ends, so no stale lock can remain.
package final class StateLock: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Takes the lock, and makes its folder (0700) and file (0600) if they are missing.
    ///
    /// Never waits: it returns nil if another process holds the lock. It uses flock(2), not
    /// fcntl(2), because a flock belongs to the open file, and closing another descriptor of the
    /// file does not release it.
    package static func tryAcquire(folder: String) throws(FileFailure) -> StateLock? {
        let files = Files(faults: nil)
        try files.makePrivateFolder(folder)
        let path = folder + "/lock"
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try files.call("open", path) { open(path, flags, 0o600 as mode_t) }
        let lock = StateLock(descriptor: descriptor)
        try files.call("fchmod", path) { fchmod(descriptor, 0o600) }
        do {
            try files.call("flock", path) { flock(descriptor, LOCK_EX | LOCK_NB) }
        } catch  where error.code == EWOULDBLOCK {
            return nil
        }
        return lock
    }
}
