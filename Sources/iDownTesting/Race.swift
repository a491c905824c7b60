// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A test waited for something that did not happen in time.
package struct TimedOut: Error, CustomStringConvertible {
    /// The event that the test waited for.
    package let description: String
}

/// Waits for `body`, but no longer than `limit`, so that a test which would hang tells why.
///
/// A `body` that ignores its cancellation is left running; the test has failed anyway.
///
/// - Parameters:
///   - what: Completes the sentence "timed out waiting for".
///   - limit: A generous limit, since only a failing test reaches it.
///   - body: The work to wait for.
/// - Returns: What `body` returns.
/// - Throws: ``TimedOut``, and what `body` throws.
@discardableResult
package func within<Value: Sendable>(
    _ what: String,
    limit: Duration = .seconds(60),
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let race = Race<Value>()
    race.run(body)
    race.run {
        try await Task.sleep(for: limit)
        throw TimedOut(description: "timed out waiting for \(what)")
    }
    return try await race.result()
}

/// Checks a condition again and again until it holds, for events without a signal.
///
/// - Parameters:
///   - what: Completes the sentence "timed out waiting for".
///   - condition: Checked every 10 ms, for as long as ``within(_:limit:_:)`` waits.
/// - Throws: ``TimedOut``, and what `condition` throws.
package func soon(
    _ what: String,
    _ condition: @escaping @Sendable () async throws -> Bool
) async throws {
    try await within(what) {
        while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
    }
}

/// A race of tasks: the first to end gives the result, and the others are cancelled.
package final class Race<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
        var runners: [Task<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds a task to the race.
    package func run(_ body: @escaping @Sendable () async throws -> Value) {
        let runner = Task {
            do {
                let value = try await body()
                finish(.success(value))
            } catch {
                finish(.failure(error))
            }
        }
        let isOver = state.withLock { state in
            state.runners.append(runner)
            return state.result != nil
        }
        if isOver { runner.cancel() }
    }

    /// Returns or throws the result of the first task to end; only one caller may wait.
    package func result() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiter = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            finish(.failure(CancellationError()))
        }
    }

    private func finish(_ result: Result<Value, any Error>) {
        let (waiter, runners) = state.withLock { state in
            guard state.result == nil else {
                return (CheckedContinuation<Value, any Error>?.none, [Task<Void, Never>]())
            }
            state.result = result
            defer { state.waiter = nil }
            return (state.waiter, state.runners)
        }
        for runner in runners { runner.cancel() }
        waiter?.resume(with: result)
    }
}
