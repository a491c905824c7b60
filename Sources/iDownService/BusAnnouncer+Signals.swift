// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownState

// The signals: the manager's own for scripts, ObjectManager's and Properties' for libraries.
extension BusAnnouncer {
    /// Properties that are told at intervals while a task runs, and in full when it stops.
    private static let progress: Set<TaskProperty> = [
        .downloadedBytes, .progress, .segments, .speed, .connections, .activity,
    ]

    /// Sends the change of a task since clients were last told of it.
    func send(_ news: TaskNews) {
        let id = news.id
        let late = takeObject(id)
        guard let now = news.now else {
            told[id] = nil
            toldSerials[id] = nil
            emit(Contract.Signal.taskRemoved, id.description)
            return tellRemoval(of: id)
        }
        let task = TaskProperties(now)
        toldSerials[id] = now.record.state == .downloading ? now.record.serial : nil
        if let before = news.told {
            let wasRunning = before.record.state == .downloading
            let isRunning = now.record.state == .downloading
            let live = wasRunning ? before.live : now.live?.withoutSegments
            // Of a stopped transfer, its bytes were told until the record has them.
            let isRecorded = now.live?.bytes == now.record.segments.byteCount
            told[id] = isRunning ? live : isRecorded ? nil : now.live
            let differences = tellChange(
                from: before.record.state,
                to: task,
                news.differences(from: TaskProperties(before), to: task),
                turns: before.record.isMoving != now.record.isMoving
                    || news.passed.contains(.activity)
            )
            if isRunning, differences.contains(.activity) {
                told[id] = LiveState(
                    bytes: Int64(clamping: task.downloadedBytes),
                    bytesPerSecond: task.speed,
                    activity: task.activity.rawValue,
                    connections: task.connections
                )
            }
            if var late {
                late.merge(news)
                tellObject(late)
            } else {
                tellProperties(differences, of: task.withoutQueries)
            }
        } else {
            told[id] = now.live?.withoutSegments
            emit(Contract.Signal.taskAdded, task.id, task.withoutQueries)
            tellObject(task.withoutQueries)
        }
    }

    /// Sends one signal about many changes.
    func send(_ many: ManyChanged) {
        let (task, common) = (many.sample, TaskExcerpt(many.sample, .init(many.common)))
        switch many.kind {
        case .added:
            emit(Contract.Signal.tasksAdded, written: WireWriter(many.ids, common, task.serial))
        case .changed:
            emit(
                Contract.Signal.tasksChanged,
                written: WireWriter(many.ids, task.state, common, task.serial)
            )
        case .removed: emit(Contract.Signal.tasksRemoved, many.ids, task.serial)
        }
    }

    /// Tells news on the task's object alone.
    func tellObject(_ news: TaskNews) {
        guard let now = news.now else { return tellRemoval(of: news.id) }
        let task = TaskProperties(now).withoutQueries
        guard let before = news.told else { return tellObject(task) }
        tellProperties(
            news.differences(from: TaskProperties(before).withoutQueries, to: task),
            of: task
        )
    }

    /// Tells of a new object.
    private func tellObject(_ task: TaskProperties) {
        guard isWatched, let path = TaskPath(id: task.id)?.objectPath else { return }
        let interfaces = [Contract.taskInterface.rawValue: task]
        emit(Interface.interfacesAdded, written: WireWriter(path, interfaces))
    }

    private func tellRemoval(of id: TaskID) {
        guard isWatched, let path = TaskPath(id: id.description)?.objectPath else { return }
        emit(Interface.interfacesRemoved, path, [Contract.taskInterface.rawValue])
    }

    /// Tells a change by the manager's signal.
    ///
    /// - Parameters:
    ///   - before: The state that was told last.
    ///   - after: The task as it is now.
    ///   - differences: The properties that differ from those that were told last.
    ///   - turns: Whether a move of the task's file has begun or ended.
    /// - Returns: the properties that the task's object has to tell.
    private func tellChange(
        from before: TaskState,
        to after: TaskProperties,
        _ differences: [TaskProperty],
        turns: Bool
    ) -> [TaskProperty] {
        let (wasRunning, isRunning) = (before == .downloading, after.state == .downloading)
        var differences = differences
        if wasRunning, isRunning {
            // The record's progress changes with each checkpoint, but progress is told at
            // intervals. Only the record tells that the file is moved, and all of it is told then.
            if !turns { differences.removeAll(where: Self.progress.contains) }
        }
        var changes = differences
        if wasRunning, !isRunning {
            // The progress last told may be half a second old, so all of it is told again.
            changes += Self.progress.subtracting(differences)
        }
        // The serial shows which of two signals is newer, even if both come from one commit.
        if !changes.isEmpty, !changes.contains(.serial) { changes.append(.serial) }
        // A changed query is a change too, although no signal contains the query.
        if !changes.isEmpty { tell(changes, of: after.withoutQueries) }
        return differences
    }

    /// Tells progress, limited to the values that have changed.
    func tellProgress(of id: TaskID, _ live: LiveState, of total: Int64?) {
        let before = told[id]
        var live = live
        if before?.activity == TaskProperties.Activity.moving.rawValue {
            live.activity = TaskProperties.Activity.moving.rawValue
        }
        told[id] = live
        let task = progress(of: id, live, total)
        var changes =
            before.map { task.properties(changedSince: progress(of: id, $0, total)) }
            ?? Self.progress.filter { $0 != .segments }
        // The total may be another one than before.
        if changes.contains(.downloadedBytes), !changes.contains(.progress) {
            changes.append(.progress)
        }
        tell(changes + [.serial], of: task)
        if changes.contains(.activity) { tellProperties([.activity], of: task) }
    }

    /// Returns a running task with its progress alone.
    private func progress(of id: TaskID, _ live: LiveState, _ total: Int64?) -> TaskProperties {
        var task = TaskProperties()
        (task.id, task.state) = (id.description, .downloading)
        task.serial = UInt64(clamping: toldSerials[id] ?? 0)
        task.downloadedBytes = UInt64(clamping: live.bytes)
        task.progress = TaskProperties.progress(task.downloadedBytes, total)
        (task.speed, task.connections) = (live.bytesPerSecond, live.connections)
        task.activity = TaskProperties.Activity(rawValue: live.activity)
        return task
    }

    /// Tells the present values of some properties.
    private func tell(_ changes: [TaskProperty], of task: TaskProperties) {
        emit(
            Contract.Signal.taskChanged,
            written: WireWriter(task.id, task.state, TaskExcerpt(task, .init(changes)))
        )
    }

    /// Tells on the task's own object the changes that clients may cache.
    private func tellProperties(_ changes: [TaskProperty], of task: TaskProperties) {
        let kept = changes.filter { $0.changeSignal == .changes }
        guard !kept.isEmpty, isWatched, let path = TaskPath(id: task.id)?.objectPath else { return }
        let changed = TaskExcerpt(task, .init(kept))
        let contents = WireWriter(Contract.taskInterface.rawValue, changed, [String]())
        emit(Interface.propertiesChanged, at: path, written: contents)
    }

    private func emit<each Content: BusType>(
        _ signal: Signal<repeat each Content>,
        _ contents: repeat each Content
    ) {
        emit(signal, written: WireWriter(repeat each contents))
    }
}

extension LiveState {
    /// The state without segments, which progress does not tell.
    fileprivate var withoutSegments: LiveState {
        var live = self
        live.segments = nil
        return live
    }
}
