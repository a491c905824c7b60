// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging
import iDownBus
package import iDownData
package import iDownState

/// Tells the bus what was committed: the contract's signals, in order.
package actor BusAnnouncer: Announcing {
    /// Shared with the connection, so that a signal costs no change of thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        connection.executor.asUnownedSerialExecutor()
    }

    /// While more waits to be sent, progress is left out; it comes again half a second later.
    static let mostOutgoing = 256 << 10

    private let connection: Connection
    private let log: Logger
    /// What was last told of each running task's progress.
    private var told: [TaskID: LiveState] = [:]
    private var toldCounts: [MemberName: UInt32] = [:]

    package init(connection: Connection, log: Logger) {
        self.connection = connection
        self.log = log
    }

    package func taskAdded(_ task: TaskSnapshot) {
        emit(.added(TaskProperties(task).withoutQueries))
    }

    package func taskChanged(from before: TaskSnapshot, to after: TaskSnapshot) {
        let properties = TaskProperties(after).withoutQueries
        var changes = properties.changes(since: TaskProperties(before).withoutQueries)
        let wasRunning = before.record.state == .downloading
        if wasRunning, after.record.state == .downloading {
            // On the record's side progress moves with each checkpoint; it has its own pace.
            for property in Self.progress { changes[property.rawValue] = nil }
        } else if wasRunning {
            // The last state in full: what was told of the progress may be half a second old.
            changes.merge(properties.dictionary(of: Self.progress)) { $1 }
            told[after.record.id] = nil
        }
        guard !changes.isEmpty else { return }
        emit(.changed(id: properties.id, state: properties.state, changed: changes))
    }

    package func taskProgressed(_ id: TaskID, _ live: LiveState, of total: Int64?) {
        let before = told[id]
        guard before != live, outgoingBytes <= Self.mostOutgoing else { return }
        told[id] = live
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
        if before?.activity != live.activity {
            changes[TaskProperty.activity.rawValue] = .string(live.activity)
        }
        if before?.connections != live.connections {
            changes[TaskProperty.connections.rawValue] = .uint32(live.connections)
        }
        emit(.changed(id: id.description, state: .downloading, changed: changes))
    }

    package func taskRemoved(_ id: TaskID) {
        told[id] = nil
        emit(.removed(id: id.description))
    }

    package func countsChanged(_ counts: TaskCounts) {
        let new: [MemberName: UInt32] = [
            Contract.Property.taskCount: UInt32(clamping: counts.total),
            Contract.Property.waitingCount: UInt32(clamping: counts[.waiting]),
            Contract.Property.activeCount: UInt32(clamping: counts[.downloading]),
        ]
        let changed = new.filter { toldCounts[$0.key] != $0.value }
        guard !changed.isEmpty else { return }
        toldCounts.merge(changed) { $1 }
        propertiesChanged(
            Dictionary(uniqueKeysWithValues: changed.map { ($0.key.rawValue, .uint32($0.value)) })
        )
    }

    package func propertiesChanged(_ changed: [String: Value]) {
        send("PropertiesChanged") { connection throws(BusError) in
            try connection.emitPropertiesChanged(
                Contract.managerInterface,
                at: Contract.managerPath,
                changed: changed
            )
        }
    }

    private static let progress: [TaskProperty] = [
        .downloadedBytes, .progress, .segments, .speed, .connections, .activity,
    ]

    // MARK: Sending

    private func emit(_ event: ManagerEvent) {
        send(event.member) { connection throws(BusError) in
            try connection.emit(
                Contract.managerInterface,
                event.member,
                at: Contract.managerPath,
                event.arguments
            )
        }
    }

    private var outgoingBytes: Int { connection.assumeIsolated { $0.outgoingBytes } }

    /// Sends without a suspension in between: two announcements never change places.
    private func send(
        _ member: MemberName,
        _ body: @Sendable (isolated Connection) throws(BusError) -> Void
    ) {
        do {
            try connection.assumeIsolated { try body($0) }
        } catch {
            log.debug("\(member) could not be sent: \(error)")
        }
    }
}
