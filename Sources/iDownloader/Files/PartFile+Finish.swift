// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

// What a complete file gets before it is published.
extension PartFile {
    /// Gives the permissions that any new file of the user has: 0666 without the umask.
    ///
    /// File systems without permissions refuse, and need none.
    package func setFinalPermissions() throws(FileError) {
        do throws(FileError) {
            try fileSystem.setMode(0o666 & ~fileSystem.umask(), of: number)
        } catch {
            switch error.errno {
            case EPERM, ENOTSUP, ENOSYS, EINVAL: return
            default: throw error
            }
        }
    }

    /// Records where the file came from, as browsers do (freedesktop.org's extended attributes).
    ///
    /// Anybody who may read the file can read them: both come without user, password and query.
    /// Never fails: not every file system has attributes, or room for them.
    package func recordOrigin(url: String, referrer: String?) {
        guard !url.isEmpty else { return }
        try? fileSystem.setAttribute("user.xdg.origin.url", to: url, of: number)
        guard let referrer else { return }
        try? fileSystem.setAttribute("user.xdg.referrer.url", to: referrer, of: number)
    }

    /// Sets the time of the last change, which later writes replace.
    ///
    /// Never fails: a file system that cannot have the time keeps its own.
    package func setModificationTime(_ time: WallTime) {
        try? fileSystem.setModificationTime(time, of: number)
    }
}
