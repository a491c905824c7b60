// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Waits for work that nothing can end, but not longer than this.
///
/// - Parameters:
///   - limit: how long.
///   - work: goes on behind the caller's back where it takes longer.
/// - Returns: what the work returns; nil where it took longer.
@discardableResult
package func promptly<Value: Sendable>(
    within limit: Duration,
    _ work: @escaping @Sendable () async -> Value
) async -> Value? {
    await withCheckedContinuation { continuation in
        let answer = FirstAnswer(continuation)
        let timer = Task {
            if (try? await Task.sleep(for: limit)) != nil { answer.give(nil) }
        }
        Task {
            answer.give(await work())
            timer.cancel()
        }
    }
}

/// Resumes a continuation with the first of several answers.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private let waiter: Mutex<CheckedContinuation<Value?, Never>?>

    init(_ continuation: CheckedContinuation<Value?, Never>) { waiter = Mutex(continuation) }

    func give(_ value: Value?) {
        let first = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        first?.resume(returning: value)
    }
}
