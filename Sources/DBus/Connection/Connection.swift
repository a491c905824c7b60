// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A connection to a message bus, with the objects exported on it and the calls made over it.
///
/// A connection owns one private connection of libdbus and calls libdbus only on its executor, a
/// thread of its own. Handlers of exported methods start on that thread. The handlers of one sender
/// start strictly in the order of its calls, and run concurrently after their first suspension;
/// ``CallLimits`` says how many run at a time. Handlers of a ``MethodKind/wait`` or
/// ``MethodKind/work`` method start immediately.
///
/// A connection ends by ``close()``, when the bus goes away, or when its last reference is gone: a
/// service has to keep the connection that its objects are exported on. Running calls, sequences of
/// signals, and callers whose departure is watched (``Call/endWithCaller()``) keep a connection, too.
public actor Connection {
    /// The executor of this actor; another actor may share it, and their calls then change no
    /// thread.
    public nonisolated let executor: QueueExecutor

    /// The executor in the form that Swift's runtime needs.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The unique name that the bus assigned to this connection.
    public private(set) var uniqueName: BusName = ":0.0"

    nonisolated let libdbus: LibDBusCalls
    var link: Link?
    var objects = ObjectTable()
    var subscriptions: [Int: Subscription] = [:]
    var pendingReplies: [Int: PendingReply] = [:]
    let pendingCalls: PendingCalls
    /// The senders that are watched until they leave the bus, because they have had calls that end
    /// then.
    var watchedSenders: Set<BusName> = []
    /// The long answers that wait until the bus has taken the shorter ones; first in, first out.
    var longAnswers: [(id: Int, message: Message)] = []
    /// The error that answers every call once the service is ending; nil before.
    var refusal: BusError?
    private var waiters: [Int: (event: Event, continuation: CheckedContinuation<Void, Never>)] = [:]
    private var lastID = 0

    isolated deinit { link?.close() }

    private init(executor: QueueExecutor, faults: (@Sendable () -> Bool)?) {
        self.executor = executor
        pendingCalls = PendingCalls(executor.loop)
        libdbus = LibDBusCalls(faults: faults)
    }

    /// Connects to a bus and registers there.
    ///
    /// - Parameters:
    ///   - bus: The bus.
    ///   - executor: The executor of an earlier connection, for a service that reconnects to a
    ///     restarted bus: actors that share the executor can keep it. The call blocks it until the
    ///     bus has answered, so make sure before that the bus answers. Nil makes a new one.
    ///   - limit: How long to wait for the bus, which may accept a connection and never answer.
    /// - Returns: The connection.
    /// - Throws: The error of libdbus, for example `org.freedesktop.DBus.Error.NoServer`; `NoReply`
    ///   after the limit, or when the task is cancelled.
    public static func open(
        _ bus: BusAddress = .session,
        on executor: QueueExecutor? = nil,
        within limit: Duration = .seconds(25)
    ) async throws(BusError) -> Connection {
        try await open(bus, on: executor, within: limit, faults: nil)
    }

    /// Connects to a bus, with planned failures for tests.
    package static func open(
        _ bus: BusAddress,
        on executor: QueueExecutor? = nil,
        within limit: Duration = .seconds(25),
        faults: (@Sendable () -> Bool)?
    ) async throws(BusError) -> Connection {
        let executor = if let executor { executor } else { try QueueExecutor() }
        let connection = Connection(executor: executor, faults: faults)
        let (outcomes, outcome) = AsyncStream.makeStream(of: Result<Void, BusError>.self)
        // libdbus waits without a limit for a bus to accept the user, and cannot be interrupted:
        // its thread is left behind then.
        Task { outcome.yield(await connection.connect(to: bus)) }
        let clock = Task {
            try await Task.sleep(for: limit)
            outcome.yield(.failure(.noReply("The bus did not answer within \(limit).")))
        }
        defer { clock.cancel() }
        for await first in outcomes {
            try first.get()
            return connection
        }
        throw .noReply("The connection to the bus was given up.")
    }

    private func connect(to bus: BusAddress) -> Result<Void, BusError> {
        Result { () throws(BusError) in
            let link = try Link(to: bus, owner: self, libdbus: libdbus)
            self.link = link
            guard let name = dbus_bus_get_unique_name(link.pointer) else { return }
            uniqueName = BusName(checked: String(cString: name))
        }
    }

    /// Whether messages can still be sent.
    public var isOpen: Bool { link?.isConnected ?? false }

    /// The bytes of messages that wait because the bus does not take them.
    ///
    /// libdbus queues without a limit: check this value before sending a signal that could be left
    /// out.
    public var outgoingBytes: Int { link?.outgoingBytes ?? 0 }

    /// The name of the bus's end of the connection's socket: a path, or a zero byte and a name.
    ///
    /// Nil if the bus is not reached through a local socket, or the connection is closed.
    package var busSocketName: [UInt8]? { link?.busSocketName }

    /// Returns once the bus has taken all messages sent so far, or the connection has ended.
    public func flush() async {
        guard isOpen, outgoingBytes > 0 else { return }
        await wait(for: .flushed)
    }

    /// Returns once the connection has ended by ``close()`` or because the bus went away, or when
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

    /// Ends the connection: cancels handlers, and ends sequences of signals.
    ///
    /// Calls made over this connection fail with `Disconnected`, and messages that have not been
    /// sent yet are lost: see ``flush()``.
    ///
    /// Callers that have not been answered get `NoReply` from the bus.
    public func close() {
        guard let link else { return }
        _ = pendingCalls.cancelAll()
        for reply in pendingReplies.values { reply.abandon(.connectionClosed) }
        pendingReplies = [:]
        for subscription in subscriptions.values { subscription.queue?.finish() }
        subscriptions = [:]
        longAnswers = []
        objects = ObjectTable()
        link.close()
        self.link = nil
        resumeWaiters { _ in true }
    }

    func outgoingShrank() {
        guard outgoingBytes == 0 else { return }
        resumeWaiters { $0 == .flushed }
        // The tasks that waited for the flush run first.
        enqueue { $0.sendLongAnswers() }
    }

    func callsShrank() {
        // Starts one call at a time, after the work that others have enqueued meanwhile.
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

    /// Runs a body on the executor, after everything that already waits there.
    nonisolated func enqueue(_ body: @escaping @Sendable (isolated Connection) -> Void) {
        executor.post { self.assumeIsolated(body) }
    }

    /// Returns the link to the bus; throws `Disconnected` if there is none any more.
    func openLink() throws(BusError) -> Link {
        guard let link, link.isConnected else { throw .connectionClosed }
        return link
    }
}

extension Connection {
    /// An event that tasks wait for.
    private enum Event {
        case answered, closed, flushed
    }

    private func wait(for event: Event) async {
        let id = makeID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiters[id] = (event, $0) }
        } onCancel: {
            enqueue { $0.waiters.removeValue(forKey: id)?.continuation.resume() }
        }
    }

    private func resumeWaiters(_ isMeant: (Event) -> Bool) {
        for (id, waiter) in waiters where isMeant(waiter.event) {
            waiters[id] = nil
            waiter.continuation.resume()
        }
    }
}
