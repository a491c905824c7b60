// SPDX-License-Identifier: Apache-2.0

import CLinux
package import Glibc
package import iDownState

/// What tells a file from every other: the device, the inode, and when the file was made.
///
/// The inode alone would not do: ext4 gives that of a deleted file to the next one at once. Where
/// a file system knows no time of birth, it has to.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    /// The inode, with the time of birth mixed in.
    package let inode: UInt64

    init(_ status: statx) {
        let birth = UInt64(bitPattern: status.stx_btime.tv_sec) &* 1_000_000_000
        let nanoseconds = birth &+ UInt64(status.stx_btime.tv_nsec)
        // An odd factor, so that no two times meet.
        inode = status.stx_ino &+ nanoseconds &* 0x9E37_79B9_7F4A_7C15
        device = UInt64(status.stx_dev_major) << 32 | UInt64(status.stx_dev_minor)
    }

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// The identity that was recorded when the file was made.
    package init(_ file: LocalFile) {
        self.init(device: file.device, inode: file.inode)
    }
}

/// What the system says of a file; stat(2).
package struct FileStatus: Hashable, Sendable {
    package let identity: FileIdentity
    /// Neither a folder nor a link, a pipe, a socket or a device.
    package let isRegular: Bool
    package let isFolder: Bool
    package let isLink: Bool
    /// Bytes.
    package let size: Int64
    /// Bytes of disk that it takes, those reserved beyond its size included.
    package let allocated: Int64
    /// How many names the file has.
    package let linkCount: UInt64
    /// The permission bits alone.
    package let mode: mode_t
    package let owner: uid_t

    init(_ status: statx) {
        identity = FileIdentity(status)
        let kind = mode_t(status.stx_mode) & S_IFMT
        isRegular = kind == S_IFREG
        isFolder = kind == S_IFDIR
        isLink = kind == S_IFLNK
        size = Int64(clamping: status.stx_size)
        allocated = Int64(
            clamping: status.stx_blocks.multipliedReportingOverflow(by: 512).partialValue
        )
        linkCount = UInt64(status.stx_nlink)
        mode = mode_t(status.stx_mode) & 0o7777
        owner = status.stx_uid
    }
}
