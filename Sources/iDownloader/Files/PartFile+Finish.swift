// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

// Permissions, attributes and times that a complete file gets before it is published.
extension PartFile {
    /// Sets the permissions that any new file of the user gets: 0666 without the umask.
    ///
    /// The refusal of a file system without permissions is ignored.
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

    /// Records where the file came from in freedesktop.org's extended attributes, as browsers do.
    ///
    /// Anyone who may read the file can read these attributes: callers pass both URLs without user,
    /// password and query. Failures are ignored because not every file system has attributes, or
    /// room for them.
    package func recordOrigin(url: String, referrer: String?) {
        guard !url.isEmpty else { return }
        try? fileSystem.setAttribute("user.xdg.origin.url", to: url, of: number)
        guard let referrer else { return }
        try? fileSystem.setAttribute("user.xdg.referrer.url", to: referrer, of: number)
    }

    /// Sets the modification time, which later writes replace.
    ///
    /// If the file system cannot store the time, the file keeps its own.
    package func setModificationTime(_ time: WallTime) {
        try? fileSystem.setModificationTime(time, of: number)
    }
}
