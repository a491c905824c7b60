// SPDX-License-Identifier: Apache-2.0

package import DBus
import Executors
import Logging

/// Identifies the program or application behind each client on the bus.
///
/// A connection belongs to one process for as long as it lives. So the service identifies a client
/// as soon as it connects, before another process can get that process's number. `CallerProbe`
/// identifies the process. If the bus gives a descriptor of the process (`ProcessFD`), the service
/// does so at the first call instead, because a descriptor stays valid.
///
/// A client whose connection the service did not notice, such as one older than the service, is
/// identified at its first call. Its process has to be older than the time when the service began
/// to listen.
package actor Callers {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The most clients that are remembered, about 2 MB of memory.
    private static let maximumClients = 16_384
    /// The most clients that left and are still remembered, because calls of theirs may wait.
    private static let maximumDeparted = 256
    /// The most lookups under way for clients that have not called.
    private static let maximumEarlyLooks = 256
    /// The longest that a call waits until its caller is identified.
    private static let longestLook: Duration = .seconds(5)
    /// The pauses before the looks at a process, the last of which counts: on a busy machine the
    /// kernel's list of connections was seen to lack a new one for some milliseconds.
    private static let pauses: [Duration] = [0, 1, 4, 16, 64, 256].map(Duration.milliseconds)
    /// The most lookups under way.
    private static let maximumLooks = 4_096

    private struct Client {
        /// A time at which the connection existed; nil unless the service noticed it come.
        var connectedBy: BootTime?
        /// What the client is; nil until it is identified.
        var caller: Caller?
        /// The number of the lookup under way; nil where there is none.
        var look: Int?
        /// Calls that wait for the lookup, oldest first.
        var waiting: [CheckedContinuation<Caller, Never>] = []
        var hasLeft = false
        /// Why it could not be identified, which the log tells once; nil if it was.
        var doubt: String?
        var hasToldDoubt = false
    }

    /// The bus that the service listens to.
    private struct Bus {
        let connection: Connection
        /// Whether the bus gives descriptors of processes.
        let givesDescriptors: Bool
        /// Connections whose coming was not noticed came before this time.
        var unheardUntil: BootTime
    }

    private nonisolated let executor: QueueExecutor
    private let probe: CallerProbe
    private let log: Logger
    /// The bus name that is asked for credentials: the bus itself, or a test's stand-in.
    private let authority: BusName
    private var bus: Bus?
    /// The id of the bus, which makes the mark of an unknown client unique among all buses.
    private var busID: String?
    private var clients: [BusName: Client] = [:]
    /// Clients that left, oldest first; the bus never uses their names again.
    private var departed: ArraySlice<BusName> = []
    /// The lookups under way, by number; each removes itself when it ends.
    private var looks: [Int: Task<Void, Never>] = [:]
    private var lastLook = 0
    private var listening: Task<Void, Never>?

    init(
        executor: QueueExecutor,
        log: Logger,
        probe: CallerProbe = CallerProbe(),
        authority: BusName = .bus
    ) {
        self.executor = executor
        self.log = log
        self.probe = probe
        self.authority = authority
    }

    /// How many clients are remembered or being identified.
    var known: Int { clients.count }

    // MARK: The bus

    /// Listens for new connections to a bus, and forgets the clients of the previous bus.
    ///
    /// - Parameter connection: The service's connection to the bus.
    /// - Throws: The bus's error.
    package func listen(on connection: Connection) async throws(BusError) {
        forgetAll()
        busID = try await connection.busID()
        let own = try await credentials(of: connection.uniqueName, over: connection)
        let givesDescriptors = own["ProcessFD"] != nil
        // To hear of changes costs one short wake-up for each connection to the bus.
        let changes = try await givesDescriptors ? nil : connection.ownerChanges()
        bus = Bus(
            connection: connection,
            givesDescriptors: givesDescriptors,
            // Not earlier: connections from before the bus knew the match rule were not noticed.
            unheardUntil: .now
        )
        guard let changes else { return }
        listening = Task {
            do {
                for try await change in changes { hear(change) }
            } catch {
                // More signals came than the connection keeps, so some connections were missed.
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
        guard change.newOwner != nil else { return hasLeft(change.name) }
        // Not the time of this call: on a busy machine the process may have ended since, and
        // another one have got its number.
        hasCome(change.name, by: .ago(.now - change.received))
    }

    private func hasCome(_ name: BusName, by time: BootTime) {
        guard clients[name] != nil || clients.count < Self.maximumClients else {
            bus?.unheardUntil = time
            return
        }
        clients[name, default: Client()].connectedBy = time
        guard let bus, clients[name]?.look == nil, looks.count < Self.maximumEarlyLooks else {
            return
        }
        beginLook(at: name, over: bus.connection)
    }

    private func hasLeft(_ name: BusName) {
        guard let client = clients[name] else { return }
        clients[name]?.hasLeft = true
        // If a lookup is under way, its end forgets the client.
        if client.look == nil { forgetDeparted(name) }
    }

    /// Forgets a client that left, but remembers an identified one for a while, because calls of
    /// it may still wait.
    private func forgetDeparted(_ name: BusName) {
        guard clients[name]?.caller != nil else {
            clients[name] = nil
            return
        }
        departed.append(name)
        if departed.count > Self.maximumDeparted { clients[departed.removeFirst()] = nil }
    }

    // MARK: Identifying

    /// Returns the sender of a call; nil where it is not identified yet.
    func knownCaller(of call: Call) -> Caller? {
        // Without a bus in between only the user's own programs can call.
        guard let name = call.sender else { return .program(nil) }
        // The call came over an earlier bus, where the name belonged to another client.
        if let bus, bus.connection !== call.connection { return unknown(name) }
        // A doubt may have passed since, such as a lack of descriptors: the next call looks again.
        if case .unknown = clients[name]?.caller, clients[name]?.hasLeft == false { return nil }
        return clients[name]?.caller
    }

    /// Returns the sender of a call, identified first if need be.
    func caller(of call: Call) async -> Caller {
        guard let name = call.sender else { return .program(nil) }
        // Only of clients that call, since any program of the session may connect.
        defer { logDoubt(of: name) }
        if let caller = knownCaller(of: call) { return caller }
        if clients[name] == nil { makeRoom() }
        guard looks.count < Self.maximumLooks, clients.count < Self.maximumClients else {
            return unknown(name)
        }
        return await withCheckedContinuation { continuation in
            clients[name, default: Client()].waiting.append(continuation)
            if clients[name]?.look == nil { beginLook(at: name, over: call.connection) }
        }
    }

    private func logDoubt(of name: BusName) {
        guard let doubt = clients[name]?.doubt, clients[name]?.hasToldDoubt == false else { return }
        clients[name]?.hasToldDoubt = true
        log.warning("\(name) counts as an application from a sandbox, since \(doubt)")
    }

    /// Returns into how many parts a client's limits of waiting calls are divided (contract,
    /// "Callers from a sandbox").
    ///
    /// - Parameter client: The client's unique name; an unidentified client counts as the user's
    ///   own.
    /// - Returns: The number; 1 leaves the limits undivided.
    nonisolated func partsOfLimits(for client: BusName) -> Int {
        assumeIsolated { $0.clients[client]?.caller?.isRestricted == true ? 10 : 1 }
    }

    /// Forgets clients at the limit: with descriptors, the service does not hear when they leave.
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

    /// Ends a lookup: answers the calls that wait for it, and remembers what the client is.
    ///
    /// - Parameters:
    ///   - look: The lookup that ends.
    ///   - name: The client.
    ///   - caller: What the client is; nil where the bus does not know the client.
    private func end(_ look: Int, of name: BusName, with caller: Caller?) async {
        // New calls that come while the resumed ones go on have to wait behind them.
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
            // The client left before the lookup, so no signal will tell that.
            clients[name] = nil
        }
    }

    /// Returns what a client is; nil where the bus does not know the client.
    private func identify(_ name: BusName, over connection: Connection) async -> Caller? {
        if busID == nil { busID = try? await connection.busID() }
        let credentials: [String: Value]
        do {
            credentials = try await self.credentials(of: name, over: connection)
        } catch {
            clients[name]?.doubt = "the bus does not tell what it is: \(error)"
            return nil
        }
        // A zero byte may end the label.
        let label = credentials["LinuxSecurityLabel"].flatMap { try? [UInt8](busValue: $0) } ?? []
        let text = String(decoding: label.prefix { $0 != 0 }, as: UTF8.self)
        if let snap = CallerProbe.snap(label: text) { return .application("snap/" + snap) }
        let evidence: () -> CallerEvidence
        if case .descriptor(let descriptor) = credentials["ProcessFD"] {
            evidence = { .descriptor(descriptor) }
        } else if bus?.givesDescriptors != true,
            case .uint32(let process) = credentials["ProcessID"]
        {
            let socket = await connection.busSocketName
            // The bus sent any signal of the client's coming before this answer. On a busy machine
            // the service may notice it a moment later, so that each look asks anew.
            evidence = { [self] in
                .number(
                    process,
                    connectedBy: clients[name]?.connectedBy ?? bus?.unheardUntil ?? .end,
                    busSocket: socket
                )
            }
        } else {
            // The process had ended when the bus accepted the connection.
            clients[name]?.doubt = "the bus does not know its process"
            return unknown(name)
        }
        for pause in Self.pauses where clients[name]?.hasLeft != true {
            try? await Task.sleep(for: pause)
            let found = await withTimeLimit(Self.longestLook) { [probe, evidence = evidence()] in
                await probe.caller(evidence)
            }
            // The lookup is given up after a while: the root of a process may lie on a disk that
            // hangs.
            guard let found else {
                clients[name]?.doubt = "its process does not answer"
                break
            }
            do {
                let caller = try found.get()
                clients[name]?.doubt = nil
                return caller
            } catch {
                clients[name]?.doubt = error.rawValue
            }
        }
        return unknown(name)
    }

    private func unknown(_ name: BusName) -> Caller {
        .unknown(connection: "\(busID ?? "")\(name)")
    }

    /// Returns all that the bus knows of a connection: "GetConnectionCredentials".
    private func credentials(
        of name: BusName,
        over connection: Connection
    ) async throws(BusError) -> [String: Value] {
        let bus = Proxy(connection, authority, "/org/freedesktop/DBus", "org.freedesktop.DBus")
        return try await bus.call(
            "GetConnectionCredentials",
            name.rawValue,
            returning: [String: Value].self
        )
    }
}

/// The sender of a call, as far as it decides what the call may do.
enum Caller: Hashable, Sendable {
    /// A program of the user's, which may do all that the user may, with the id of its desktop file
    /// or systemd unit; nil where that is unknown.
    case program(String?)
    /// An application from a sandbox, with its kind and id: `flatpak/org.example.App`.
    case application(String)
    /// A caller that could not be identified; only its connection tells it from others.
    case unknown(connection: String)

    /// The mark of the tasks that this caller adds; nil for the user's own programs.
    var owner: String? {
        switch self {
        case .program: nil
        case .application(let id): id
        case .unknown(let connection): "connection/" + connection
        }
    }

    /// The application id that the caller's tasks show (contract, `AddedBy`); nil where it is
    /// unknown.
    var applicationID: String? {
        switch self {
        case .program(let id): id
        // The id follows the kind of sandbox and a slash.
        case .application(let id): id.split(separator: "/", maxSplits: 1).last.map(String.init)
        case .unknown: nil
        }
    }

    /// Whether the contract's "Callers from a sandbox" restricts this caller.
    var isRestricted: Bool { owner != nil }
}
