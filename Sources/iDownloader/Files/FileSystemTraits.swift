// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// What sets one file system apart from others; statfs(2).
package struct FileSystemTraits: Hashable, Sendable {
    /// The same each time that it is mounted, as far as that can be had; 0 for one that ends with
    /// its mount (tmpfs), of which nothing can be missing.
    package let number: UInt64
    /// Whether files can have holes: where they cannot, a byte far behind a file's end has the kernel
    /// write all that is before it first.
    package let hasHoles: Bool
    /// Whether a file has the same inode each time that it is mounted.
    package let hasLastingInodes: Bool

    /// What the system says of the file system that something open is on; fstatfs(2).
    ///
    /// Where it says nothing, one like Linux' own.
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

    /// What Linux gives out for `f_fsid` where it knows nothing but the device (XFS, FAT), which has
    /// another number when drives are found in another order.
    private static func id(ofDevice file: statx) -> UInt64 {
        let (major, minor) = (UInt64(file.stx_dev_major), UInt64(file.stx_dev_minor))
        return minor & 0xFF | major << 8 | (minor & ~0xFF) << 12
    }

    /// - Parameters:
    ///   - kind: the number of its kind, as statfs(2) lists them.
    ///   - id: `f_fsid`, which is of the superblock on ext4 and btrfs; 0 where it is not (NFS, XFS),
    ///     and the kind has to do.
    package init(kind: UInt32, id: UInt64) {
        let isVolatile = [Self.tmpfs, Self.ramfs].contains(kind)
        number = isVolatile ? 0 : id ^ UInt64(kind) &* 0x9E37_79B9_7F4A_7C15
        hasHoles =
            ![Self.fat, Self.exFAT, Self.ntfs, Self.ntfs3, Self.hfs, Self.hfsPlus].contains(kind)
        hasLastingInodes = ![Self.fat, Self.exFAT].contains(kind)
    }

    /// What is recorded of a file, to know it again by.
    ///
    /// Without lasting inodes its birth alone, to the two seconds that FAT may keep of it: what the
    /// kernel had in memory and what the disk gives back are then the same.
    package func mark(of file: FileIdentity) -> UInt64 {
        guard hasLastingInodes || file.birth == 0 else {
            return mixed(file.birth / 2_000_000_000)
        }
        return file.inode &+ mixed(file.birth)
    }

    /// By an odd factor, so that no two times meet.
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
