// SPDX-License-Identifier: Apache-2.0

package import Dispatch
import Synchronization

/// Waits for work that cannot be cancelled, but no longer than a limit.
///
/// - Parameters:
///   - limit: The longest time to wait.
///   - work: The work; after the limit it continues in the background.
/// - Returns: The result of the work; nil if it took longer than the limit.
/// - Throws: What the work throws.
@discardableResult
package func withTimeLimit<Value: Sendable, Failure: Error>(
    _ limit: Duration,
    _ work: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value? {
    let result: Result<Value, Failure>? = await withCheckedContinuation { continuation in
        let answer = FirstAnswer(continuation)
        let timer = Task {
            if (try? await Task.sleep(for: limit)) != nil { answer.give(nil) }
        }
        Task {
            do throws(Failure) {
                answer.give(.success(try await work()))
            } catch {
                answer.give(.failure(error))
            }
            timer.cancel()
        }
    }
    return try result?.get()
}

/// Waits for a call that may never return, such as one into a disk that hangs, but no longer than a
/// limit.
///
/// - Parameters:
///   - limit: The longest time to wait.
///   - queue: Where the call is made: it would block a thread on which tasks run.
///   - call: The call; after the limit it continues in the background.
/// - Returns: The result of the call; nil if it took longer than the limit.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration,
    on queue: DispatchQueue,
    _ call: @escaping @Sendable () -> Value
) async -> Value? {
    await withTimeLimit(limit) {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: call()) }
        }
    }
}

/// Resumes a continuation with the first of several answers.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private let waiter: Mutex<CheckedContinuation<Value?, Never>?>

    init(_ continuation: CheckedContinuation<Value?, Never>) { waiter = Mutex(continuation) }

    func give(_ value: Value?) { waiter.withLock { $0.take() }?.resume(returning: value) }
}
