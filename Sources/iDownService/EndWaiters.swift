// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Calls that wait for the end of a task, each answered once.
struct EndWaiters {
    /// How a task came to its end; nil where it was removed.
    typealias End = TaskState.Kind?

    typealias Continuation = CheckedContinuation<Result<End, any Error>, Never>

    private struct Waiter {
        let task: TaskID
        let client: String
        /// Nil while the call still looks at the task.
        var continuation: Continuation?
        /// What came before there was anybody to tell.
        var outcome: Result<End, any Error>?
    }

    private var waiters: [Int: Waiter] = [:]
    private var byTask: [TaskID: Set<Int>] = [:]
    private var byClient: [String: Set<Int>] = [:]
    private var lastNumber = 0

    let limits: (client: Int, all: Int)

    init(limits: (client: Int, all: Int) = (1_000, 10_000)) { self.limits = limits }

    var count: Int { waiters.count }

    /// Begins to wait, before the call looks at the task: nothing falls between.
    ///
    /// - Throws: `ServiceRefusal.limitExceeded`.
    mutating func begin(_ task: TaskID, for client: String) throws(ServiceRefusal) -> Int {
        guard waiters.count < limits.all, byClient[client, default: []].count < limits.client
        else {
            throw .limitExceeded(
                "Too many calls of Wait are pending: at most \(limits.client) per client and"
                    + " \(limits.all) in all."
            )
        }
        lastNumber += 1
        waiters[lastNumber] = Waiter(task: task, client: client)
        byTask[task, default: []].insert(lastNumber)
        byClient[client, default: []].insert(lastNumber)
        return lastNumber
    }

    /// Gives a waiter the one to tell, or tells at once what has come meanwhile.
    mutating func attach(_ continuation: Continuation, to number: Int) {
        guard let outcome = waiters[number]?.outcome else {
            guard waiters[number] != nil else {
                return continuation.resume(returning: .failure(CancellationError()))
            }
            waiters[number]?.continuation = continuation
            return
        }
        remove(number)
        continuation.resume(returning: outcome)
    }

    /// Forgets a waiter; one that is told of its end is gone already.
    mutating func remove(_ number: Int) {
        guard let waiter = waiters.removeValue(forKey: number) else { return }
        byTask[waiter.task]?.remove(number)
        if byTask[waiter.task]?.isEmpty == true { byTask[waiter.task] = nil }
        byClient[waiter.client]?.remove(number)
        if byClient[waiter.client]?.isEmpty == true { byClient[waiter.client] = nil }
    }

    /// Whether somebody waits for this task.
    func isAwaited(_ task: TaskID) -> Bool { byTask[task] != nil }

    /// Whether a client waits for anything.
    func waits(_ client: String) -> Bool { byClient[client] != nil }

    /// Tells all that wait for a task.
    mutating func end(_ task: TaskID, _ end: End) {
        for number in byTask[task, default: []].sorted() { finish(number, .success(end)) }
    }

    /// Tells a waiter that its caller is not interested any more.
    mutating func cancel(_ number: Int) { finish(number, .failure(CancellationError())) }

    /// The same for all waiters of a client that has left.
    mutating func cancelAll(of client: String) {
        for number in byClient[client, default: []].sorted() { cancel(number) }
    }

    /// The service ends.
    mutating func endAll() {
        for number in waiters.keys.sorted() { finish(number, .failure(ServiceRefusal.stopping)) }
    }

    private mutating func finish(_ number: Int, _ outcome: Result<End, any Error>) {
        guard let waiter = waiters[number], waiter.outcome == nil else { return }
        guard let continuation = waiter.continuation else {
            waiters[number]?.outcome = outcome
            return
        }
        remove(number)
        continuation.resume(returning: outcome)
    }
}
