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

    /// The calls of one client for one task.
    private struct Calls {
        /// The application from a sandbox that the client belongs to, or nil.
        let application: String?
        /// The numbers of the calls, the oldest first.
        var numbers: [Int] = []
    }

    private let limits: (client: Int, all: Int)
    private let waiters = Waiters<TaskID, Result<End, any Error>>()
    /// The calls for each task by client; each call removes itself when it is over.
    private var pending: [TaskID: [String: Calls]] = [:]
    /// For how many tasks each client waits, and each application with all of its clients.
    private var shares: [String: Int] = [:]
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
    /// - Throws: what ``wait(for:client:of:in:)`` throws; `ServiceRefusal.noSuchTask`.
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
        return try await wait(for: task, client: client, of: application, in: coordinator)
    }

    /// Waits for the end of a task.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - client: the client that calls.
    ///   - application: the application from a sandbox that the client belongs to; nil for others.
    ///   - coordinator: the owner.
    /// - Returns: how it ended.
    /// - Throws: `ServiceRefusal.limitExceeded`, also if a newer call of the client for this task
    ///   took the call's place; `CancellationError` if the call was cancelled;
    ///   `ServiceRefusal.stopping`.
    func wait(
        for task: TaskID,
        client: String,
        of application: String? = nil,
        in coordinator: isolated Coordinator
    ) async throws -> End {
        var own = pending[task]?[client] ?? Calls(application: application)
        if own.numbers.isEmpty {
            try check(client, application)
            for case let name? in [client, application] { shares[name, default: 0] += 1 }
            count += 1
        }
        let most = Contract.waitsForOneTask
        if own.numbers.count >= most {
            let refusal = ServiceRefusal.limitExceeded(
                "A newer call of Wait took the place of this one: at most \(most) of one"
                    + " client wait for one task."
            )
            waiters.release(own.numbers.removeFirst(), of: task, with: .failure(refusal))
        }
        let number = waiters.makeNumber()
        own.numbers.append(number)
        pending[task, default: [:]][client] = own
        defer { forget(number, task, client) }
        guard let end = await waiters.wait(for: task, as: number, in: coordinator) else {
            throw CancellationError()
        }
        return try end.get()
    }

    private func check(_ client: String, _ application: String?) throws(ServiceRefusal) {
        let limit = Contract.pendingWaitsOfApplication
        if let application, shares[application, default: 0] >= limit {
            throw .limitExceeded("An application may wait for at most \(limit) tasks.")
        }
        guard count < limits.all, shares[client, default: 0] < limits.client else {
            throw .limitExceeded(
                "Too many tasks are waited for: at most \(limits.client) per client and"
                    + " \(limits.all) in all."
            )
        }
    }

    /// Returns how many calls of a client wait for a task.
    func calls(of client: String, for task: TaskID) -> Int {
        pending[task]?[client]?.numbers.count ?? 0
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
        guard pending[id] != nil else { return }
        await coordinator.afterSignals(of: id) { $0.endWaiters.end(id, end, through: last) }
    }

    /// Answers the calls that wait for a task.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - end: how it ended.
    ///   - last: the number of the last call that the end answers.
    func end(_ task: TaskID, _ end: End, through last: Int = .max) {
        waiters.release(task, through: last, with: .success(end))
    }

    /// Ends all waits, because the service ends.
    func stop() { waiters.releaseAll(with: .failure(ServiceRefusal.stopping)) }

    /// Forgets a call that is over, and that its client waits if it was the last one.
    private func forget(_ number: Int, _ task: TaskID, _ client: String) {
        guard var own = pending[task]?[client] else { return }
        own.numbers.removeAll { $0 == number }
        pending[task]?[client] = own.numbers.isEmpty ? nil : own
        guard own.numbers.isEmpty else { return }
        if pending[task]?.isEmpty == true { pending[task] = nil }
        count -= 1
        for case let name? in [client, own.application] {
            let left = shares[name, default: 1] - 1
            shares[name] = left > 0 ? left : nil
        }
    }
}

extension Change {
    /// Whether this change ends the waits for its task.
    fileprivate var isEnd: Bool { effects.contains(.announceRemoved) || after.state.kind.isEnd }
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
