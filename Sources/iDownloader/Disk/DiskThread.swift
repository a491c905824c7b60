// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A thread for calls into one file system, which tells how long its present call takes.
///
/// The thread is there only while it has work.
final class DiskThread: Sendable {
    let queue: DispatchQueue
    /// When the work that runs now began; nil while none runs.
    private let beginning = Mutex<SuspendingClock.Instant?>(nil)

    init(label: String) { queue = DispatchQueue(label: label) }

    func async(_ body: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            beginning.withLock { $0 = .now }
            body()
            beginning.withLock { $0 = nil }
        }
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
        beginning.withLock(\.self).map { .now - $0 > limit } ?? false
    }

    /// Returns whether an earlier caller gives the present work up about now, after `limit`: the
    /// next caller need not wait for the same work.
    ///
    /// A tenth less counts, because work begins a little after its caller.
    func hasOutlasted(_ limit: Duration) -> Bool { isStuck(for: limit * 0.9) }
}
