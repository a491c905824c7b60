// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A thread for calls into one file system, which tells how long its present call takes.
///
/// The thread is there only while it has work.
final class DiskThread: Sendable {
    let queue: DispatchQueue
    /// The device number of the file system; nil where the calls go to several.
    let device: UInt64?
    /// When the work that runs now began, that of other threads too; the oldest first.
    private let beginnings = Mutex<[SuspendingClock.Instant]>([])

    private let lastWasQuick = Atomic<Bool>(true)

    /// Work that takes no longer than this is quick: 256 KiB into the page cache take a third of it.
    private static let quick: Duration = .microseconds(500)

    init(label: String, device: UInt64? = nil) {
        queue = DispatchQueue(label: label)
        self.device = device
    }

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
