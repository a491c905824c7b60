// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

// In a restored or copied home, partial files have other inodes, and often a file system with
// another number. So each checkpoint stores what the record says of a partial file in an extended
// attribute, which backups copy with the file (cp -a, rsync -X, borg, restic, snapshots).
//
// The rule: idown may continue and delete a regular file under the recorded name if its attribute
// names the recorded file and only this user may access it. A file without the attribute could
// belong to another program, even if the bytes are equal: it is left alone, and the download starts
// again under another name.
extension PartFile {
    fileprivate static let attribute = "user.idown.part"

    /// Stores what the record says of the file in its extended attribute.
    ///
    /// Failures are ignored because not every file system has attributes.
    ///
    /// - Parameter byteCount: the number of bytes that the record claims.
    func writeRecordAttribute(byteCount: Int64) {
        let text = "\(file.fileSystem) \(file.mark) \(byteCount)"
        try? fileSystem.setAttribute(Self.attribute, to: text, of: number)
    }

    /// Removes the attribute, which a finished file must not have.
    func removeRecordAttribute() { try? fileSystem.removeAttribute(Self.attribute, of: number) }
}

extension OpenFolder {
    /// Returns the number of bytes that the record claimed when the copy was made; nil if this is
    /// no copy of the recorded file.
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
        guard let part = try? open(file.partName, flags: O_RDONLY),
            let found = try? fileSystem.status(of: part.number), found.identity == status.identity
        else { return false }
        return copiedByteCount(of: file, found, part.number) != nil
    }
}
