// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownState

/// The calls that wait for the end of a task (contract, Wait).
///
/// All calls of one client for one task count once. So a client that repeats its call because its
/// own time limit is shorter does not reach the limit.
final class EndWaiters {
    /// The state in which a task ended; nil where the task was removed.
    typealias End = TaskState.Kind?

    private struct Key: Hashable {
        let task: TaskID
        let client: String
    }

    private let limits: (client: Int, all: Int)
    private let waiters = Waiters<Key, Result<End, any Error>>()
    private var tasks: [String: Set<TaskID>] = [:]
    private var clients: [TaskID: Set<String>] = [:]
    /// The waiting clients of each application from a sandbox.
    private var applications: [String: Set<String>] = [:]
    /// How many pairs of a client and a task have waiting calls.
    private(set) var count = 0
    /// How many ends of tasks have been carried out so far.
    private var ends = 0
    /// For each end that is not told yet, in order: the number of the last call that it answers.
    private var untold: ArraySlice<Int> = []

    init(limits: (client: Int, all: Int) = Contract.pendingWaits) { self.limits = limits }

    /// Returns how a task ended, after waiting for the end if need be.
    ///
    /// - Returns: how it ended.
    /// - Throws: what ``wait(for:client:of:as:in:)`` throws; `ServiceRefusal.noSuchTask`.
    func end(
        of task: TaskID,
        for client: String,
        of application: String?,
        in coordinator: isolated Coordinator
    ) async throws -> End {
        try coordinator.refuseWhileStopping()
        var seen: Int
        repeat {
            seen = ends
            let state = try await coordinator.task(task).record.state.kind
            guard !state.isEnd else { return state }
            // A change that was carried out meanwhile may have ended the task: read it again.
        } while seen != ends
        try coordinator.refuseWhileStopping()
        let number = makeNumber()
        return try await withTaskCancellationHandler {
            try await wait(for: task, client: client, of: application, as: number, in: coordinator)
        } onCancel: {
            coordinator.post { $0.endWaiters.cancel(number, task, for: client) }
        }
    }

    /// Returns a number for a call that is about to wait; ``cancel(_:_:for:)`` finds the call by
    /// it.
    func makeNumber() -> Int { waiters.makeNumber() }

    /// Waits for the end of a task.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - client: the client that calls.
    ///   - application: the application from a sandbox that the client belongs to; nil for others.
    ///   - number: from ``makeNumber()``.
    ///   - coordinator: the owner.
    /// - Returns: how it ended.
    /// - Throws: `ServiceRefusal.limitExceeded`, also if a newer call of the client for this task
    ///   took the call's place; `CancellationError` if the call was cancelled;
    ///   `ServiceRefusal.stopping`.
    func wait(
        for task: TaskID,
        client: String,
        of application: String? = nil,
        as number: Int,
        in coordinator: isolated Coordinator
    ) async throws -> End {
        let key = Key(task: task, client: client)
        if tasks[client]?.contains(task) == true {
            if waiters.count(for: key) >= Contract.waitsForOneTask {
                let most = Contract.waitsForOneTask
                waiters.release(
                    nil,
                    of: key,
                    with: .failure(
                        ServiceRefusal.limitExceeded(
                            "A newer call of Wait took the place of this one: at most \(most) of one"
                                + " client wait for one task."
                        )
                    )
                )
            }
        } else {
            if let application { try check(application) }
            guard count < limits.all, tasks[client, default: []].count < limits.client else {
                throw ServiceRefusal.limitExceeded(
                    "Too many tasks are waited for: at most \(limits.client) per client and"
                        + " \(limits.all) in all."
                )
            }
            if let application { applications[application, default: []].insert(client) }
            tasks[client, default: []].insert(task)
            clients[task, default: []].insert(client)
            count += 1
        }
        guard let end = await waiters.wait(for: key, as: number, in: coordinator) else {
            throw CancellationError()
        }
        return try end.get()
    }

    private func check(_ application: String) throws(ServiceRefusal) {
        let clients = applications[application, default: []]
        let limit = Contract.pendingWaitsOfApplication
        guard clients.reduce(0, { $0 + (tasks[$1]?.count ?? 0) }) < limit else {
            throw .limitExceeded("An application may wait for at most \(limit) tasks.")
        }
    }

    /// Returns how many calls of a client wait for a task.
    func calls(of client: String, for task: TaskID) -> Int {
        waiters.count(for: Key(task: task, client: client))
    }

    /// Notes the end of a task, if the change is one, so that calls which just read its state read
    /// it again.
    ///
    /// Called when the change is carried out, once for each change and in order. The end is told
    /// later. Calls that come in between have read the newer state of the task, and do not wait for
    /// this end.
    func note(_ change: Change) {
        guard change.isEnd else { return }
        ends += 1
        untold.append(waiters.lastNumber)
    }

    /// Answers the calls that wait for the end of a task, after the change has been announced.
    func tell(_ change: Change, in coordinator: isolated Coordinator) async {
        guard change.isEnd else { return }
        let last = untold.popFirst() ?? waiters.lastNumber
        let id = change.after.id
        let isGone = change.effects.contains(.announceRemoved)
        let state = change.after.state.kind
        // A private task leaves the list when it completes.
        let end =
            isGone && (state != .completed || change.before?.state.kind == .completed) ? nil : state
        guard clients[id] != nil else { return }
        await coordinator.afterSignals(of: id) { $0.endWaiters.end(id, end, through: last) }
    }

    /// Answers the calls that wait for a task.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - end: how it ended.
    ///   - last: the number of the last call that the end answers.
    func end(_ task: TaskID, _ end: End, through last: Int = .max) {
        for client in clients[task, default: []].sorted() {
            let key = Key(task: task, client: client)
            waiters.release(key, through: last, with: .success(end))
            if waiters.count(for: key) == 0 { forget(key) }
        }
    }

    /// Ends the wait of a call that was cancelled.
    private func cancel(_ number: Int, _ task: TaskID, for client: String) {
        let key = Key(task: task, client: client)
        waiters.release(number, of: key, with: nil)
        if waiters.count(for: key) == 0 { forget(key) }
    }

    /// Ends the waits of all calls of a client that has left.
    func cancelAll(of client: String) {
        for task in tasks[client, default: []].sorted() {
            finish(Key(task: task, client: client), .failure(CancellationError()))
        }
    }

    /// Ends all waits, because the service ends.
    func stop() {
        for task in clients.keys.sorted() {
            for client in clients[task, default: []].sorted() {
                finish(Key(task: task, client: client), .failure(ServiceRefusal.stopping))
            }
        }
    }

    private func finish(_ key: Key, _ end: Result<End, any Error>) {
        forget(key)
        waiters.release(key, with: end)
    }

    private func forget(_ key: Key) {
        guard tasks[key.client]?.remove(key.task) != nil else { return }
        count -= 1
        if tasks[key.client]?.isEmpty == true {
            tasks[key.client] = nil
            applications = applications.mapValues { $0.subtracting([key.client]) }
                .filter { !$0.value.isEmpty }
        }
        clients[key.task]?.remove(key.client)
        if clients[key.task]?.isEmpty == true { clients[key.task] = nil }
    }
}

extension Change {
    /// Whether this change ends the waits for its task.
    fileprivate var isEnd: Bool {
        effects.contains(.announceRemoved) || after.state.kind.isEnd
    }
}

extension TaskState.Kind {
    /// Whether Wait answers with this state.
    fileprivate var isEnd: Bool {
        switch self {
        case .completed, .failed, .cancelled: true
        case .waiting, .downloading, .paused: false
        }
    }
}
