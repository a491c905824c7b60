// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Synchronization
import iDownData
package import iDownState
import iDownloader

extension Coordinator {
    /// Carries out a verb on one task; returns once the change is durable.
    package func carryOut(_ command: Command, on id: TaskID) async throws {
        let (hosts, isStuck) = (engine.hosts, slots.stuckTasks.contains(id))
        try await decide(on: id, for: command) { record throws(Refusal) in
            // A user who asks for a try by hand does not wait for the server's pause either.
            if command == .retry, record.state.isBackOff {
                hosts.endRests(for: id, at: record.request.origin)
            }
            return try record.apply(command, onStuckDisk: isStuck)
        }
        await finish(command, on: [id])
    }

    /// Changes what a task's properties set, in whatever state it is; returns once the change is
    /// durable.
    package func set(_ edit: TaskEdit, of id: TaskID) async throws {
        try await decide(on: id) { record throws(Refusal) in
            try record.edit(edit, inAnyState: true)
        }
    }

    /// Removes a selection from the list, and moves its finished files to the trash; see
    /// ``Trashing``.
    package func remove(_ ids: [TaskID], trashingWith dataHome: String) async throws -> Int {
        try await trashing.remove(ids, dataHome, in: self)
    }

    /// Changes a task's options; returns once the change is durable, and a finished file is in its
    /// place.
    package func edit(_ id: TaskID, _ edit: TaskEdit) async throws {
        moves.expect(id)
        defer { moves.forget(id) }
        // Where the file was being moved to: that move is given up before the next try.
        let given = Mutex<Move.Place?>(nil)
        let change = try await decide(on: id) { record throws(Refusal) in
            let place = given.withLock { given in
                given = record.destination ?? given
                return given
            }
            let edit = edit.filledIn(from: place, of: record)
            let old = try? URLReference(record.request.url)
            let new = edit.url.flatMap { try? URLReference($0) }
            return try record.edit(edit, isSameOrigin: new == nil || old?.origin == new?.origin)
        }
        // Moving an unfinished file may take long, so its end is told later.
        guard change.effects.contains(.moveFile), change.after.state == .completed,
            let place = change.after.destination,
            case .failed(let failure) = await moves.end(of: id, at: place, in: self),
            let failure, let before = change.before
        else { return }
        _ = try await decide(on: id, evenWhileStopping: true) { record throws(Refusal) in
            try record.edit(edit.undone(to: before, in: record))
        }
        throw ServiceRefusal.staysInPlace(failure, before.displayName)
    }

    /// Commits a decision about a task; returns once the change is durable.
    ///
    /// - Parameters:
    ///   - id: the task.
    ///   - command: the verb; nil for an edit.
    ///   - evenWhileStopping: whether the decision belongs to a change that is already durable.
    ///   - body: decides.
    /// - Returns: what has changed.
    /// - Throws: `ServiceRefusal`, `Refusal`, or the store's error.
    @discardableResult
    private func decide(
        on id: TaskID,
        for command: Command? = nil,
        evenWhileStopping: Bool = false,
        _ body: @escaping @Sendable (inout TaskRecord) throws(Refusal) -> [Effect]
    ) async throws -> Change {
        if !evenWhileStopping { try refuseWhileStopping() }
        let time = evenWhileStopping ? .inOrder : command?.replyTime ?? .afterSignals
        do {
            return try await whenSettled(id, isGivenUp: command != nil) {
                try await commit(answering: time) { transaction in
                    let change = try transaction.change(id, for: command) { try body(&$0) }
                    guard let change else { throw ServiceRefusal.noSuchTask(id.description) }
                    return (change, [change])
                }
            }
        } catch Refusal.gone {
            throw ServiceRefusal.noSuchTask(id.description)
        }
    }

    /// Repeats an attempt that is refused while the task's file is getting its name, is being moved
    /// or is being deleted.
    ///
    /// - Parameters:
    ///   - id: the task; nil where no task was known before.
    ///   - isGivenUp: whether the attempt may give the task up; not so an edit.
    ///   - attempt: what to try.
    /// - Returns: what the attempt returns.
    /// - Throws: what the attempt throws; the `Refusal` if that goes on for too long.
    func whenSettled<Value>(
        _ id: TaskID?,
        isGivenUp: Bool = true,
        _ attempt: () async throws -> Value
    ) async throws -> Value {
        var fruitless = 0
        while true {
            do {
                return try await attempt()
            } catch let refusal as Refusal {
                guard let id, refusal != .gone else { throw refusal }
                try refuseWhileStopping()
                // Each of these states is over soon, and then the attempt is repeated.
                switch refusal {
                case .publishing:
                    switch await publications.end(of: id, in: self) {
                    case .over:
                        try refuseWhileStopping()
                        continue
                    case .hangs: throw refusal
                    // The publication may just have ended, or nobody has found out its result yet.
                    case .unknown:
                        guard await publications.settle([id], areGivenUp: isGivenUp, in: self)
                        else { throw refusal }
                    }
                case .moving:
                    // The attempt that would follow is the last one: no move is lost to a refusal.
                    guard fruitless < 2, await moves.giveUp(id, in: self) else { throw refusal }
                case .deleting:
                    guard await deletions.end(of: id, in: self) else { throw refusal }
                case .invalidState, .keepsOption, .unfinished, .gone:
                    throw refusal
                }
                fruitless += 1
                guard fruitless < 3 else { throw refusal }
                try refuseWhileStopping()
            }
        }
    }
}

extension TaskEdit {
    /// Returns the edit that restores the values of a completed task, except for its place, and
    /// leaves those that another edit has changed since.
    fileprivate func undone(to before: TaskRecord, in record: TaskRecord) -> TaskEdit {
        var edit = TaskEdit()
        if priority == record.priority { edit.priority = before.priority }
        if checksum == record.request.checksum { edit.checksum = .some(before.request.checksum) }
        if whenDone == record.request.whenDone { edit.whenDone = .some(before.request.whenDone) }
        return edit
    }
}

extension Coordinator {
    /// Returns once a task is completed, failed, cancelled or removed; at once where it already is.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - client: The client that calls; its number of pending calls is limited.
    ///   - application: The application from a sandbox that calls; nil for others.
    /// - Returns: The state; nil where the task was removed.
    /// - Throws: `ServiceRefusal`; `CancellationError` if the call was cancelled.
    package func end(
        of id: TaskID,
        for client: String,
        of application: String? = nil
    ) async throws -> TaskState.Kind? {
        try await endWaiters.end(of: id, for: client, of: application, in: self)
    }

    /// Reads the finished file of a task again, and compares it with what is known of it.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - application: The application from a sandbox that calls; nil for others.
    /// - Returns: What is known of the file now, once that is durable and told.
    /// - Throws: `ServiceRefusal`; `Refusal.unfinished` for a task that is not completed;
    ///   `CancellationError` if the call was cancelled; the reading ends with its last call.
    package func verify(_ id: TaskID, for application: String? = nil) async throws -> Integrity {
        try refuseWhileStopping()
        return try await verifications.integrity(of: id, for: application, in: self)
    }
}
