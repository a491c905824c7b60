// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Runs one task's blocking work on the disk's threads, away from Swift's own.
struct TaskDisk: Sendable {
    private let queue: DiskQueue
    private let task: TaskID
    private let directory: String

    init(_ queue: DiskQueue, for job: TransferJob) {
        self.queue = queue
        task = job.task
        directory = job.request.directory
    }

    /// Runs `body` by itself, so that the syncs of other tasks need not wait for more work than this;
    /// throws its failure as the end of the transfer.
    func callAsFunction<Value: Sendable>(
        _ body: @escaping @Sendable () throws(FileError) -> Value
    ) async throws(TransferEnd) -> Value {
        do {
            return try await queue.run(key: task.rawValue, in: directory, body)
        } catch {
            throw .failed(error.failure)
        }
    }

    /// Runs `body` and then a sync, which is shared with other tasks.
    func callAsFunction<Value: Sendable>(
        syncing sync: DiskSync,
        _ body: @escaping @Sendable () throws(FileError) -> Value
    ) async throws(TransferEnd) -> Value {
        // Renames in one folder use one thread, so that they share the next sync of the folder.
        var key = task.rawValue
        if case .folder(let folder) = sync { key = Int64(folder.path.hashValue) }
        return try await syncing(key: key) { () throws(FileError) in (try body(), sync) }
    }

    /// Runs `body` and then the sync that it returns; nil is no sync.
    func syncing<Value: Sendable>(
        key: Int64? = nil,
        _ body: @escaping @Sendable () throws(FileError) -> (Value, DiskSync?)
    ) async throws(TransferEnd) -> Value {
        do {
            return try await queue.runSyncing(key: key ?? task.rawValue, in: directory, body)
        } catch {
            throw .failed(error.failure)
        }
    }
}
