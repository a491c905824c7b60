// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc
import Synchronization
package import iDownState

/// A partial file, open for reading and writing.
///
/// All calls block. Several threads may use the file at once for different ranges.
package final class PartFile: Sendable {
    /// The intended final name, and the mark by which the file is recognized.
    package let file: LocalFile
    package let folder: OpenFolder
    let descriptor: Descriptor
    /// If this is a copy of the recorded file, the number of bytes that the record claimed when the
    /// copy was made; nil for the recorded file itself.
    package let copiedByteCount: Int64?
    /// The end of the bytes written so far.
    private let extent = Atomic<Int64>(0)

    init(
        _ file: LocalFile,
        _ folder: OpenFolder,
        _ descriptor: Descriptor,
        copiedByteCount: Int64? = nil
    ) {
        self.copiedByteCount = copiedByteCount
        self.file = file
        self.folder = folder
        self.descriptor = descriptor
    }

    /// Makes `<name>.part`, which must not exist, with access for this user only.
    ///
    /// - Throws: `nameTaken` if the name is taken, even by a link.
    package static func create(
        _ name: String,
        in folder: OpenFolder
    ) throws(FileError) -> PartFile {
        let fileSystem = folder.fileSystem
        let partName = name + LocalFile.partSuffix
        let descriptor = try folder.create(partName)
        do throws(FileError) {
            let identity = try fileSystem.status(of: descriptor.number).identity
            return PartFile(folder.record(identity, as: name), folder, descriptor)
        } catch {
            // The file is new and empty, and no record will ever name it.
            try? fileSystem.unlink(partName, in: folder.number)
            throw error
        }
    }

    /// Opens the partial file of an earlier attempt, or the copy of it in a restored or copied
    /// home.
    ///
    /// A file with a second hard link is accepted: permissions belong to the file, so that the
    /// second name gives no further access. With O_RDONLY as `access` the file can only be read.
    ///
    /// - Throws: `vanished` if nothing has the name; `notOurs` if something else has it: a link, a
    ///   folder, a pipe, or a file that is no copy; `otherDrive` in both cases if the recorded file
    ///   was made on another file system.
    package static func reopen(
        _ file: LocalFile,
        in folder: OpenFolder,
        for access: Int32 = O_RDWR
    ) throws(FileError) -> PartFile {
        do throws(FileError) {
            let descriptor = try folder.open(file.partName, flags: access)
            let status = try folder.fileSystem.status(of: descriptor.number)
            let part: PartFile
            if status.isRegular, folder.isRecorded(status, as: file) {
                part = PartFile(file, folder, descriptor)
            } else if let count = folder.copiedByteCount(of: file, status, descriptor.number) {
                let copy = folder.record(status.identity, as: file.name)
                part = PartFile(copy, folder, descriptor, copiedByteCount: count)
            } else {
                throw .notOurs
            }
            part.extent.store(status.size, ordering: .relaxed)
            return part
        } catch {
            guard error.isAbsence, folder.isElsewhere(file) else { throw error }
            throw .otherDrive
        }
    }

    var fileSystem: FileSystem { folder.fileSystem }
    var number: Int32 { descriptor.number }
    /// The thread that writes bytes for callers who must not wait for the disk; nil if all may.
    var bytes: DiskThread? { descriptor.thread?.bytes }

    /// Returns the size in bytes.
    package func size() throws(FileError) -> Int64 {
        try fileSystem.status(of: descriptor.number).size
    }

    /// Returns the bytes of disk that the file already takes.
    package func allocatedBytes() throws(FileError) -> Int64 {
        try fileSystem.status(of: descriptor.number).allocated
    }

    /// Reserves disk blocks up to `length` if the file system can; the size stays the same;
    /// fallocate(2).
    ///
    /// - Throws: only if space is lacking: other failures to reserve do not prevent writing.
    package func reserve(upTo length: Int64) throws(FileError) {
        guard length > 0 else { return }
        do throws(FileError) {
            _ = try fileSystem.call("fallocate") {
                fallocate(number, CLINUX_FALLOC_FL_KEEP_SIZE, 0, off_t(length))
            }
        } catch {
            switch error.errno {
            case ENOSPC, EDQUOT, EFBIG: throw error
            default: return
            }
        }
    }

    /// Writes all bytes from `offset` on.
    ///
    /// - Throws: `shortened` if the file has lost bytes: a write behind its new end would leave a
    ///   hole, which reads like zeros from the server.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        let known = extent.load(ordering: .relaxed)
        if known > 0, try fileSystem.knownSize(of: number) < known { throw .shortened }
        try fileSystem.write(bytes, to: number, at: offset)
        extent.max(offset + Int64(bytes.count), ordering: .relaxed)
    }

    /// Writes all bytes from `offset` on.
    func write(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
        try bytes.withUnsafeBufferPointer { bytes throws(FileError) in
            try write(UnsafeRawBufferPointer(bytes), at: offset)
        }
    }

    /// Throws `shortened` if another program has truncated the file.
    package func expectAllWritten() throws(FileError) {
        let extent = extent.load(ordering: .relaxed)
        guard extent > 0 else { return }
        guard try size() >= extent else { throw .shortened }
    }

    /// Reads from `offset` on until the buffer is full or the file ends, and returns the count of
    /// bytes.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(FileError) -> Int {
        try fileSystem.read(into: buffer, from: number, at: offset)
    }

    /// Shortens the file, or extends it with a hole; ftruncate(2).
    package func truncate(to length: Int64) throws(FileError) {
        fileSystem.observer?.willTruncate(number, to: length)
        _ = try fileSystem.call("ftruncate") { ftruncate(number, off_t(length)) }
        extent.store(length, ordering: .relaxed)
    }

    /// Makes the written bytes durable, and the metadata needed to read them; fdatasync(2).
    ///
    /// After a failure, no byte written since the last success can be relied on, because the kernel
    /// reports a lost write only once.
    package func synchronizeData() throws(FileError) {
        _ = try fileSystem.call("fdatasync") { fdatasync(number) }
        fileSystem.observer?.didSynchronize(number)
    }

    /// Starts to write the bytes to the disk and does not wait, so that later syncs of several
    /// files delay one another less; sync_file_range(2).
    ///
    /// This does not make the bytes durable: a later sync does, and reports failures.
    package func startWriting() {
        _ = try? fileSystem.call("sync_file_range") {
            sync_file_range(number, 0, 0, CLINUX_SYNC_FILE_RANGE_WRITE)
        }
    }

    /// Makes bytes, permissions and attributes durable.
    package func synchronize() throws(FileError) {
        try fileSystem.synchronize(descriptor.number)
    }

    /// Returns the bytes from `start` to `end`, fewer if the file ends before.
    func bytes(from start: Int64, to end: Int64) throws(FileError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(max(0, end - start)),
            alignment: 16
        )
        defer { buffer.deallocate() }
        let count = try read(into: buffer, at: start)
        return Array(buffer.prefix(count))
    }

    /// Compares bytes with those in the file from `offset` on.
    ///
    /// - Returns: the number of leading bytes that are equal, at most as many as the file has.
    package func commonPrefixLength(
        with bytes: UnsafeRawBufferPointer,
        at offset: Int64
    ) throws(FileError) -> Int {
        let own = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { own.deallocate() }
        let count = try read(into: own, at: offset)
        guard count > 0, let left = bytes.baseAddress, let right = own.baseAddress else { return 0 }
        if memcmp(left, right, count) == 0 { return count }
        return zip(bytes, own).prefix(count).prefix { $0 == $1 }.count
    }

    // MARK: What a complete file gets before it is published

    /// Sets the permissions that any new file of the user gets: 0666 without the umask; fchmod(2).
    ///
    /// The refusal of a file system without permissions is ignored.
    package func setFinalPermissions() throws(FileError) {
        do throws(FileError) {
            let mode = 0o666 & ~FileSystem.umask
            _ = try fileSystem.call("fchmod") { fchmod(number, mode) }
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

    /// Sets the modification time, which later writes replace, and leaves the access time;
    /// futimens(3).
    ///
    /// If the file system cannot store the time, the file keeps its own.
    package func setModificationTime(_ time: WallTime) {
        var (seconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        if rest < 0 { (seconds, rest) = (seconds - 1, rest + 1_000_000) }
        let times = [
            timespec(tv_sec: 0, tv_nsec: CLINUX_UTIME_OMIT),
            timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1000),
        ]
        _ = try? fileSystem.call("futimens") { futimens(number, times) }
    }
}
