// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownState

// What is said: for scripts by the manager's signals, for libraries by ObjectManager's and
// Properties' own.
extension BusAnnouncer {
    /// These have a pace of their own, and are told in full when a task stops.
    private static let progress: Set<TaskProperty> = [
        .downloadedBytes, .progress, .segments, .speed, .connections, .activity,
    ]

    /// Tells the way from what is known of a task to what is.
    func tell(_ id: TaskID, _ entry: AnnouncementQueue.Entry) {
        guard let now = entry.now else {
            told[id] = nil
            tellRemoval(of: id)
            return
        }
        let task = TaskProperties(now)
        if let before = entry.told {
            let wasRunning = before.record.state == .downloading
            let isRunning = now.record.state == .downloading
            let live = wasRunning ? before.live : now.live?.withoutSegments
            told[id] = isRunning ? live : nil
            tellChange(
                from: TaskProperties(before),
                to: task,
                wasRunning: wasRunning,
                isRunning: isRunning
            )
        } else {
            told[id] = now.live?.withoutSegments
            tellAddition(of: task.withoutQueries)
        }
    }

    private func tellAddition(of task: TaskProperties) {
        emit(Contract.Signal.taskAdded, task.id, task)
        guard let path = TaskPath(id: task.id)?.objectPath else { return }
        send { connection throws(BusError) in
            try connection.emitInterfacesAdded(
                path,
                [Contract.taskInterface.rawValue: task],
                from: Contract.managerPath
            )
        }
    }

    private func tellRemoval(of id: TaskID) {
        emit(Contract.Signal.taskRemoved, id.description)
        guard let path = TaskPath(id: id.description)?.objectPath else { return }
        send { connection throws(BusError) in
            try connection.emitInterfacesRemoved(
                [Contract.taskInterface],
                of: path,
                from: Contract.managerPath
            )
        }
    }

    private func tellChange(
        from before: TaskProperties,
        to after: TaskProperties,
        wasRunning: Bool,
        isRunning: Bool
    ) {
        var differences = after.properties(changedSince: before)
        if wasRunning, isRunning {
            // On the record's side progress moves with each checkpoint; it has its own pace.
            differences.removeAll(where: Self.progress.contains)
        }
        var changes = differences
        if wasRunning, !isRunning {
            // The last state in full: what was told of the progress may be half a second old.
            changes += Self.progress.subtracting(differences)
        }
        // A query that has changed is a change, although nobody is told it.
        let shown = after.withoutQueries
        if !changes.isEmpty { tell(changes, of: shown) }
        tellProperties(differences, of: shown)
    }

    /// Tells of progress, which is only a change of what has changed.
    func tellProgress(of id: TaskID, _ live: LiveState, of total: Int64?) {
        let before = told.updateValue(live, forKey: id)
        var changes: [String: Value] = [:]
        if before?.bytes != live.bytes {
            let bytes = UInt64(clamping: live.bytes)
            changes[TaskProperty.downloadedBytes.rawValue] = .uint64(bytes)
            changes[TaskProperty.progress.rawValue] =
                .double(TaskProperties.progress(bytes, total))
        }
        if before?.bytesPerSecond != live.bytesPerSecond {
            changes[TaskProperty.speed.rawValue] = .uint64(live.bytesPerSecond)
        }
        if before?.activity ?? "" != live.activity {
            changes[TaskProperty.activity.rawValue] = .string(live.activity)
        }
        if before?.connections != live.connections {
            changes[TaskProperty.connections.rawValue] = .uint32(live.connections)
        }
        emit(Contract.Signal.taskChanged, id.description, .downloading, changes)
        guard let activity = changes[TaskProperty.activity.rawValue] else { return }
        tellProperties([TaskProperty.activity.rawValue: activity], of: id.description)
    }

    /// Tells the values that some properties have now.
    private func tell(_ changes: [TaskProperty], of task: TaskProperties) {
        emit(
            Contract.Signal.taskChanged,
            written: WireWriter(task.id, task.state, TaskExcerpt(task, changes))
        )
    }

    /// Tells on the task's own object those of the changes that clients may keep.
    private func tellProperties(_ changes: [TaskProperty], of task: TaskProperties) {
        let kept = changes.filter { $0.changeSignal == .changes }
        guard !kept.isEmpty else { return }
        tellProperties(TaskExcerpt(task, kept), of: task.id)
    }

    private func tellProperties(_ changed: some BusType, of id: String) {
        guard let path = TaskPath(id: id)?.objectPath else { return }
        send { connection throws(BusError) in
            try connection.emit(
                Interface.propertiesChanged,
                at: path,
                written: WireWriter(Contract.taskInterface.rawValue, changed, [String]())
            )
        }
    }

    private func emit<each Content: BusType>(
        _ signal: Signal<repeat each Content>,
        _ contents: repeat each Content
    ) {
        send { connection throws(BusError) in
            try connection.emit(signal, at: Contract.managerPath, repeat each contents)
        }
    }

    /// Sends a signal whose contents are written already.
    private func emit<each Content: BusType>(
        _ signal: Signal<repeat each Content>,
        written contents: WireWriter
    ) {
        send { connection throws(BusError) in
            try connection.emit(signal, at: Contract.managerPath, written: contents)
        }
    }
}

extension LiveState {
    /// As progress is told, which has no segments.
    fileprivate var withoutSegments: LiveState {
        var live = self
        live.segments = nil
        return live
    }
}
