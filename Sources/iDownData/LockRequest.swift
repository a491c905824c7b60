// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A sign that another service waits for the ``StateLock``: a shared lock on `lock.wanted` beside
/// it.
///
/// A service that holds the state lock but has lost its bus checks for a request, and ends if there
/// is one. The kernel drops the request with its process, however that ends, so a request never
/// outlives its process.
package final class LockRequest: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Makes a request; creates the file (0600) if it is missing.
    ///
    /// - Returns: the request; nil while the holder is just checking: try again.
    /// - Throws: the error of opening the file; ``StateLock`` has made the folder.
    package static func tryMake(folder: String) throws(FileFailure) -> LockRequest? {
        let files = Files()
        let path = Self.path(in: folder)
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try files.call("open", path) { open(path, flags, 0o600 as mode_t) }
        let request = LockRequest(descriptor: descriptor)
        return flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? request : nil
    }

    /// Whether a service waits for the state lock: flock(2).
    ///
    /// It is false if the file cannot be opened.
    package static func exists(folder: String) -> Bool {
        // NFS takes an exclusive lock only where the file is open for writing: flock(2).
        let descriptor = open(path(in: folder), O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        // Closing the descriptor releases its lock.
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    private static func path(in folder: String) -> String { folder + "/lock.wanted" }
}
