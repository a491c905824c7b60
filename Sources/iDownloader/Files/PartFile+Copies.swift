// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

// A home that was restored or copied has its partial files under other inodes, and often on a file
// system with another number. So at each checkpoint a partial file gets an attribute with what its
// record has of it, which backups take along with the file (cp -a, rsync -X, borg, restic,
// snapshots).
//
// The rule: a regular file of this user alone, under the recorded name, whose attribute names the
// recorded file is idown's own, and may be continued and deleted. Without the attribute nothing tells
// it from what another program keeps under that name, also where the bytes are equal: it is left
// alone, and the download begins anew beside it.
extension PartFile {
    fileprivate static let attribute = "user.idown.part"

    /// Has the file carry what its record has of it.
    ///
    /// Never fails: not every file system has attributes.
    ///
    /// - Parameter byteCount: how many bytes the record claims.
    func carry(byteCount: Int64) {
        let text = "\(file.fileSystem) \(file.mark) \(byteCount)"
        try? fileSystem.setAttribute(Self.attribute, to: text, of: number)
    }

    /// The finished file carries nothing of it.
    func stopCarrying() { try? fileSystem.removeAttribute(Self.attribute, of: number) }
}

extension OpenFolder {
    /// How many bytes the record claimed when the file was copied that is now under the recorded name;
    /// nil where it is no copy of the recorded file.
    func copiedByteCount(of file: LocalFile, _ status: FileStatus, _ descriptor: Int32) -> Int64? {
        guard status.isRegular, status.owner == geteuid(), status.mode & 0o077 == 0,
            let text = try? fileSystem.attribute(PartFile.attribute, of: descriptor)
        else { return nil }
        let numbers = text.split(separator: " ")
        guard numbers.count == 3, UInt64(numbers[0]) == file.fileSystem,
            UInt64(numbers[1]) == file.mark
        else { return nil }
        return Int64(numbers[2])
    }

    /// Whether the regular file under the recorded partial name is a copy of the recorded file.
    func hasCopy(of file: LocalFile, _ status: FileStatus) -> Bool {
        guard
            let number = try? fileSystem.open(
                file.partName,
                in: number,
                flags: O_RDONLY | O_NONBLOCK
            ), let found = try? fileSystem.status(of: number.number),
            found.identity == status.identity
        else { return false }
        return copiedByteCount(of: file, found, number.number) != nil
    }
}
