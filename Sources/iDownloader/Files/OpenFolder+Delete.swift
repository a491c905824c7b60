// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

extension OpenFolder {
    /// Deletes the partial file if it is the one that idown made, or a copy of it.
    ///
    /// Linux has no call that deletes a name only if it belongs to a certain inode. If another
    /// program replaces the file between the check and the call, the replacement is deleted.
    ///
    /// - Returns: false if no such file was there; then nothing was deleted.
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
