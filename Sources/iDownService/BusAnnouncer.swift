// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging
import iDownBus
package import iDownData
package import iDownState

/// Tells the bus what was committed: the contract's signals, in order.
///
/// What the bus does not take at once waits here and not in libdbus, whose queue has no end: there
/// the changes of one task become one.
package actor BusAnnouncer: Announcing {
    /// Shared with the connection, so that a signal costs no change of thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// While more waits to be sent, nothing is added to it but replies.
    static let mostOutgoing = 256 << 10

    private nonisolated let executor: QueueExecutor
    private let log: Logger
    var connection: Connection
    /// What was last told of each running task's progress.
    var told: [TaskID: LiveState] = [:]
    /// The serial that was last told of each running task.
    var toldSerials: [TaskID: Int64] = [:]
    private var toldCounts: [MemberName: UInt32] = [:]
    private var untoldCounts: TaskCounts?
    private var queue = AnnouncementQueue()
    /// The clients that follow the tasks' objects, and what forgets each when it leaves the bus.
    private var watchers: [BusName: Task<Void, Never>] = [:]
    /// Tells what waits as the bus takes it; nil while nothing waits.
    private var drainer: Task<Void, Never>?

    package init(connection: Connection, log: Logger) {
        executor = connection.executor
        self.connection = connection
        self.log = log
    }

    /// Tells over another connection from now on, which has the same executor.
    ///
    /// What was not told yet is forgotten: whoever is on the new bus asks for the whole first.
    package func use(_ connection: Connection) {
        self.connection = connection
        told = [:]
        toldCounts = [:]
        untoldCounts = nil
        for watcher in watchers.values { watcher.cancel() }
        watchers = [:]
        toldSerials.merge(queue.runningSerials) { $1 }
        answerAll()
    }

    // MARK: Objects on demand

    /// Whether anybody follows the tasks' objects.
    var isWatched: Bool { !watchers.isEmpty }

    /// Whether a client hears of the tasks' objects.
    func isWatched(by client: BusName) -> Bool { watchers[client] != nil }

    /// Has a client hear of the tasks' objects until it leaves the bus or says otherwise.
    func watch(for client: BusName, over connection: Connection) {
        guard watchers[client] == nil, connection === self.connection else { return }
        watchers[client] = Task {
            let peer = Proxy(connection, client, "/", "org.freedesktop.DBus.Peer")
            // A bus that takes no rule for it keeps the client among those that are told.
            guard (try? await peer.waitUntilGone()) != nil, !Task.isCancelled else { return }
            watchers[client] = nil
        }
    }

    /// A client wants to hear of objects no more.
    func unwatch(for client: BusName) { watchers.removeValue(forKey: client)?.cancel() }

    package func taskAdded(_ task: TaskSnapshot) {
        put(task.record.id, from: nil, to: task)
    }

    package func taskChanged(from before: TaskSnapshot, to after: TaskSnapshot) {
        let id = after.record.id
        var known = TaskSnapshot(before.sharedRecord, live: told[id])
        known.isVerifying = before.isVerifying
        put(id, from: known, to: after)
    }

    package func taskRemoved(_ id: TaskID) {
        put(id, from: nil, to: nil)
    }

    package func changedTogether(_ news: [TaskNews], serial: Int64) async {
        let (groups, others) = await ManyChanged.grouped(news, serial: serial)
        for (many, places) in groups { await put(many, places.map { news[$0] }) }
        for place in others {
            let (id, before) = (news[place].id, news[place].told?.sharedRecord)
            let known = before.map { TaskSnapshot($0, live: told[id]) }
            put(id, from: known, to: news[place].now)
        }
    }

    /// Has one signal tell of many tasks, and their objects afterwards.
    private func put(_ many: ManyChanged, _ news: [TaskNews]) async {
        var rest: [String] = []
        for (number, one) in news.enumerated() {
            if number % Commits.piece == 0 { await Task.yield() }
            if one.now?.record.state != .downloading {
                (told[one.id], toldSerials[one.id]) = (nil, nil)
            }
            // What waits to be told of a task becomes one with this.
            guard !queue.contains(one.id), !queue.hasManyWaiting else {
                queue.put(one.id, from: one.told, to: one.now)
                continue
            }
            rest.append(one.id.description)
            if isWatched { queue.putForObject(one.id, from: one.told, to: one.now) }
        }
        for first in stride(from: 0, to: rest.count, by: ManyChanged.most) {
            var part = many
            part.ids = Array(rest[first..<min(first + ManyChanged.most, rest.count)])
            if queue.hasNothingBefore, hasRoom { tell(part) } else { queue.put(part) }
        }
        if !queue.isEmpty { startDraining() }
    }

    package func taskProgressed(_ id: TaskID, _ live: LiveState, of total: Int64?) {
        // Left out while the bus is slow; it comes again half a second later.
        guard told[id] != live, !queue.contains(id), hasRoom else { return }
        tellProgress(of: id, live, of: total)
    }

    package func call(_ reply: @escaping @Sendable () -> Void, after ids: [TaskID]) {
        if !queue.keep(reply, after: ids) { reply() }
    }

    package func answerAll() {
        for reply in queue.removeAll() { reply() }
    }

    package func countsChanged(_ counts: TaskCounts) {
        guard hasRoom else {
            untoldCounts = counts
            startDraining()
            return
        }
        // These are newer than what may still wait.
        untoldCounts = nil
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

    package func propertiesChanged(
        _ changed: [String: Value],
        invalidated: [String] = [],
        of interface: InterfaceName = Contract.managerInterface
    ) {
        send { connection throws(BusError) in
            try connection.emitPropertiesChanged(
                interface,
                at: Contract.managerPath,
                changed: changed,
                invalidated: invalidated
            )
        }
    }

    // MARK: Flow

    private var hasRoom: Bool {
        connection.assumeIsolated { $0.outgoingBytes } <= Self.mostOutgoing
    }

    private func put(_ id: TaskID, from told: TaskSnapshot?, to now: TaskSnapshot?) {
        if queue.hasNothingBefore, !queue.contains(id), hasRoom {
            tell(id, AnnouncementQueue.Entry(told: told, now: now))
        } else {
            queue.put(id, from: told, to: now)
            startDraining()
        }
    }

    private func startDraining() {
        guard drainer == nil else { return }
        drainer = Task {
            while !queue.isEmpty || untoldCounts != nil { await drainOnce() }
            drainer = nil
        }
    }

    /// Waits until the bus has taken what was sent, then sends as much again.
    private func drainOnce() async {
        let connection = connection
        await connection.flush()
        guard await connection.isOpen else {
            // With its bus a connection has lost all who listened.
            guard connection === self.connection else { return }
            untoldCounts = nil
            return answerAll()
        }
        var count = 0
        while hasRoom, let item = queue.takeFirst() {
            switch item {
            case .task(let id, let entry):
                tell(id, entry)
                for reply in queue.takeReplies(for: id) { reply() }
            case .many(let many): tell(many)
            case .reply(let reply): reply()
            }
            count += 1
            // A bus that takes all of it at once is no reason to keep callers waiting.
            if count % Commits.piece == 0 { await Task.yield() }
        }
        guard queue.isEmpty, let counts = untoldCounts else { return }
        untoldCounts = nil
        countsChanged(counts)
    }

    /// Sends without a suspension in between: two announcements never change places.
    func send(_ body: @Sendable (isolated Connection) throws(BusError) -> Void) {
        do {
            try connection.assumeIsolated { try body($0) }
        } catch {
            log.debug("an announcement could not be sent: \(error)")
        }
    }
}
