// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A thread for calls into one file system, which tells how long its present call takes, and the
/// syncs that gather while it is busy.
///
/// The thread is there only while it has work.
final class DiskThread: Sendable {
    /// Finished work that has to be synced before it is answered.
    struct Due: Sendable {
        let sync: DiskSync
        /// Answers the caller once the sync is over; nil means success.
        let answer: @Sendable (FileError?) -> Void
    }

    /// Does the work; returns nil if there is nothing to sync and the caller has its answer.
    typealias Job = @Sendable () -> Due?

    private struct Weak: Sendable {
        weak let thread: DiskThread?
    }

    private static let key = DispatchSpecificKey<Weak>()

    let queue: DispatchQueue
    /// The device number of the file system; nil where the calls go to several.
    let device: UInt64?
    /// Writes the bytes of files that were opened on this thread, where no transfer thread does; nil
    /// for a thread that opens no files to write.
    let bytes: DiskThread?
    private let waiting = Mutex<[Job]>([])
    /// When the work that runs now began, that of other threads too; the oldest first.
    private let beginnings = Mutex<[SuspendingClock.Instant]>([])

    private let lastWasQuick = Atomic<Bool>(true)

    /// Work that takes no longer than this is quick: 256 KiB into the page cache take a third of it.
    private static let quick: Duration = .microseconds(500)

    init(label: String, device: UInt64? = nil, bytes: DiskThread? = nil) {
        queue = DispatchQueue(label: label)
        self.device = device
        self.bytes = bytes
        queue.setSpecific(key: Self.key, value: Weak(thread: self))
    }

    /// The thread that runs the caller; nil on any other thread.
    static var current: DiskThread? { DispatchQueue.getSpecific(key: key)?.thread }

    /// Whether the last work that ended was quick.
    var isQuick: Bool { lastWasQuick.load(ordering: .relaxed) }

    func async(_ body: @escaping @Sendable () -> Void) { queue.async { [self] in here(body) } }

    /// Runs `body` on the caller's thread, and counts it as work of this one.
    @discardableResult
    func here<Value>(_ body: () -> Value) -> Value {
        let beginning = SuspendingClock.Instant.now
        beginnings.withLock { $0.append(beginning) }
        defer {
            lastWasQuick.store(.now - beginning <= Self.quick, ordering: .relaxed)
            beginnings.withLock { all in
                if let place = all.firstIndex(of: beginning) { all.remove(at: place) }
            }
        }
        return body()
    }

    /// Runs `body`, which may block, and returns what it returns.
    func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            async { continuation.resume(returning: Result { () throws(Failure) in try body() }) }
        }
        return try result.get()
    }

    func submit(_ job: @escaping Job) {
        waiting.withLock { $0.append(job) }
        async { [self] in runAll() }
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

    /// Returns whether the present work has not ended for longer than this.
    func isStuck(for limit: Duration) -> Bool {
        beginnings.withLock(\.first).map { .now - $0 > limit } ?? false
    }

    /// Returns whether an earlier caller gives the present work up about now, after `limit`: the
    /// next caller need not wait for the same work.
    ///
    /// A tenth less counts, because work begins a little after its caller.
    func hasOutlasted(_ limit: Duration) -> Bool { isStuck(for: limit * 0.9) }
}
