// SPDX-License-Identifier: Apache-2.0

import Glibc

/// That somebody waits for the ``StateLock``: a shared lock on `lock.wanted` beside it.
///
/// Whoever has the lock and nobody to serve looks for it, and makes room. The kernel drops it with
/// the process, however that ends, so that nobody makes room for somebody who is gone.
package final class LockWish: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Lets the holder know, making the file (0600) where it is missing.
    ///
    /// - Returns: nil while somebody looks at it, which is over in an instant.
    /// - Throws: Why the file cannot be opened; the folder was made by ``StateLock``.
    package static func tryMake(folder: String) throws(FileFailure) -> LockWish? {
        let files = Files()
        let path = Self.path(in: folder)
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try files.call("open", path) { open(path, flags, 0o600 as mode_t) }
        let wish = LockWish(descriptor: descriptor)
        return flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? wish : nil
    }

    /// Whether somebody waits.
    ///
    /// Nobody does where that cannot be told: flock(2).
    package static func isThere(folder: String) -> Bool {
        let descriptor = open(path(in: folder), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        // Closing it drops what it has locked.
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    private static func path(in folder: String) -> String { folder + "/lock.wanted" }
}
