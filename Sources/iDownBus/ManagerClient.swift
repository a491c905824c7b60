// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The download service as a program sees it.
///
/// A call starts the service if it does not run; one that meets its end is made again to the next.
/// To follow a download without a gap ask for ``events()`` first, then add or list.
///
/// ```swift
/// import iDownBus
///
/// let manager = try await ManagerClient.connect()
/// let events = try await manager.events()
/// let id = try await manager.addURL("https://example.org/image.iso")
/// follow: for try await event in events where event.id == id {
///     switch event {
///     case .added(let task):
///         print("added:", task.url)
///     case .changed(_, let state, let changed):
///         print(state, changed["DownloadedBytes"].map { "\($0)" } ?? "")
///         if state == .completed || state == .failed { break follow }
///     case .removed:
///         break follow
///     }
/// }
/// print(try await manager.getTask(id).path)
/// await manager.close()
/// ```
///
/// Whoever only wants the end calls ``wait(for:)``; ``findTasks(_:)`` gives long lists in pages.
public struct ManagerClient: Sendable {
    let manager: Proxy
    let patience: Duration

    /// Speaks over a connection that is there already; closing it is its owner's.
    ///
    /// - Parameters:
    ///   - connection: The connection to a session bus.
    ///   - patience: How long a call waits for its answer.
    ///   - startsService: Whether a call starts a service that does not run. Without it such a call
    ///     fails with an error that ``ManagerError/isUnreachable``.
    public init(
        _ connection: Connection,
        patience: Duration = Self.patience,
        startsService: Bool = true
    ) {
        self.patience = patience
        manager = Proxy(
            connection,
            Contract.busName,
            Contract.managerPath,
            Contract.managerInterface,
            startsService: startsService
        )
    }

    /// Connects to a bus; call ``close()`` when you are done.
    ///
    /// - Parameters:
    ///   - bus: The bus, normally the session's.
    ///   - patience: How long a call waits for its answer.
    ///   - startsService: Whether a call starts a service that does not run.
    /// - Returns: The client.
    /// - Throws: `NoServer` where the bus cannot be reached; it ``ManagerError/isUnreachable``.
    public static func connect(
        to bus: BusAddress = .session,
        patience: Duration = Self.patience,
        startsService: Bool = true
    ) async throws(ManagerError) -> ManagerClient {
        do throws(BusError) {
            return ManagerClient(
                try await Connection.open(bus),
                patience: patience,
                startsService: startsService
            )
        } catch {
            throw ManagerError(.noServer, "there is no session bus here (\(error.message))")
        }
    }

    /// Ends the connection; calls that wait fail and sequences of events end.
    public func close() async {
        await manager.connection.close()
    }

    /// Signals of all tasks, from the moment at which this returns.
    public func events() async throws(ManagerError) -> ManagerEvents {
        try await asking { () throws(BusError) in ManagerEvents(try await manager.signals()) }
    }

    /// Comings and goings of the service itself, from the moment at which this returns.
    public func presence() async throws(ManagerError) -> ManagerPresence {
        try await asking { () throws(BusError) in ManagerPresence(try await presenceSignals()) }
    }

    func call<each Input: BusType, each Output: BusType>(
        _ member: MemberName,
        _ arguments: repeat each Input,
        returning types: repeat (each Output).Type,
        patience: Duration? = nil,
        outlivesService: Bool = true
    ) async throws(ManagerError) -> (repeat each Output) {
        try await asking(outlivesService: outlivesService) { () throws(BusError) in
            try await manager.call(
                member,
                repeat each arguments,
                returning: repeat each types,
                timeout: patience ?? self.patience
            )
        }
    }

    /// Calls a method whose answer is a long list.
    func read<Output>(
        _ member: MemberName,
        _ arguments: [Value],
        as signature: Signature,
        _ body: (inout WireReader) throws(DecodingFailure) -> Output
    ) async throws(ManagerError) -> Output {
        try await asking { () throws(BusError) in
            try await manager.read(member, arguments, as: signature, timeout: patience, body)
        }
    }

    /// Calls the interface by which desktops hand links over; its methods answer nothing.
    func callApplication<each Input: BusType>(
        _ member: MemberName,
        _ arguments: repeat each Input
    ) async throws(ManagerError) {
        let application = Proxy(
            manager.connection,
            Contract.busName,
            Contract.managerPath,
            Contract.applicationInterface,
            startsService: manager.startsService
        )
        try await asking { () throws(BusError) in
            try await application.call(member, repeat each arguments, timeout: patience)
        }
    }

    func get<Content: BusType>(
        _ property: MemberName,
        as type: Content.Type = Content.self
    ) async throws(ManagerError) -> Content {
        try await asking { () throws(BusError) in
            try await manager.get(property, timeout: patience)
        }
    }

    func set(_ property: MemberName, to content: some BusType) async throws(ManagerError) {
        try await asking { () throws(BusError) in
            try await manager.set(property, to: content, timeout: patience)
        }
    }

    /// How long to wait for an answer: a commit on a busy disk may take its time, 100,000 URLs too.
    public static let patience: Duration = .seconds(60)
}
