// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// One thread for calls into one file system, and the syncs that gather while it is busy.
///
/// The thread is there only while it has work.
final class DiskLane: Sendable {
    /// Finished work that has to be synced before it is answered.
    struct Due: Sendable {
        let sync: DiskSync
        /// Answers the caller once the sync is over; nil means success.
        let answer: @Sendable (FileError?) -> Void
    }

    /// Does the work; returns nil if there is nothing to sync and the caller has its answer.
    typealias Job = @Sendable () -> Due?

    private struct Weak: Sendable {
        weak let lane: DiskLane?
    }

    private static let key = DispatchSpecificKey<Weak>()

    let thread: DiskThread
    /// Writes the bytes of files that were opened on this lane, where no transfer thread does; nil for
    /// a lane without files.
    let bytes: DiskThread?
    private let waiting = Mutex<[Job]>([])

    init(label: String, bytes: DiskThread? = nil) {
        thread = DiskThread(label: label)
        self.bytes = bytes
        thread.queue.setSpecific(key: Self.key, value: Weak(lane: self))
    }

    /// The lane whose thread runs the caller; nil on any other thread.
    static var current: DiskLane? { DispatchQueue.getSpecific(key: key)?.lane }

    /// Closes a descriptor after the work that waits now; returns at once.
    func close(_ descriptor: Int32) { thread.async { _ = Glibc.close(descriptor) } }

    func submit(_ job: @escaping Job) {
        waiting.withLock { $0.append(job) }
        thread.async { [self] in runAll() }
    }

    /// Runs all jobs that wait.
    ///
    /// Of several calls in a row the first takes all jobs.
    private func runAll() {
        let jobs = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        let due = jobs.compactMap { $0() }
        guard due.count > 1 else {
            for work in due { work.answer(work.sync.failure()) }
            return
        }
        // Writes that start together share one commit of the file system's journal.
        for case .file(let part) in due.map(\.sync) { part.startWriting() }
        var folders: [FileIdentity: FileError?] = [:]
        for work in due {
            guard let folder = work.sync.folder else {
                work.answer(work.sync.failure())
                continue
            }
            let failure = folders[folder] ?? work.sync.failure()
            folders.updateValue(failure, forKey: folder)
            work.answer(failure)
        }
    }
}

/// One sync to the disk.
package enum DiskSync: Sendable {
    /// A file with its permissions and attributes.
    case file(PartFile)
    /// The names in a folder.
    case folder(OpenFolder)

    /// The identity of the folder: one sync serves all jobs in one folder.
    ///
    /// Nil for a file, which no other job syncs.
    fileprivate var folder: FileIdentity? {
        guard case .folder(let folder) = self else { return nil }
        return try? folder.identity()
    }

    /// Syncs; returns why that failed, or nil once the change is durable.
    func failure() -> FileError? {
        do throws(FileError) {
            switch self {
            case .file(let part): try part.synchronize()
            case .folder(let folder): try folder.synchronize()
            }
            return nil
        } catch {
            return error
        }
    }
}
