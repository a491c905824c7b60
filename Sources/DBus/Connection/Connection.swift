// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A connection to a message bus, with the objects exported on it and the calls made over it.
///
/// It owns one private connection of libdbus and makes all calls into libdbus on its executor, a
/// thread of its own. Handlers of exported methods start there, those of one sender strictly in the
/// order in which the calls arrived, and run concurrently from their first suspension on;
/// ``CallLimits`` says how many. Those of a ``MethodKind/wait`` and a ``MethodKind/work`` start at once.
///
/// It ends by ``close()``, when the bus goes away, and with its last reference: a service keeps the
/// connection that its objects are exported on. Calls that run and sequences of signals keep it too.
public actor Connection {
    /// The executor of this actor; another actor may share it and be called without a thread change.
    public nonisolated let executor: QueueExecutor

    /// The executor as the runtime wants it.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The name that the bus gave to this connection.
    public private(set) var uniqueName: BusName = ":0.0"

    nonisolated let border: Border
    var link: Link?
    var objects = ObjectTable()
    var subscriptions: [Int: Subscription] = [:]
    var pendingReplies: [Int: PendingReply] = [:]
    let pendingCalls: PendingCalls
    var longAnswers = LongAnswers()
    /// What every call is answered with once the service ends.
    var refusal: BusError?
    private var waiters: [Int: Waiter] = [:]
    private var lastID = 0

    isolated deinit {
        link?.close()
    }

    private init(executor: QueueExecutor, faults: FaultPlan?) {
        self.executor = executor
        pendingCalls = PendingCalls(executor.loop)
        border = Border(faults: faults)
    }

    /// Connects to a bus and registers there.
    ///
    /// - Throws: What libdbus reports, for example `org.freedesktop.DBus.Error.NoServer`.
    public static func open(_ bus: BusAddress = .session) async throws(BusError) -> Connection {
        try await open(bus, faults: nil)
    }

    /// Connects to a bus and shares the executor of an earlier connection.
    ///
    /// For a service whose bus comes back: actors that share the executor need not change theirs.
    /// Blocks the executor until the bus has answered; make sure before that it does.
    public static func open(
        _ bus: BusAddress,
        on executor: QueueExecutor
    ) async throws(BusError) -> Connection {
        let connection = Connection(executor: executor, faults: nil)
        try await connection.connect(to: bus)
        return connection
    }

    /// Connects to a bus, with a planned failure.
    package static func open(
        _ bus: BusAddress,
        faults: FaultPlan?
    ) async throws(BusError) -> Connection {
        let connection = Connection(executor: try QueueExecutor(), faults: faults)
        try await connection.connect(to: bus)
        return connection
    }

    private func connect(to bus: BusAddress) throws(BusError) {
        let link = try Link(to: bus, owner: self, border: border)
        self.link = link
        guard let name = dbus_bus_get_unique_name(link.pointer) else { return }
        uniqueName = BusName(checked: String(cString: name))
    }

    /// Whether messages can still be sent.
    public var isOpen: Bool {
        link?.isConnected ?? false
    }

    /// Bytes of messages that wait to be sent because the bus does not take them.
    ///
    /// libdbus queues without bound: look here before any signal that could be left out.
    public var outgoingBytes: Int {
        link?.outgoingBytes ?? 0
    }

    /// The name of the bus's end of the connection's socket: a path, or a zero byte and a name.
    ///
    /// nil where the bus is not reached through a local socket, and once the connection is closed.
    package var busSocketName: [UInt8]? { link?.busSocketName }

    /// Returns once all messages sent so far are with the bus, or the connection has ended.
    public func flush() async {
        guard isOpen, outgoingBytes > 0 else { return }
        await wait(for: .flushed)
    }

    /// Returns once the connection has ended, by ``close()`` or because the bus went away; or when
    /// the task is cancelled.
    public func waitUntilClosed() async {
        guard link != nil else { return }
        await wait(for: .closed)
    }

    /// Returns once no call waits for its answer, or the connection has ended.
    public func waitUntilAnswered() async {
        guard isOpen, !pendingCalls.isEmpty else { return }
        await wait(for: .answered)
    }

    /// Ends the connection: handlers are cancelled, calls fail, sequences of signals end.
    ///
    /// Calls that were made over it fail with `Disconnected`. What has not been sent yet is lost; see ``flush()``.
    ///
    /// Callers whose call has not been answered get `NoReply` from the bus.
    public func close() {
        guard let link else { return }
        _ = pendingCalls.cancelAll()
        for reply in pendingReplies.values { reply.abandon(.connectionClosed) }
        pendingReplies = [:]
        for subscription in subscriptions.values { subscription.queue.finish() }
        subscriptions = [:]
        longAnswers = LongAnswers()
        objects = ObjectTable()
        link.close()
        self.link = nil
        resumeWaiters { _ in true }
    }

    func outgoingShrank() {
        guard outgoingBytes == 0 else { return }
        resumeWaiters { $0 == .flushed }
        // Behind what those who waited have to say.
        enqueue { $0.sendLongAnswers() }
    }

    func callsShrank() {
        // One at a time, behind what others have asked for meanwhile.
        if pendingCalls.isAnyDue {
            enqueue { connection in
                connection.pendingCalls.takeDue()?()
                connection.callsShrank()
            }
        }
        guard !waiters.isEmpty, pendingCalls.isEmpty else { return }
        resumeWaiters { $0 == .answered }
    }

    func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Runs a body on the executor, behind all that already waits there.
    nonisolated func enqueue(_ body: @escaping @Sendable (isolated Connection) -> Void) {
        executor.post { self.assumeIsolated(body) }
    }

    /// The link, if there still is a bus behind it.
    func openLink() throws(BusError) -> Link {
        guard let link, link.isConnected else { throw .connectionClosed }
        return link
    }
}

/// A task that waits for something else than an answer.
private struct Waiter {
    enum Event {
        case answered, closed, flushed
    }

    let event: Event
    let continuation: CheckedContinuation<Void, Never>
}

extension Connection {
    private func wait(for event: Waiter.Event) async {
        let id = makeID()
        await withTaskCancellationHandler {
            await withCheckedContinuation {
                waiters[id] = Waiter(event: event, continuation: $0)
            }
        } onCancel: {
            enqueue { $0.waiters.removeValue(forKey: id)?.continuation.resume() }
        }
    }

    private func resumeWaiters(_ isMeant: (Waiter.Event) -> Bool) {
        for (id, waiter) in waiters where isMeant(waiter.event) {
            waiters[id] = nil
            waiter.continuation.resume()
        }
    }
}
