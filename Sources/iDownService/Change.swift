// SPDX-License-Identifier: Apache-2.0

import iDownData
package import iDownState

/// What a decision changed in one record, and the effects to carry out once it is committed.
struct Change: Sendable {
    /// The record before the change; nil for a new task.
    let sharedBefore: Shared<TaskRecord>?
    let sharedAfter: Shared<TaskRecord>
    let effects: [Effect]

    init(before: TaskRecord?, after: TaskRecord, effects: [Effect]) {
        sharedBefore = before.map(Shared.init)
        sharedAfter = Shared(after)
        self.effects = effects
    }

    var before: TaskRecord? { sharedBefore?.value }
    var after: TaskRecord { sharedAfter.value }

    /// Whether the change starts a transfer.
    var starts: Bool { effects.contains(.startTransfer(after.attempt)) }

    /// Whether the number of tasks in some state changes.
    var changesCounts: Bool {
        sharedBefore?.value.state.kind != after.state.kind
            || effects.contains(.announceRemoved)
    }
}

/// Why a request cannot be carried out, apart from the state machine's own refusals.
package enum ServiceRefusal: Error, Hashable, Sendable {
    case noSuchTask(String)
    case fileExists(String)
    case limitExceeded(String)
    /// No hand-over has this token, or it was withdrawn.
    case noSuchHandOver
    /// The browser has withdrawn the hand-over with this token.
    case withdrawn
    /// The browser has to download the file itself, for this reason.
    case disagreed(String)
    case stopping
    /// The disk of a folder does not answer.
    case diskIsStuck
    /// A finished file cannot be moved; the reason, and the file's present name.
    case staysInPlace(Failure, String)
}

extension Transaction {
    /// Lets the state machine decide on a record, and stores the result.
    ///
    /// - Returns: nil where there is no such task, or where it is being removed.
    func change(_ id: TaskID, _ decide: (inout TaskRecord) throws -> [Effect]) throws -> Change? {
        guard let before = try task(id) else { return nil }
        var after = before
        let effects = try decide(&after)
        if effects.contains(where: \.isNews) { after.serial = try makeSerial() }
        if effects.contains(.persist) { try update(after, from: before) }
        try takeOff(id, effects)
        return Change(before: before, after: after, effects: effects)
    }

    /// Deletes a task, and records its removal, where the effects say so.
    private func takeOff(_ id: TaskID, _ effects: [Effect]) throws {
        if effects.contains(.erase) { try delete(id) }
        if effects.contains(.announceRemoved) { try noteRemoval(of: id) }
    }

    /// Lets the state machine decide on all tasks in some states, and stores the results together,
    /// because most tasks change in the same way.
    ///
    /// - Parameters:
    ///   - states: The states; tasks that cannot be read are passed over.
    ///   - refused: Called with each task that `decide` refuses to change.
    ///   - decide: Decides on one task.
    /// - Returns: the changes in order of ids, without those that have no effect.
    /// - Throws: `StoreFailure`, or what `decide` throws other than a `Refusal`.
    func changeAll(
        in states: Set<TaskState.Kind>,
        refused: (TaskID, Refusal) -> Void,
        _ decide: (inout TaskRecord) throws -> [Effect]
    ) throws -> [Change] {
        var changes: [Change] = []
        for state in states {
            try forEachTask(in: state) { before in
                do {
                    var after = before
                    let effects = try decide(&after)
                    guard !effects.isEmpty else { return true }
                    if effects.contains(where: \.isNews) { after.serial = try makeSerial() }
                    changes.append(Change(before: before, after: after, effects: effects))
                } catch let refusal as Refusal {
                    refused(before.id, refusal)
                }
                return true
            }
        }
        if states.count > 1 { changes.sort { $0.after.id < $1.after.id } }
        try update(
            changes.lazy.filter { $0.effects.contains(.persist) }.compactMap { change in
                change.sharedBefore.map { (change.sharedAfter.value, $0.value) }
            }
        )
        for change in changes { try takeOff(change.after.id, change.effects) }
        return changes
    }

    /// Changes one of many tasks; a record that cannot be read must not stop the others.
    ///
    /// - Returns: the change, or none.
    func changeIfReadable(
        _ id: TaskID,
        _ decide: (inout TaskRecord) throws -> [Effect]
    ) throws -> [Change] {
        do {
            return try change(id, decide).map { [$0] } ?? []
        } catch StoreFailure.corruptRecord {
            return []
        }
    }

    /// Changes a task by a verb; a record that cannot be read can still be removed.
    ///
    /// - Returns: nil where there is no such task.
    func change(
        _ id: TaskID,
        for command: Command?,
        _ decide: (inout TaskRecord) throws -> [Effect]
    ) throws -> Change? {
        do {
            return try change(id, decide)
        } catch StoreFailure.corruptRecord where command == .remove {
            return try removeUnreadable(id)
        }
    }

    /// Removes a task whose record cannot be read; its file stays.
    private func removeUnreadable(_ id: TaskID) throws -> Change {
        try delete(id)
        try noteRemoval(of: id)
        let request = TaskRequest(url: "", directory: "")
        var record = TaskRecord(id: id, request: request, createdAt: .distantPast)
        record.serial = try makeSerial()
        return Change(before: nil, after: record, effects: [.erase, .announceRemoved, .fillSlots])
    }
}

extension Change {
    /// The log line about this change; nil where the task stays in its state.
    var move: String? {
        let id = after.id
        if effects.contains(.announceRemoved) { return "task \(id): removed" }
        guard let before else { return "task \(id): added, \(after.state.kind.rawValue)" }
        guard before.state.kind != after.state.kind || before.state.holdName != after.state.holdName
        else { return nil }
        var text = "task \(id): \(before.state.logged) → \(after.state.logged)"
        // The failure is logged once, and not again when the next try comes near.
        let isNews = before.state == .downloading || before.failure != after.failure
        if isNews, after.state != .downloading, let failure = after.failure {
            text += ": \(failure.code.rawValue)"
            // The message may name the host.
            if !after.request.isPrivate { text += ", \(failure.message)" }
        }
        if after.state == .completed {
            let integrity = after.integrity?.rawValue ?? ""
            text += ", \(after.segments.byteCount) bytes, integrity \(integrity)"
        }
        return text
    }
}

extension TaskState {
    /// The state, and what the task waits for in it.
    fileprivate var logged: String { kind.rawValue + (holdName.map { " (\($0))" } ?? "") }

    /// What a task waits for; nil where it does not wait, or waits only for a slot.
    fileprivate var holdName: String? { hold == .queue ? nil : hold?.name }
}
