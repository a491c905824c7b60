// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization
package import iDownState

/// A file while it is being downloaded, open for reading and writing.
///
/// All calls block. It may be used from several threads at once for different ranges.
package final class PartFile: Sendable {
    /// The final name in view, and what tells the file from every other.
    package let file: LocalFile
    package let folder: OpenFolder
    let descriptor: Descriptor
    /// How many bytes the record claimed when the recorded file was copied, if this is such a copy; nil
    /// for the recorded file itself.
    package let copiedByteCount: Int64?
    /// The end of what was written so far.
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

    /// Makes `<name>.part`, which must not exist, for this user alone.
    ///
    /// - Throws: `nameTaken` where anything stands under that name, a link included.
    package static func create(
        _ name: String,
        in folder: OpenFolder
    ) throws(FileError) -> PartFile {
        let fileSystem = folder.fileSystem
        let partName = name + LocalFile.partSuffix
        let descriptor: Descriptor
        do throws(FileError) {
            descriptor = try fileSystem.open(
                partName,
                in: folder.number,
                flags: O_RDWR | O_CREAT | O_EXCL,
                mode: 0o600
            )
        } catch {
            guard error.errno == EEXIST else { throw error }
            throw .nameTaken
        }
        do throws(FileError) {
            let identity = try fileSystem.status(of: descriptor.number).identity
            return PartFile(folder.record(identity, as: name), folder, descriptor)
        } catch {
            // Just made, empty, and nobody will ever know that it is ours.
            try? fileSystem.unlink(partName, in: folder.number)
            throw error
        }
    }

    /// Opens the partial file of an earlier transfer, or a copy of it that a restored or copied home
    /// has in its place.
    ///
    /// A second name of the file says nothing against it: whoever may use that name could use this
    /// one, since the permissions are the file's.
    ///
    /// - Throws: `vanished` where it is not there; `notOurs` where something else is: a link, a
    ///   folder, a pipe, or another file that is no copy; `otherDrive` instead of both where our file
    ///   was made on another file system.
    package static func reopen(
        _ file: LocalFile,
        in folder: OpenFolder
    ) throws(FileError) -> PartFile {
        let fileSystem = folder.fileSystem
        let descriptor: Descriptor
        do throws(FileError) {
            // O_NONBLOCK: a pipe under this name must not hold the thread until it is written to.
            descriptor = try fileSystem.open(
                file.partName,
                in: folder.number,
                flags: O_RDWR | O_NONBLOCK
            )
        } catch {
            switch error.errno {
            case ENOENT: throw folder.isElsewhere(file) ? .otherDrive : .vanished
            case ELOOP, EISDIR, ENXIO, ENODEV:
                throw folder.isElsewhere(file) ? .otherDrive : .notOurs
            default: throw error
            }
        }
        let status = try fileSystem.status(of: descriptor.number)
        let part: PartFile
        if status.isRegular, folder.isRecorded(status, as: file) {
            part = PartFile(file, folder, descriptor)
        } else if let count = folder.copiedByteCount(of: file, status, descriptor.number) {
            let copy = folder.record(status.identity, as: file.name)
            part = PartFile(copy, folder, descriptor, copiedByteCount: count)
        } else {
            throw folder.isElsewhere(file) ? .otherDrive : .notOurs
        }
        part.extent.store(status.size, ordering: .relaxed)
        return part
    }

    var fileSystem: FileSystem { folder.fileSystem }
    var number: Int32 { descriptor.number }
    /// Where its bytes are written; nil where the caller's thread may wait for the disk.
    var bytes: DispatchQueue? { descriptor.lane?.bytes }

    /// The size in bytes.
    package func size() throws(FileError) -> Int64 {
        try fileSystem.status(of: descriptor.number).size
    }

    /// Bytes of disk that it takes already.
    package func allocatedBytes() throws(FileError) -> Int64 {
        try fileSystem.status(of: descriptor.number).allocated
    }

    /// Reserves the disk's blocks up to `length`, where the file system can; the size stays.
    ///
    /// - Throws: only for want of space: whoever cannot reserve can still write.
    package func reserve(upTo length: Int64) throws(FileError) {
        guard length > 0 else { return }
        do throws(FileError) {
            try fileSystem.allocate(number, from: 0, length: length)
        } catch {
            switch error.errno {
            case ENOSPC, EDQUOT, EFBIG: throw error
            default: return
            }
        }
    }

    /// Writes all bytes from `offset` on.
    ///
    /// - Throws: `shortened` where the file has lost bytes: behind what is written now they would
    ///   be a hole, and look like zeros that the server has sent.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        let known = extent.load(ordering: .relaxed)
        if known > 0, try fileSystem.knownSize(of: number) < known { throw .shortened }
        try fileSystem.write(bytes, to: number, at: offset)
        extent.max(offset + Int64(bytes.count), ordering: .relaxed)
    }

    /// Makes sure that nobody has cut the file.
    package func expectAllWritten() throws(FileError) {
        let extent = extent.load(ordering: .relaxed)
        guard extent > 0 else { return }
        guard try size() >= extent else { throw .shortened }
    }

    /// Reads from `offset` on until the buffer is full or the file ends; the count of bytes.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(FileError) -> Int {
        try fileSystem.read(into: buffer, from: number, at: offset)
    }

    /// Cuts the file, or lets it grow by a hole.
    package func truncate(to length: Int64) throws(FileError) {
        try fileSystem.truncate(number, to: length)
        extent.store(length, ordering: .relaxed)
    }

    /// Brings the bytes to the disk.
    ///
    /// After a failure no byte written since the last success can be relied upon: the kernel
    /// reports a lost write once.
    package func synchronizeData() throws(FileError) {
        try fileSystem.synchronizeData(of: descriptor.number)
    }

    /// Has the bytes written soon; syncs of several files that began so wait for one another less.
    package func startWriting() { try? fileSystem.startWriting(descriptor.number) }

    /// Brings bytes, permissions and attributes to the disk.
    package func synchronize() throws(FileError) {
        try fileSystem.synchronize(descriptor.number)
    }
}
