// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Threads for what makes a disk wait, some for each file system: one that hangs or is slow holds up
/// the files on it and no others.
package final class DiskQueue: Sendable {
    /// The threads of one file system.
    private struct FileSystemLanes: Sendable {
        /// Two: a sync of one task and what another does beside it share the disk's time.
        let lanes: [DiskLane]
        /// Folders that clients name: one that hangs must not hold up a download, nor the other way.
        let folders: DispatchQueue
        /// Whole files that are read for their digests; a slice at a time, so that they take turns.
        let digests: DispatchQueue

        init(_ device: UInt64) {
            let label = "org.idown.disk.\(device >> 32):\(UInt32(truncatingIfNeeded: device))"
            // Of its own: a sync takes long, and would stop the connections of its file meanwhile.
            let bytes = DispatchQueue(label: "\(label).bytes")
            lanes = (0..<2).map { DiskLane(label: "\(label).\($0)", bytes: bytes) }
            folders = DispatchQueue(label: "\(label).folders")
            digests = DispatchQueue(label: "\(label).digests")
        }
    }

    private let mounts: MountTable
    /// By device number.
    private let lanes = Mutex<[UInt64: FileSystemLanes]>([:])

    /// Whether the caller's own thread does everything, and waits.
    private let blocks: Bool

    /// - Parameters:
    ///   - blocks: whether the caller's own thread does everything, and waits: for a simulation, in
    ///     which nothing may run beside anything else.
    ///   - mounts: tells file systems apart.
    package init(blocks: Bool = false, mounts: MountTable = MountTable()) {
        self.blocks = blocks
        self.mounts = mounts
    }

    /// Runs `body` away from Swift's own threads.
    ///
    /// - Parameters:
    ///   - key: work with an equal key runs in the order of the calls; nil for clients' folders.
    ///   - directory: the folder that it is about.
    ///   - body: may block.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package func run<Value: Sendable, Failure: Error>(
        key: Int64?,
        in directory: String,
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if blocks { return try body() }
        let queue = key.map { lane(of: $0, in: directory).queue } ?? folderQueue(for: directory)
        return try await run(on: queue, body)
    }

    /// Runs `body`, which reads a slice of a file for its digest.
    func readForDigests<Value: Sendable, Failure: Error>(
        in directory: String,
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await run(on: digestQueue(for: directory), body)
    }

    private func run<Value: Sendable, Failure: Error>(
        on queue: DispatchQueue,
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result { () throws(Failure) in try body() })
            }
        }
        return try result.get()
    }

    /// Runs `body` and then a sync, together with all others that want one by then.
    ///
    /// First the bodies of all run, then the syncs, an equal one once for all: what is written or
    /// renamed together is brought to the disk by one commit of the file system's journal.
    ///
    /// - Parameters:
    ///   - key: the calls of one key come one after the other; each waits for its answer.
    ///   - directory: the folder that it is about.
    ///   - body: may block; returns a value, and what is to be brought to the disk after it.
    /// - Returns: the value, once that lasts.
    /// - Throws: what `body` throws, and what the sync does.
    package func runSyncing<Value: Sendable>(
        key: Int64,
        in directory: String,
        _ body: @escaping @Sendable () throws(FileError) -> (Value, DiskSync?)
    ) async throws(FileError) -> Value {
        if blocks {
            let (value, sync) = try body()
            if let failure = sync?.failure() { throw failure }
            return value
        }
        let lane = lane(of: key, in: directory)
        let result: Result<Value, FileError> = await withCheckedContinuation { continuation in
            lane.submit {
                do throws(FileError) {
                    let (value, sync) = try body()
                    guard let sync else {
                        continuation.resume(returning: .success(value))
                        return nil
                    }
                    return DiskLane.Due(sync: sync) { failure in
                        continuation.resume(
                            returning: failure.map { .failure($0) } ?? .success(value)
                        )
                    }
                } catch {
                    continuation.resume(returning: .failure(error))
                    return nil
                }
            }
        }
        return try result.get()
    }

    /// The device number of the file system that a folder is on, where a call about it may never
    /// return; nil where the caller's own thread does everything.
    package func fileSystem(of directory: String) -> UInt64? {
        blocks ? nil : mounts.device(of: directory)
    }

    /// Where files in the folder are read for their digests.
    func digestQueue(for directory: String) -> DispatchQueue { lanes(for: directory).digests }

    /// Where folders that clients name are judged and made, one after the other.
    func folderQueue(for directory: String) -> DispatchQueue { lanes(for: directory).folders }

    private func lane(of key: Int64, in directory: String) -> DiskLane {
        let lanes = lanes(for: directory).lanes
        return lanes[Int(key.magnitude % UInt64(lanes.count))]
    }

    private func lanes(for directory: String) -> FileSystemLanes {
        let device = mounts.device(of: directory)
        return lanes.withLock { lanes in
            if let known = lanes[device] { return known }
            let new = FileSystemLanes(device)
            lanes[device] = new
            return new
        }
    }
}
