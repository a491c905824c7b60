// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Properties that tell one file system from others; statfs(2).
package struct FileSystemTraits: Hashable, Sendable {
    /// Identifies the file system across mounts as far as possible; 0 for one whose files end with
    /// its mount (tmpfs), because such a drive cannot be missing.
    package let number: UInt64
    /// Whether files can have holes.
    ///
    /// If not, a write far behind a file's end makes the kernel first write everything before it.
    package let hasHoles: Bool
    /// Whether files keep their inode numbers across mounts.
    package let hasLastingInodes: Bool

    /// Reads the traits of the file system that an open file or folder is on; fstatfs(2).
    ///
    /// If that fails, the traits are those of Linux's own file systems, with the number 0.
    init(of descriptor: Int32) {
        var status = statfs()
        guard fstatfs(descriptor, &status) == 0 else {
            self.init(kind: 0, id: 0)
            return
        }
        let (first, second) = status.f_fsid.__val
        let id = UInt64(UInt32(bitPattern: second)) << 32 | UInt64(UInt32(bitPattern: first))
        var file = statx()
        let answer = statx(descriptor, "", CLINUX_AT_EMPTY_PATH, CLINUX_STATX_WANTED, &file)
        let isOfDevice = answer == 0 && id == Self.id(ofDevice: file)
        self.init(kind: UInt32(truncatingIfNeeded: status.f_type), id: isOfDevice ? 0 : id)
    }

    /// Returns the `f_fsid` that Linux derives from the device number alone (XFS, FAT).
    ///
    /// Such a number changes when drives are found in another order.
    private static func id(ofDevice file: statx) -> UInt64 {
        let (major, minor) = (UInt64(file.stx_dev_major), UInt64(file.stx_dev_minor))
        return minor & 0xFF | major << 8 | (minor & ~0xFF) << 12
    }

    /// - Parameters:
    ///   - kind: the file system type, `f_type` of statfs(2).
    ///   - id: `f_fsid`, which comes from the superblock on ext4 and btrfs; 0 if it does not (NFS,
    ///     XFS), and then only the type counts.
    package init(kind: UInt32, id: UInt64) {
        let isVolatile = [Self.tmpfs, Self.ramfs].contains(kind)
        number = isVolatile ? 0 : id ^ UInt64(kind) &* 0x9E37_79B9_7F4A_7C15
        hasHoles =
            ![Self.fat, Self.exFAT, Self.ntfs, Self.ntfs3, Self.hfs, Self.hfsPlus].contains(kind)
        hasLastingInodes = ![Self.fat, Self.exFAT].contains(kind)
    }

    /// Returns the mark that is recorded to recognize the file later.
    ///
    /// Without lasting inodes the mark is the birth time alone, rounded down to the two seconds
    /// that FAT can store, so that it is the same before and after a mount.
    package func mark(of file: FileIdentity) -> UInt64 {
        guard hasLastingInodes || file.birth == 0 else { return mixed(file.birth / 2_000_000_000) }
        return file.inode &+ mixed(file.birth)
    }

    /// Multiplies by an odd number, which maps no two times to the same value.
    private func mixed(_ birth: Int64) -> UInt64 {
        UInt64(bitPattern: birth) &* 0x9E37_79B9_7F4A_7C15
    }

    private static let tmpfs: UInt32 = 0x0102_1994
    private static let ramfs: UInt32 = 0x8584_58F6
    private static let fat: UInt32 = 0x4D44
    private static let exFAT: UInt32 = 0x2011_BAB0
    private static let ntfs: UInt32 = 0x5346_544E
    private static let ntfs3: UInt32 = 0x7366_746E
    private static let hfs: UInt32 = 0x4244
    private static let hfsPlus: UInt32 = 0x482B
}
