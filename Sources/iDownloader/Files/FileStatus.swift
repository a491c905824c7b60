// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Identifies a file among all that exist at this moment; statx(2).
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    /// When the file was made, in nanoseconds since 1970-01-01 UTC; 0 if the file system does not
    /// record that.
    package let birth: Int64
}

extension FileIdentity {
    init(_ status: statx) {
        device = UInt64(status.stx_dev_major) << 32 | UInt64(status.stx_dev_minor)
        inode = status.stx_ino
        birth = status.stx_btime.tv_sec &* 1_000_000_000 &+ Int64(status.stx_btime.tv_nsec)
    }
}

/// The metadata of a file; statx(2).
package struct FileStatus: Hashable, Sendable {
    package let identity: FileIdentity
    /// Whether it is a regular file: no folder, link, pipe, socket or device.
    package let isRegular: Bool
    package let isFolder: Bool
    /// The size in bytes.
    package let size: Int64
    /// The bytes of disk that the file takes, including those reserved beyond its size.
    package let allocated: Int64
    /// The number of names (hard links) that the file has.
    package let linkCount: UInt64
    /// The permission bits, without the file type.
    package let mode: UInt32
    package let owner: UInt32

    init(_ status: statx) {
        identity = FileIdentity(status)
        let kind = mode_t(status.stx_mode) & S_IFMT
        isRegular = kind == S_IFREG
        isFolder = kind == S_IFDIR
        size = Int64(clamping: status.stx_size)
        allocated = Int64(
            clamping: status.stx_blocks.multipliedReportingOverflow(by: 512).partialValue
        )
        linkCount = UInt64(status.stx_nlink)
        mode = mode_t(status.stx_mode) & 0o7777
        owner = status.stx_uid
    }
}
