// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

extension OpenFolder {
    /// Deletes the partial file if it is still the one that we made, or a copy of it.
    ///
    /// Linux has no call that deletes a name only while it stands for a certain inode: whoever
    /// puts another file in its place in the instant between the look and the call loses it.
    ///
    /// - Returns: false where nothing of ours was there; then nothing was touched.
    @discardableResult
    package func deletePart(_ file: LocalFile) throws(FileError) -> Bool {
        guard let status = try status(of: file.partName), status.isRegular,
            isRecorded(status, as: file) || hasCopy(of: file, status)
        else { return false }
        do throws(FileError) {
            try fileSystem.unlink(file.partName, in: number)
        } catch {
            guard error.errno == ENOENT else { throw error }
            return false
        }
        return true
    }
}
