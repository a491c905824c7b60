// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The disk queue as one task uses it: what may wait for the disk runs away from Swift's threads.
struct TaskDisk: Sendable {
    let queue: DiskQueue
    private let task: TaskID
    private let directory: String

    init(_ queue: DiskQueue, for job: TransferJob) {
        self.queue = queue
        task = job.task
        directory = job.request.directory
    }

    /// Runs `body`, and throws what it throws as the end of the transfer.
    func callAsFunction<Value: Sendable>(
        _ body: @escaping @Sendable () throws(FileError) -> Value
    ) async throws(TransferEnd) -> Value {
        do {
            return try await queue.run(key: task.rawValue, in: directory, body)
        } catch {
            throw .failed(error.failure)
        }
    }

    /// Runs what cannot fail.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await queue.run(key: task.rawValue, in: directory, body)
    }

    /// The same, with a sync behind it that is shared with others who want one.
    func callAsFunction<Value: Sendable>(
        syncing sync: DiskSync,
        _ body: @escaping @Sendable () throws(FileError) -> Value
    ) async throws(TransferEnd) -> Value {
        // Names of one folder go the same way: what is renamed meanwhile shares the next sync.
        var key = task.rawValue
        if case .folder(let folder) = sync { key = Int64(folder.path.hashValue) }
        return try await syncing(key: key) { () throws(FileError) in (try body(), sync) }
    }

    /// The same, where the body itself says what is to be synced; nil for nothing.
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
