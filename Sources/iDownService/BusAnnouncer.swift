// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging
import iDownBus
package import iDownData
package import iDownState

/// Sends the contract's signals about what was committed, in order.
///
/// Announcements that the bus does not take at once wait here, where the changes of one task are
/// merged. They do not wait in libdbus, whose queue has no limit.
package actor BusAnnouncer: Announcing {
    /// The connection's executor, so that a signal needs no change of thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// While more bytes than this wait to be sent, only replies are added.
    static let mostOutgoing = 256 << 10

    private nonisolated let executor: QueueExecutor
    private let log: Logger
    var connection: Connection
    /// What was last told of each running task's progress, and of each stopped one's while its record
    /// may lack it.
    var told: [TaskID: LiveState] = [:]
    /// The serial that was last told of each running task.
    var toldSerials: [TaskID: Int64] = [:]
    /// The tasks of which was last told, or waits to be told, that their files are being read.
    private var verifying: Set<TaskID> = []
    private var untoldCounts: TaskCounts?
    private var queue = AnnouncementQueue()
    /// What one signal has told of many tasks, and their objects tell behind the reply.
    private var late: [TaskNews] = []
    /// What only tasks' objects still have to tell, behind everything else.
    private var objects = AnnouncementQueue()
    /// The clients that follow the tasks' objects, each with the watch that removes it when it
    /// leaves the bus.
    private var watchers: [BusName: Task<Void, Never>] = [:]
    /// Sends what waits as fast as the bus takes it; nil while nothing waits.
    private var drainer: Task<Void, Never>?

    package init(connection: Connection, log: Logger) {
        executor = connection.executor
        self.connection = connection
        self.log = log
    }

    /// Sends over another connection from now on, which has the same executor.
    ///
    /// Announcements that were not sent yet are dropped: clients on the new bus first ask for the
    /// whole list.
    package func use(_ connection: Connection) {
        self.connection = connection
        told = [:]
        untoldCounts = nil
        late = []
        objects = AnnouncementQueue()
        for watcher in watchers.values { watcher.cancel() }
        watchers = [:]
        toldSerials.merge(queue.runningSerials) { $1 }
        answerAll()
    }

    // MARK: Objects on demand

    /// Whether any client follows the tasks' objects.
    var isWatched: Bool { !watchers.isEmpty }

    /// Whether a client follows the tasks' objects.
    func isWatched(by client: BusName) -> Bool { watchers[client] != nil }

    /// Sends a client signals of the tasks' objects until it leaves the bus or unsubscribes.
    func watch(for client: BusName, over connection: Connection) {
        guard watchers[client] == nil, connection === self.connection else { return }
        watchers[client] = Task {
            let peer = Proxy(connection, client, "/", "org.freedesktop.DBus.Peer")
            // If the bus takes no match rule for the client, the client stays in the list.
            guard (try? await peer.waitUntilGone()) != nil, !Task.isCancelled else { return }
            watchers[client] = nil
        }
    }

    /// Stops signals of the tasks' objects to a client.
    func unwatch(for client: BusName) { watchers.removeValue(forKey: client)?.cancel() }

    package func tell(_ news: [TaskNews], serial: Int64) async {
        guard news.count <= ManyChanged.fewest else {
            return await tellTogether(news, serial: serial)
        }
        for (number, one) in news.enumerated() {
            if number % Commits.piece == Commits.piece - 1 { await Task.yield() }
            tell(one)
        }
    }

    func tell(_ news: TaskNews) {
        let (id, now) = (news.id, news.now)
        let known = news.told.map { before in
            var known = TaskSnapshot(before.sharedRecord, live: told[id])
            known.isVerifying = verifying.contains(id)
            return known
        }
        if now?.isVerifying == true { verifying.insert(id) } else { verifying.remove(id) }
        let untold = TaskNews(id: id, told: known, now: now)
        if queue.isEmpty, hasRoom {
            send(untold)
        } else {
            queue.put(untold)
            startDraining()
        }
    }

    /// Tells the changes of one commit, those of tasks that changed in the same way by one signal.
    func tellTogether(_ news: [TaskNews], serial: Int64) async {
        // Of a transfer's bytes, clients know more than the record.
        let known = Set(told.keys)
        for one in news where known.contains(one.id) { tell(one) }
        let news = news.filter { !known.contains($0.id) }
        let (groups, others) = await ManyChanged.grouped(news, serial: serial)
        for (many, places) in groups { await put(many, places.map { news[$0] }) }
        for place in others { tell(news[place]) }
    }

    /// Sends one signal about many tasks, and has their objects told afterwards.
    private func put(_ many: ManyChanged, _ news: [TaskNews]) async {
        var rest: [String] = []
        for (number, one) in news.enumerated() {
            if number % Commits.piece == 0 { await Task.yield() }
            if one.now?.record.state != .downloading {
                (told[one.id], toldSerials[one.id]) = (nil, nil)
            }
            if one.now == nil { verifying.remove(one.id) }
            // If a change of this task waits already, the two are merged.
            guard !queue.contains(one.id), !queue.hasManyWaiting else {
                queue.put(one)
                continue
            }
            rest.append(one.id.description)
            if isWatched { late.append(one) }
        }
        for first in stride(from: 0, to: rest.count, by: ManyChanged.most) {
            var part = many
            part.ids = Array(rest[first..<min(first + ManyChanged.most, rest.count)])
            if queue.isEmpty, hasRoom { send(part) } else { queue.put(part) }
        }
        if !queue.isEmpty { startDraining() }
    }

    package func tellObjects() async {
        let news = late
        late = []
        for (number, one) in news.enumerated() {
            if number % Commits.piece == 0 { await Task.yield() }
            objects.put(one)
        }
        if !objects.isEmpty { startDraining() }
    }

    /// Takes out what a task's object has not told yet; nil where it has told everything.
    func takeObject(_ id: TaskID) -> TaskNews? { objects.takeNews(of: id) }

    private func takeFirstObject() -> TaskNews? {
        while case .task(let id) = objects.takeFirst() {
            if let news = takeObject(id) { return news }
        }
        return nil
    }

    package func taskProgressed(_ id: TaskID, _ live: LiveState, of total: Int64?) {
        // Progress is left out while the bus is slow; it comes again half a second later.
        guard told[id] != live, !queue.contains(id), hasRoom else { return }
        tellProgress(of: id, live, of: total)
    }

    package func call(_ reply: @escaping @Sendable () -> Void, after ids: [TaskID]) {
        if !queue.keep(reply, after: ids) { reply() }
    }

    package func answerAll() { for reply in queue.removeAll() { reply() } }

    package func countsChanged(_ counts: TaskCounts) {
        guard hasRoom else {
            untoldCounts = counts
            startDraining()
            return
        }
        // These counts are newer than any that wait.
        untoldCounts = nil
        propertiesChanged([
            Contract.Property.taskCount.rawValue: .uint32(UInt32(clamping: counts.total)),
            Contract.Property.waitingCount.rawValue: .uint32(UInt32(clamping: counts[.waiting])),
            Contract.Property.activeCount.rawValue: .uint32(UInt32(clamping: counts[.downloading])),
        ])
    }

    package func propertiesChanged(
        _ changed: [String: Value],
        invalidated: [String] = [],
        of interface: InterfaceName = Contract.managerInterface
    ) {
        let contents = WireWriter(interface.rawValue, changed, invalidated)
        emit(Interface.propertiesChanged, written: contents)
    }

    // MARK: Sending

    private var hasRoom: Bool {
        connection.assumeIsolated { $0.outgoingBytes } <= Self.mostOutgoing
    }

    private func startDraining() {
        guard drainer == nil else { return }
        drainer = Task {
            while !queue.isEmpty || !objects.isEmpty || untoldCounts != nil { await drainOnce() }
            drainer = nil
        }
    }

    /// Waits until the bus has taken what was sent, then sends more.
    private func drainOnce() async {
        let connection = connection
        await connection.flush()
        guard await connection.isOpen else {
            // The clients of a closed connection are gone.
            guard connection === self.connection else { return }
            untoldCounts = nil
            objects = AnnouncementQueue()
            return answerAll()
        }
        var count = 0
        while hasRoom {
            if let item = queue.takeFirst() {
                send(item)
            } else if let news = takeFirstObject() {
                tellObject(news)
            } else {
                break
            }
            count += 1
            // Other calls are answered in between, even if the bus takes everything at once.
            if count % Commits.piece == 0 { await Task.yield() }
        }
        guard queue.isEmpty, let counts = untoldCounts else { return }
        untoldCounts = nil
        countsChanged(counts)
    }

    private func send(_ item: AnnouncementQueue.Item) {
        switch item {
        case .task(let id):
            if let news = queue.takeNews(of: id) { send(news) }
        case .many(let many): send(many)
        case .reply(let reply): reply()
        }
    }

    /// Sends a signal whose contents are already encoded, without a suspension, so that
    /// announcements keep their order.
    func emit<each Content: BusType>(
        _ signal: Signal<repeat each Content>,
        at path: ObjectPath = Contract.managerPath,
        written contents: WireWriter
    ) {
        let (interface, member) = (signal.interface, signal.member)
        do {
            try connection.assumeIsolated { try $0.emit(interface, member, at: path, contents) }
        } catch {
            log.debug("an announcement could not be sent: \(error)")
        }
    }
}
