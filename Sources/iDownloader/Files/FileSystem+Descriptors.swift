// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

// Calls on open descriptors.
extension FileSystem {
    /// Returns the metadata of an open file or folder, birth time included; statx(2).
    package func status(of descriptor: Int32) throws(FileError) -> FileStatus {
        var status = statx()
        _ = try call("statx") {
            statx(descriptor, "", CLINUX_AT_EMPTY_PATH, CLINUX_STATX_WANTED, &status)
        }
        return FileStatus(status)
    }

    /// Returns the size in bytes that this computer knows without asking a server; statx(2).
    ///
    /// NFS would first have to send all written bytes to answer with the server's size.
    package func knownSize(of descriptor: Int32) throws(FileError) -> Int64 {
        var status = statx()
        let flags = CLINUX_AT_EMPTY_PATH | CLINUX_AT_STATX_DONT_SYNC
        _ = try call("statx") { statx(descriptor, "", flags, UInt32(STATX_SIZE), &status) }
        return Int64(clamping: status.stx_size)
    }

    /// Writes all bytes from `offset` on, in as many calls as it takes; pwrite(2).
    ///
    /// If this throws, any part of the bytes may have been written.
    package func write(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        at offset: Int64
    ) throws(FileError) {
        var rest = bytes
        var offset = offset
        while !rest.isEmpty {
            let portion = UnsafeRawBufferPointer(
                rebasing: rest.prefix(observer?.longestWrite ?? .max)
            )
            observer?.willWrite(descriptor, at: offset, count: portion.count)
            let written = try call("pwrite") {
                pwrite(descriptor, portion.baseAddress, portion.count, off_t(offset))
            }
            // By POSIX, a write of one or more bytes never returns 0. Without this check a broken
            // driver would hold the thread for ever.
            guard written > 0 else { throw .system(EIO, "pwrite") }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            offset += Int64(written)
        }
    }

    /// Reads until the buffer is full or the file ends, and returns the count of bytes; pread(2).
    package func read(
        into buffer: UnsafeMutableRawBufferPointer,
        from descriptor: Int32,
        at offset: Int64
    ) throws(FileError) -> Int {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let read = try call("pread") {
                pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(count))
            }
            guard read > 0 else { break }
            count += read
        }
        return count
    }

    /// Makes a file, or the names in a folder, durable; fsync(2).
    package func synchronize(_ descriptor: Int32) throws(FileError) {
        _ = try call("fsync") { fsync(descriptor) }
        observer?.didSynchronize(descriptor)
    }

    /// Sets an extended attribute; fsetxattr(2).
    package func setAttribute(
        _ name: String,
        to value: String,
        of descriptor: Int32
    ) throws(FileError) {
        let bytes = Array(value.utf8)
        _ = try call("fsetxattr") { fsetxattr(descriptor, name, bytes, bytes.count, 0) }
    }

    /// Returns the value of an extended attribute, at most 256 bytes; fgetxattr(2).
    ///
    /// Throws `ENODATA` if there is none, and `ERANGE` if the value is longer.
    package func attribute(_ name: String, of descriptor: Int32) throws(FileError) -> String {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = try call("fgetxattr") { fgetxattr(descriptor, name, &bytes, bytes.count) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Removes an extended attribute; fremovexattr(2).
    package func removeAttribute(_ name: String, of descriptor: Int32) throws(FileError) {
        _ = try call("fremovexattr") { fremovexattr(descriptor, name) }
    }
}
