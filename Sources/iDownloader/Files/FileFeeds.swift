// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// Fills pipes with the bytes of finished files, for programs that may not open the files.
///
/// A file is read on its disk's thread, one piece at a time, and only after the pipe has taken the
/// last piece. A reader that does not read therefore occupies a pipe but no thread. A pipe ends
/// with the file, or when its reader closes it.
package final class FileFeeds: Sendable {
    /// The error thrown when `limit` pipes are open already.
    package struct Full: Error {
        package let limit: Int
    }

    /// The most pipes open at once, for one application and in total.
    package static let limits = (owner: 16, all: 128)

    private static let piece: Int64 = 256 << 10
    private static let longestPause: Duration = .seconds(1)

    /// The number of open pipes of each application.
    private let pipes = Mutex<[String: Int]>([:])

    /// Makes a pipe and begins to fill it.
    ///
    /// - Returns: the reading end, which the caller owns.
    func begin(_ part: PartFile, on disk: DiskQueue, for owner: String) throws -> Int32 {
        try pipes.withLock { pipes in
            let own = pipes[owner] ?? 0
            guard own < Self.limits.owner else { throw Full(limit: Self.limits.owner) }
            let all = pipes.values.reduce(0, +)
            guard all < Self.limits.all else { throw Full(limit: Self.limits.all) }
            let (reading, writing) = try part.fileSystem.makePipe()
            pipes[owner] = own + 1
            Task {
                await feed(part, to: writing, on: disk)
                self.pipes.withLock { pipes in
                    let left = (pipes[owner] ?? 1) - 1
                    pipes[owner] = left > 0 ? left : nil
                }
            }
            return reading
        }
    }

    private func feed(_ part: PartFile, to pipe: Descriptor, on disk: DiskQueue) async {
        var offset: Int64 = 0
        while true {
            let (start, folder) = (offset, part.folder.path)
            let bytes = try? await disk.digestThread(for: folder).run { () throws(FileError) in
                try part.bytes(from: start, to: start + Self.piece)
            }
            guard let bytes, !bytes.isEmpty, await send(bytes, to: pipe) else { return }
            offset += Int64(bytes.count)
        }
    }

    /// Writes all bytes to the pipe; returns false if the reader has closed it.
    private func send(_ bytes: [UInt8], to pipe: Descriptor) async -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                write(pipe.number, $0.baseAddress, $0.count)
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                await waitForRoom(in: pipe)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Returns once the pipe takes bytes, or its reader has closed it.
    ///
    /// It looks again and again: for a full pipe without a reader the kernel tells an error and no
    /// room, which a dispatch source never reports, while it keeps a processor busy.
    private func waitForRoom(in pipe: Descriptor) async {
        var pause = Duration.milliseconds(1)
        var entry = pollfd(fd: pipe.number, events: Int16(POLLOUT), revents: 0)
        while poll(&entry, 1, 0) == 0 {
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }
}

extension FileSystem {
    /// Returns a new pipe whose writing end does not block; pipe(2).
    ///
    /// A child that starts before FD_CLOEXEC is set does not inherit the pipe, because idown starts
    /// children with chosen descriptors only.
    func makePipe() throws(FileError) -> (reading: Int32, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system(errno, "pipe") }
        let writing = Descriptor(owning: ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // More than the usual 64 KiB, since a reader waits a millisecond for each filling.
        _ = fcntl(ends[1], CLINUX_F_SETPIPE_SZ, 256 << 10)
        guard fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 else {
            close(ends[0])
            throw .system(errno, "fcntl")
        }
        return (ends[0], writing)
    }

    /// Returns another descriptor for the same open file; fcntl(2).
    func duplicate(_ descriptor: Int32) throws(FileError) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .system(errno, "fcntl") }
        return copy
    }
}
