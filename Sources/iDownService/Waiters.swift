// SPDX-License-Identifier: Apache-2.0

import iDownloader

/// Calls that wait until something happens, by key; each is resumed once.
///
/// An instance belongs to one coordinator, and is only used on its executor.
final class Waiters<Key: Hashable & Sendable, Value: Sendable> {
    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Value?, Never>
    }

    /// The calls that wait for each key, the oldest first.
    private var lines: [Key: [Waiter]] = [:]
    private(set) var lastNumber = 0

    /// Returns a number for a call that is about to wait; ``release(_:of:with:)`` takes it.
    func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Waits until the key is released.
    ///
    /// - Parameters:
    ///   - key: the key to wait for.
    ///   - number: from ``makeNumber()``, for a call that waits no longer once it is cancelled; nil is
    ///     a call that goes on, because what it changes depends on the end of its wait.
    ///   - limit: the longest wait; nil waits for ever.
    ///   - coordinator: the owner.
    /// - Returns: the value that the key was released with; nil where `limit` was over, or the call
    ///   cancelled, first.
    func wait(
        for key: Key,
        as number: Int? = nil,
        atMost limit: Duration? = nil,
        in coordinator: isolated Coordinator
    ) async -> Value? {
        let goesOn = number == nil
        let number = number ?? makeNumber()
        let timer = limit.map { limit in
            Task {
                guard (try? await coordinator.time.sleep(for: limit)) != nil else { return }
                release(number, of: key, with: nil)
            }
        }
        defer { timer?.cancel() }
        // What is posted runs on the coordinator's executor, too.
        nonisolated(unsafe) let waiters = self
        return await withTaskCancellationHandler {
            // A closure that does not hold the coordinator would leave its executor.
            await withCheckedContinuation(isolation: coordinator) { continuation in
                lines[key, default: []].append(Waiter(number: number, continuation: continuation))
            }
        } onCancel: {
            guard !goesOn else { return }
            coordinator.post { _ in waiters.release(number, of: key, with: nil) }
        }
    }

    /// Resumes all calls that wait for a key, or only those with numbers up to `last`.
    func release(_ key: Key, through last: Int = .max, with value: Value) {
        let line = lines.removeValue(forKey: key) ?? []
        let later = line.filter { $0.number > last }
        if !later.isEmpty { lines[key] = later }
        for waiter in line where waiter.number <= last {
            waiter.continuation.resume(returning: value)
        }
    }

    /// Resumes one call; does nothing where it does not wait any more.
    ///
    /// - Parameters:
    ///   - number: the number of the call.
    ///   - key: the key that the call waits for.
    ///   - value: what the call gets; nil means that it waits no longer.
    func release(_ number: Int, of key: Key, with value: Value?) {
        guard let place = lines[key]?.firstIndex(where: { $0.number == number }) else { return }
        let waiter = lines[key]?.remove(at: place)
        if lines[key]?.isEmpty == true { lines[key] = nil }
        waiter?.continuation.resume(returning: value)
    }

    /// Resumes all calls.
    func releaseAll(with value: Value) {
        for key in Array(lines.keys) { release(key, with: value) }
    }
}
