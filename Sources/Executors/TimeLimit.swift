// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Waits for work that cannot be cancelled, but no longer than a limit.
///
/// - Parameters:
///   - limit: The longest time to wait.
///   - work: The work; after the limit it continues in the background.
/// - Returns: The result of the work; nil if it took longer than the limit.
@discardableResult
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration,
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
