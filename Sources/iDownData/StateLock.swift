// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The right to use the store: an exclusive lock on `lock` in the state folder.
///
/// Held for the object's life. The kernel drops it with the process, however that ends, so no
/// stale lock can be left behind.
package final class StateLock: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Takes the lock, making the folder (0700) and the file (0600) where they are missing.
    ///
    /// Never waits: nil when somebody else holds it. flock(2), not fcntl(2): the lock belongs to
    /// the open file, so closing another descriptor of the same file does not drop it.
    package static func tryAcquire(
        folder: String,
        faults: FileFaults? = nil
    ) throws(FileFailure) -> StateLock? {
        let files = Files(faults: faults)
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
