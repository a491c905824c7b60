// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Runs blocking work on threads of its own for each file system, so that a disk that hangs or is
/// slow delays only its own files.
package final class DiskQueue: Sendable {
    /// The threads of one file system.
    private struct FileSystemThreads: Sendable {
        /// Two threads, so that one task's sync does not stop another task's work.
        let lanes: [DiskThread]
        /// Looks at folders and files for callers, apart from the downloads' own work.
        let looks: DiskThread
        /// Reads whole files for their digests, one slice at a time, so that files take turns.
        let digests: DiskThread

        init(_ device: UInt64) {
            let label = "org.idown.disk.\(device >> 32):\(UInt32(truncatingIfNeeded: device))"
            // A thread of its own: a long sync must not stop the connections of its file.
            let bytes = DiskThread(label: "\(label).bytes", device: device)
            lanes = (0..<2).map { DiskThread(label: "\(label).\($0)", bytes: bytes) }
            looks = DiskThread(label: "\(label).looks")
            digests = DiskThread(label: "\(label).digests")
        }
    }

    private let mounts: MountTable
    /// The threads by device number.
    private let threads = Mutex<[UInt64: FileSystemThreads]>([:])

    /// Whether the caller's own thread does all work.
    private let blocks: Bool

    /// - Parameters:
    ///   - blocks: whether the caller's own thread does all work, as a simulation needs it, which
    ///     allows nothing to run in parallel.
    ///   - mounts: tells file systems apart.
    package init(blocks: Bool = false, mounts: MountTable = MountTable()) {
        self.blocks = blocks
        self.mounts = mounts
    }

    /// Runs `body` away from Swift's own threads.
    ///
    /// - Parameters:
    ///   - key: work with an equal key runs in the order of the calls; nil for a look, which waits
    ///     for other looks at this file system only.
    ///   - directory: the folder that the work touches.
    ///   - body: may block.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package func run<Value: Sendable, Failure: Error>(
        key: Int64?,
        in directory: String,
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if blocks { return try body() }
        guard let key else { return try await threads(for: directory).looks.run(body) }
        return try await lane(of: key, in: directory).run(body)
    }

    /// Runs `body` and then a sync, together with other callers' work that waits.
    ///
    /// All bodies run first, then the syncs, each different one once. Files that are written or
    /// renamed together then share one commit of the file system's journal.
    ///
    /// - Parameters:
    ///   - key: calls with an equal key run one after the other.
    ///   - directory: the folder that the work touches.
    ///   - body: may block; returns a value, and the sync that has to follow.
    /// - Returns: the value, once the change is durable.
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
                    return DiskThread.Due(sync: sync) { failure in
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

    /// Returns the device number of a folder's file system, whose calls may never return; nil if
    /// the caller's own thread does all work.
    package func fileSystem(of directory: String) -> UInt64? {
        blocks ? nil : mounts.device(of: directory)
    }

    /// Returns whether a call for a download into this folder's file system has not returned for
    /// longer than this.
    ///
    /// A download that is verified waits also behind other files that are read for their digests.
    package func isStuck(in directory: String, isVerifying: Bool, for limit: Duration) -> Bool {
        if blocks { return false }
        let threads = threads(for: directory)
        let busy = threads.lanes.flatMap { [$0, $0.bytes].compactMap(\.self) }
        return (busy + (isVerifying ? [threads.digests] : [])).contains { $0.isStuck(for: limit) }
    }

    /// Returns the thread that reads files in this folder for their digests, slice by slice.
    func digestThread(for directory: String) -> DiskThread { threads(for: directory).digests }

    /// Returns whether a look at this folder's file system has outlasted this limit.
    package func holdsUpLooks(in directory: String, for limit: Duration) -> Bool {
        !blocks && threads(for: directory).looks.hasOutlasted(limit)
    }

    private func lane(of key: Int64, in directory: String) -> DiskThread {
        let lanes = threads(for: directory).lanes
        return lanes[Int(key.magnitude % UInt64(lanes.count))]
    }

    private func threads(for directory: String) -> FileSystemThreads {
        let device = mounts.device(of: directory)
        return threads.withLock { threads in
            if let known = threads[device] { return known }
            let new = FileSystemThreads(device)
            threads[device] = new
            return new
        }
    }
}
