// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Something that a test waited for and that did not come.
package struct TimedOut: Error, CustomStringConvertible {
    /// What was waited for.
    package let description: String
}

/// Waits for `body`, but no longer than `limit`: a test that would hang says what it hangs on.
///
/// What does not end when it is cancelled is left behind; the test has failed anyway.
///
/// - Parameters:
///   - what: Completes the sentence "timed out waiting for".
///   - limit: Generous, since it is met only by what is wrong.
///   - body: What is waited for.
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

/// Looks again and again until it is so: for what nobody announces.
///
/// - Parameters:
///   - what: Completes the sentence "timed out waiting for".
///   - condition: Looked at every 10 ms, for as long as ``within(_:limit:_:)`` waits.
/// - Throws: ``TimedOut``, and what `condition` throws.
package func soon(
    _ what: String,
    _ condition: @escaping @Sendable () async throws -> Bool
) async throws {
    try await within(what) {
        while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
    }
}

/// Several tasks of which the first to end decides; the others are cancelled.
package final class Race<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
        var runners: [Task<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Lets one more take part.
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

    /// What the first of them returned or threw; one caller may wait.
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
