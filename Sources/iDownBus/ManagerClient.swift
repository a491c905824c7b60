// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The client of the download service.
///
/// A call starts the service if it is not running. If the service ends during a call, the call is
/// repeated with the next service. To follow a download without missing a change, first ask for
/// ``newsFromNow()``, then add the download or list the tasks.
///
/// ```swift
/// import iDownBus
///
/// let manager = try await ManagerClient.connect()
/// let news = try await manager.newsFromNow()
/// let id = try await manager.addURL("https://example.org/image.iso")
/// follow: for try await one in news {
///     switch one {
///     case .added(let tasks):
///         for task in tasks where task.id == id { print("added:", task.url) }
///     case .changed([id], let state, let changed):
///         print(state, changed["DownloadedBytes"].map { "\($0)" } ?? "")
///         if state == .completed || state == .failed { break follow }
///     case .removed([id]):
///         break follow
///     default: break
///     }
/// }
/// print(try await manager.getTask(id).path)
/// await manager.close()
/// ```
///
/// To wait only for the end of a task, call ``wait(for:)``. For a long list, ask for pages with
/// ``findTasks(_:)``.
///
/// Every method throws ``ManagerError``: its ``ManagerError/code`` is for programs, its
/// ``ManagerError/message`` for people, and ``ManagerError/isUnreachable`` says whether the service
/// could not be reached at all.
public struct ManagerClient: Sendable {
    /// The proxy of the manager's interface, with the timeout of its calls and whether they start
    /// the service.
    let manager: Proxy

    /// Creates a client on an existing connection, which its owner closes.
    ///
    /// - Parameters:
    ///   - connection: The connection to a session bus.
    ///   - patience: How long a call waits for its answer.
    ///   - startsService: Whether a call starts a service that does not run. If not, such a call
    ///     fails with an error that ``ManagerError/isUnreachable``.
    public init(
        _ connection: Connection,
        patience: Duration = Self.patience,
        startsService: Bool = true
    ) {
        manager = Proxy(
            connection,
            Contract.busName,
            Contract.managerPath,
            Contract.managerInterface,
            startsService: startsService,
            timeout: patience
        )
    }

    /// Connects to a bus; call ``close()`` when you are done.
    ///
    /// - Parameters:
    ///   - bus: The bus, normally the session's.
    ///   - patience: How long a call waits for its answer; the bus has at most 25 seconds to answer.
    ///   - startsService: Whether a call starts a service that does not run.
    /// - Returns: The client. The service is not started yet.
    /// - Throws: `NoServer` if the bus cannot be reached, `NoReply` if it does not answer; these
    ///   errors ``ManagerError/isUnreachable``.
    public static func connect(
        to bus: BusAddress = .session,
        patience: Duration = Self.patience,
        startsService: Bool = true
    ) async throws(ManagerError) -> ManagerClient {
        do throws(BusError) {
            return ManagerClient(
                try await Connection.open(bus, within: min(patience, .seconds(25))),
                patience: patience,
                startsService: startsService
            )
        } catch  where error.name == BusError.noReply("").name {
            throw ManagerError(
                .noReply,
                "The session bus accepts connections and does not answer. Log in again, or start a bus"
                    + " of your own: dbus-run-session -- bash"
            )
        } catch {
            throw ManagerError(.noServer, "There is no session bus here: \(error.message)")
        }
    }

    /// A client on the same connection whose calls do not start the service.
    ///
    /// If no service runs, its calls fail with an error that ``ManagerError/isUnreachable``.
    public var withoutStart: ManagerClient {
        ManagerClient(manager.connection, patience: manager.timeout, startsService: false)
    }

    /// Closes the connection; pending calls fail, and sequences of events end.
    public func close() async { await manager.connection.close() }

    /// Returns the comings (true) and goings (false) of the service, from the moment this method
    /// returns.
    ///
    /// - Returns: A sequence for one task to iterate over. It continues after a restart of the
    ///   service and ends with the connection.
    public func presence() async throws(ManagerError) -> SignalSequence<Bool> {
        try await asking { () throws(BusError) in try await ownerChanges() }
    }

    /// Calls a method of the manager's interface, or of another one of the same object.
    ///
    /// - Parameters:
    ///   - member: The method.
    ///   - arguments: The arguments.
    ///   - types: The types of its results.
    ///   - interface: The interface; nil means the manager's.
    ///   - patience: How long to wait for the answer; nil means as long as other calls.
    ///   - outlivesService: Whether to repeat the call with the next service if this one is ending.
    /// - Returns: The results.
    /// - Throws: The error reply, or the reason why there was no answer.
    func call<each Input: BusType, each Output: BusType>(
        _ member: MemberName,
        _ arguments: repeat each Input,
        returning types: repeat (each Output).Type,
        of interface: InterfaceName? = nil,
        patience: Duration? = nil,
        outlivesService: Bool = true
    ) async throws(ManagerError) -> (repeat each Output) {
        try await asking(outlivesService: outlivesService) { () throws(BusError) in
            try await manager.at(nil, interface).call(
                member,
                repeat each arguments,
                returning: repeat each types,
                timeout: patience
            )
        }
    }

    func get<Content: BusType>(_ property: MemberName) async throws(ManagerError) -> Content {
        try await asking { () throws(BusError) in try await manager.get(property) }
    }

    /// How long a call waits for its answer by default: 60 seconds.
    ///
    /// A commit on a busy disk takes time, and so does adding 100,000 URLs.
    public static let patience: Duration = .seconds(60)

    /// How long a call waits that may take hours: without limit.
    ///
    /// A ``DBus/Proxy`` sets no limit from 24 days on.
    package static let noLimit: Duration = .seconds(1 << 32)

    /// Returns whether the service is running; does not start it.
    public func isRunning() async throws(ManagerError) -> Bool {
        try await asking { () throws(BusError) in try await manager.owner } != nil
    }

    /// Returns the service's process id, for people; nil if the service does not run.
    ///
    /// This does not start the service.
    public func processID() async throws(ManagerError) -> UInt32? {
        try await asking { () throws(BusError) in
            try await manager.connection.processID(of: Contract.busName)
        }
    }

    /// Returns whether the bus can start the service.
    public func isActivatable() async throws(ManagerError) -> Bool {
        try await asking { () throws(BusError) in
            try await manager.connection.isActivatable(Contract.busName)
        }
    }
}
