// SPDX-License-Identifier: Apache-2.0

/// An interface of an object on another connection: calls, properties and signals.
///
/// A proxy is a value: creating one sends nothing to the bus, and keeping one costs nothing.
///
/// ```swift
/// let calculator = Proxy(
///     connection, "org.example.Calculator", "/org/example/Calculator", "org.example.Calculator1")
/// let sum = try await calculator.call("Add", Int64(1), Int64(2), returning: Int64.self)
/// ```
public struct Proxy: Sendable {
    /// The connection that calls go over.
    public let connection: Connection
    /// The connection that owns the object, by its unique or well-known name.
    public let destination: BusName
    /// The object.
    public private(set) var path: ObjectPath
    /// The interface.
    public private(set) var interface: InterfaceName
    /// Whether a call lets the bus start a service for a name that has no owner, unless the call
    /// says otherwise.
    public let startsService: Bool
    /// How long a call waits for its reply, unless the call says otherwise; 24 days or more mean no
    /// limit.
    public let timeout: Duration

    /// Creates a proxy; sends nothing to the bus.
    ///
    /// - Parameters:
    ///   - connection: The connection that calls go over.
    ///   - destination: The name of the connection that owns the object.
    ///   - path: The object.
    ///   - interface: The interface.
    ///   - startsService: Whether the bus may start a service for a name that has no owner.
    ///   - timeout: How long a call waits for its reply.
    public init(
        _ connection: Connection,
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        startsService: Bool = true,
        timeout: Duration = .seconds(25)
    ) {
        self.connection = connection
        self.destination = destination
        self.path = path
        self.interface = interface
        self.startsService = startsService
        self.timeout = timeout
    }

    /// Returns another object or interface of the same owner, called in the same way.
    public func at(_ path: ObjectPath? = nil, _ interface: InterfaceName? = nil) -> Proxy {
        var proxy = self
        proxy.path = path ?? self.path
        proxy.interface = interface ?? self.interface
        return proxy
    }

    // MARK: Calls

    /// Calls a method.
    ///
    /// Cancelling the task abandons the call; the callee is not told.
    ///
    /// ```swift
    /// let sum = try await calculator.call("Add", Int64(1), Int64(2), returning: Int64.self)
    /// ```
    ///
    /// - Parameters:
    ///   - member: The method.
    ///   - arguments: The arguments.
    ///   - types: The types of its results; none for a method without results.
    ///   - timeout: How long to wait for the reply; nil means ``timeout``.
    ///   - startsService: Whether the bus may start the service; nil means ``startsService``.
    /// - Returns: The results.
    /// - Throws: The error reply; `InconsistentMessage` if the reply has other types; `NoReply` if
    ///   no reply came in time or the task was cancelled; `Disconnected`, `NoMemory`; `InvalidArgs`
    ///   or `LimitsExceeded` for arguments that cannot be sent.
    public func call<each Input: BusType, each Output: BusType>(
        _ member: MemberName,
        _ arguments: repeat each Input,
        returning types: repeat (each Output).Type,
        timeout: Duration? = nil,
        startsService: Bool? = nil
    ) async throws(BusError) -> (repeat each Output) {
        try await connection.call(
            self,
            member,
            WireWriter(repeat each arguments),
            timeout: timeout,
            startsService: startsService
        ).results(of: member, as: repeat each types)
    }

    /// Calls a method whose types are known only when the program runs.
    ///
    /// - Returns: The results, whatever their types.
    /// - Throws: The errors of ``call(_:_:returning:timeout:startsService:)``; but a reply of any
    ///   type is accepted.
    @discardableResult
    public func call(
        _ member: MemberName,
        values: [Value],
        timeout: Duration? = nil,
        startsService: Bool? = nil
    ) async throws(BusError) -> [Value] {
        let reply = try await connection.call(
            self,
            member,
            WireWriter(contents: values),
            timeout: timeout,
            startsService: startsService
        )
        do throws(DecodingFailure) {
            return try reply.values()
        } catch {
            throw .inconsistentMessage("The answer to \(member) cannot be read: \(error).")
        }
    }

    /// The unique name of the connection that owns the destination; nil if there is none.
    public var owner: BusName? {
        get async throws(BusError) { try await connection.owner(of: destination) }
    }

    // MARK: Properties

    /// Asks for the value of a property; as a ``Value`` it may have any type.
    ///
    /// ``properties()`` returns a cache, which asks less often.
    public func get<Content: BusType>(
        _ property: MemberName,
        as type: Content.Type = Content.self
    ) async throws(BusError) -> Content {
        try await connection.call(
            at(nil, Interface.propertiesName),
            "Get",
            WireWriter(interface.rawValue, property.rawValue)
        ).results(of: property, as: Variant<Content>.self).content
    }

    /// Asks for all properties of the interface.
    public func getAll() async throws(BusError) -> [String: Value] {
        try await at(nil, Interface.propertiesName).call(
            "GetAll",
            interface.rawValue,
            returning: [String: Value].self
        )
    }

    /// Sets a property; a ``Value`` is sent with its own type.
    public func set(_ property: MemberName, to content: some BusType) async throws(BusError) {
        try await at(nil, Interface.propertiesName).call(
            "Set",
            interface.rawValue,
            property.rawValue,
            Variant(content)
        )
    }

    /// Returns a cache of the interface's properties, kept current by the bus's signals.
    ///
    /// - Returns: The cache; it is empty until the first read.
    /// - Throws: The errors of ``Connection/signals(_:)``.
    public func properties() async throws(BusError) -> PropertyCache {
        let changes = try await at(nil, Interface.propertiesName).events("PropertiesChanged")
        return PropertyCache(self, following: changes)
    }

    // MARK: Signals

    /// Receives a signal of the object, from now on.
    ///
    /// ```swift
    /// for try await (sum, reason) in try await calculator.signals(overflowed) { … }
    /// ```
    ///
    /// - Parameter signal: The signal; the proxy's own ``interface`` does not matter.
    /// - Returns: The contents of the signals; signals with other types are left out. If the owner
    ///   of ``destination`` leaves, the sequence continues with the next owner.
    /// - Throws: The errors of ``Connection/signals(_:)``.
    public func signals<each Content: BusType>(
        _ signal: Signal<repeat each Content>
    ) async throws(BusError) -> SignalSequence<(repeat each Content)> {
        try await connection.subscribe(to: at(nil, signal.interface).rule(signal.member)) {
            signal.contents(of: $0)
        }
    }

    /// An event on the other side of a proxy.
    public enum Event: Sendable {
        /// The connection that owns the destination now; nil if there is none.
        case owner(BusName?)
        /// The owner sent a signal of the interface.
        case signal(SignalMessage)
    }

    /// Receives the owner of the destination, then its changes and the interface's signals, in
    /// order.
    ///
    /// - Parameters:
    ///   - member: The signal; nil for all of the interface.
    ///   - ofAllObjects: Whether to receive the same interface's signals from the owner's other
    ///     objects, too.
    /// - Returns: The events; the first one is ``Event/owner(_:)``.
    /// - Throws: The errors of ``Connection/signals(_:)``.
    public func events(
        _ member: MemberName? = nil,
        ofAllObjects: Bool = false
    ) async throws(BusError) -> SignalSequence<Event> {
        let rule = rule(member, ofAllObjects: ofAllObjects)
        return try await connection.subscribe(to: rule, ownersOf: destination) { [destination] in
            guard let change = NameOwnerChange($0), change.name == destination else {
                return .signal($0)
            }
            return .owner(change.newOwner)
        }
    }

    /// Receives the owner of the destination, then each new owner.
    ///
    /// - Returns: The unique names of the owners; nil while there is none.
    /// - Throws: The errors of ``Connection/signals(_:)``.
    public func owners() async throws(BusError) -> SignalSequence<BusName?> {
        try await connection.subscribe(to: nil, ownersOf: destination) {
            NameOwnerChange($0).map(\.newOwner)
        }
    }

    /// Returns once the destination has no owner, for example because a client has left the bus.
    ///
    /// It also returns when the connection ends, or when the task is cancelled.
    ///
    /// - Throws: The errors of ``Connection/signals(_:)``.
    public func waitUntilGone() async throws(BusError) {
        for try await owner in try await owners() where owner == nil { return }
    }

    private func rule(_ member: MemberName?, ofAllObjects: Bool = false) -> MatchRule {
        MatchRule(
            sender: destination,
            interface: interface,
            member: member,
            path: ofAllObjects ? nil : path
        )
    }
}
