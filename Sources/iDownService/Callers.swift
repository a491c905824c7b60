// SPDX-License-Identifier: Apache-2.0

package import DBus
import Executors

/// Knows which program or application each client on the bus is.
///
/// What a client is stays true for as long as its connection lives, so the service looks when the
/// connection comes, before another process can get the number of the one that connected.
/// `CallerProbe` says how a process is told. A bus that gives a descriptor of the process
/// (`ProcessFD`) is asked at the first call instead, because the descriptor stays true.
///
/// A connection whose coming was not heard, such as one older than the service, is looked at when
/// it first calls, and has to belong to a process that was there when the service began to listen.
package actor Callers {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The most clients that are remembered, about 2 MB of memory.
    private static let maximumClients = 16_384
    /// The most clients that left and are still remembered, since calls of theirs may wait.
    private static let maximumDeparted = 256
    /// The most looks under way for clients that have not called.
    private static let maximumEarlyLooks = 256
    /// The longest that a call waits for the look at its caller.
    private static let longestLook: Duration = .seconds(5)
    /// The most looks under way.
    private static let maximumLooks = 4_096

    private struct Client {
        /// A time by which the connection was there; nil unless the service heard it come.
        var connectedBy: BootTime?
        /// What the client is; nil until that is known.
        var caller: Caller?
        /// The look under way.
        var look: Int?
        /// Calls that wait for the look, oldest first.
        var waiting: [CheckedContinuation<Caller, Never>] = []
        var hasLeft = false
    }

    /// What is known of the bus that the service listens to.
    private struct Bus {
        let connection: Connection
        /// Whether the bus tells processes by descriptors.
        let givesDescriptors: Bool
        let socketName: [UInt8]?
        /// Whose coming was not heard, came before this time.
        var unheardUntil: BootTime
    }

    private nonisolated let executor: QueueExecutor
    private let probe: CallerProbe
    /// Who is asked for the credentials of connections: the bus, or a test's stand-in.
    private let authority: BusName
    private var bus: Bus?
    /// The id of the bus, so that the mark of an unknown client means no other on a later bus.
    private var busID: String?
    private var clients: [BusName: Client] = [:]
    /// Clients that left, oldest first; the bus never gives their names again.
    private var departed: ArraySlice<BusName> = []
    /// The looks under way; each ends by itself.
    private var looks: [Int: Task<Void, Never>] = [:]
    private var lastLook = 0
    private var listening: Task<Void, Never>?

    package init(executor: QueueExecutor) {
        self.init(executor: executor, probe: CallerProbe())
    }

    init(executor: QueueExecutor, probe: CallerProbe, authority: BusName = .bus) {
        self.executor = executor
        self.probe = probe
        self.authority = authority
    }

    /// How many clients are remembered or looked at.
    var known: Int { clients.count }

    // MARK: The bus

    /// Listens for the connections that come to a bus, and forgets the clients of the last one.
    ///
    /// - Parameter connection: The service's connection to the bus.
    /// - Throws: What the bus answers.
    package func listen(on connection: Connection) async throws(BusError) {
        forgetAll()
        busID = try await connection.busID()
        let own = try await credentials(of: connection.uniqueName, over: connection)
        let givesDescriptors = own[.processDescriptor] != nil
        var changes: SignalSequence<NameOwnerChange>?
        if !givesDescriptors {
            // One short wake-up for each connection that comes to the bus.
            changes = try await connection.ownerChanges()
        }
        bus = Bus(
            connection: connection,
            givesDescriptors: givesDescriptors,
            socketName: await connection.busSocketName,
            // Not earlier: connections that came before the bus knew the rule were not heard.
            unheardUntil: .now
        )
        guard let changes else { return }
        listening = Task {
            do {
                for try await change in changes { hear(change) }
            } catch {
                // More signals came than the connection keeps: some connections were not heard.
                guard bus?.connection === connection else { return }
                listening = nil
                try? await listen(on: connection)
            }
        }
    }

    private func forgetAll() {
        listening?.cancel()
        listening = nil
        bus = nil
        busID = nil
        let asked = clients
        clients = [:]
        departed = []
        for (name, client) in asked {
            for continuation in client.waiting { continuation.resume(returning: unknown(name)) }
        }
    }

    private func hear(_ change: NameOwnerChange) {
        guard change.name.isUnique else { return }
        if change.newOwner == nil { hasLeft(change.name) } else { hasCome(change.name) }
    }

    private func hasCome(_ name: BusName) {
        let now = BootTime.now
        guard clients[name] != nil || clients.count < Self.maximumClients else {
            bus?.unheardUntil = now
            return
        }
        clients[name, default: Client()].connectedBy = now
        guard let bus, clients[name]?.look == nil, looks.count < Self.maximumEarlyLooks else {
            return
        }
        beginLook(at: name, over: bus.connection)
    }

    private func hasLeft(_ name: BusName) {
        guard let client = clients[name] else { return }
        clients[name]?.hasLeft = true
        // A look under way ends with the client forgotten.
        if client.look == nil { forgetDeparted(name) }
    }

    /// Forgets a client that left, unless calls of its may still wait for their turn.
    private func forgetDeparted(_ name: BusName) {
        guard clients[name]?.caller != nil else {
            clients[name] = nil
            return
        }
        departed.append(name)
        if departed.count > Self.maximumDeparted { clients[departed.removeFirst()] = nil }
    }

    // MARK: Looking

    /// Returns who makes a call; nil where the client has to be looked at first.
    func knownCaller(of call: Call) -> Caller? {
        // Without a bus in between only the user's own programs can call.
        guard let name = call.sender else { return .program(nil) }
        // On an earlier bus the name belonged to another client.
        if let bus, bus.connection !== call.connection { return unknown(name) }
        return clients[name]?.caller
    }

    /// Returns who makes a call.
    func caller(of call: Call) async -> Caller {
        if let caller = knownCaller(of: call) { return caller }
        guard let name = call.sender else { return .program(nil) }
        if clients[name] == nil { makeRoom() }
        guard looks.count < Self.maximumLooks, clients.count < Self.maximumClients else {
            return unknown(name)
        }
        return await withCheckedContinuation { continuation in
            clients[name, default: Client()].waiting.append(continuation)
            if clients[name]?.look == nil { beginLook(at: name, over: call.connection) }
        }
    }

    /// Whether a client is known to be an application from a sandbox.
    func isKnownAsRestricted(_ name: BusName) -> Bool {
        clients[name]?.caller?.isRestricted == true
    }

    /// Where descriptors tell clients at any time, those that left are not heard.
    private func makeRoom() {
        guard bus?.givesDescriptors == true, clients.count >= Self.maximumClients else { return }
        clients = clients.filter { $0.value.look != nil }
    }

    private func beginLook(at name: BusName, over connection: Connection) {
        lastLook += 1
        let look = lastLook
        clients[name]?.look = look
        looks[look] = Task {
            let caller = await identify(name, over: connection)
            await end(look, of: name, with: caller)
            looks[look] = nil
        }
    }

    /// Tells the calls that wait, and remembers what the client is.
    ///
    /// - Parameters:
    ///   - look: The look that ends.
    ///   - name: The client.
    ///   - caller: What it is; nil where the bus does not know it.
    private func end(_ look: Int, of name: BusName, with caller: Caller?) async {
        // Calls that come while those that waited go on queue up behind them.
        while clients[name]?.look == look, let waiting = clients[name]?.waiting, !waiting.isEmpty {
            clients[name]?.waiting = []
            for continuation in waiting {
                continuation.resume(returning: caller ?? unknown(name))
            }
            await Task.yield()
        }
        guard let client = clients[name], client.look == look else { return }
        clients[name]?.look = nil
        clients[name]?.caller = caller
        if client.hasLeft {
            forgetDeparted(name)
        } else if caller == nil, client.connectedBy == nil {
            // It left before it was looked at: no signal will tell that.
            clients[name] = nil
        }
    }

    /// Returns what a client is; nil where the bus does not know it.
    private func identify(_ name: BusName, over connection: Connection) async -> Caller? {
        if busID == nil { busID = try? await connection.busID() }
        guard let credentials = try? await credentials(of: name, over: connection) else {
            return nil
        }
        if let label = credentials[.securityLabel]?.text, let snap = CallerProbe.snap(label: label)
        {
            return .application("snap/" + snap)
        }
        let evidence: CallerEvidence
        if case .descriptor(let descriptor) = credentials[.processDescriptor] {
            evidence = .descriptor(descriptor)
        } else if bus?.givesDescriptors != true, case .uint32(let process) = credentials[.process] {
            // The bus sent the signal of the client's coming before its answer, and signals and
            // answers are taken in their order: so the signal has been heard, if there was one.
            evidence = .number(
                process,
                connectedBy: clients[name]?.connectedBy ?? bus?.unheardUntil ?? .end,
                busSocket: await connection.busSocketName
            )
        } else {
            // The process had ended when the bus took the connection.
            return unknown(name)
        }
        let found = await promptly(within: Self.longestLook) { [probe] in
            await probe.caller(evidence)
        }
        // The root of a process may lie on a disk that hangs.
        return (found ?? nil) ?? unknown(name)
    }

    private func unknown(_ name: BusName) -> Caller {
        .unknown(connection: "\(busID ?? "")\(name)")
    }

    /// Asks for all that the bus knows of a connection: "GetConnectionCredentials".
    private func credentials(
        of name: BusName,
        over connection: Connection
    ) async throws(BusError) -> [String: Value] {
        let bus = Proxy(
            connection,
            authority,
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus"
        )
        return try await bus.call(
            "GetConnectionCredentials",
            name.rawValue,
            returning: [String: Value].self
        )
    }
}

// The keys of "GetConnectionCredentials".
extension String {
    fileprivate static let process = "ProcessID"
    fileprivate static let processDescriptor = "ProcessFD"
    fileprivate static let securityLabel = "LinuxSecurityLabel"
}

extension Value {
    /// The text in an array of bytes, without the zero byte that may end it.
    fileprivate var text: String? {
        guard case .array(_, let values) = self else { return nil }
        let bytes = values.compactMap { value in
            if case .byte(let byte) = value { byte } else { nil }
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
