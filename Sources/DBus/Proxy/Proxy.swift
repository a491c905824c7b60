// SPDX-License-Identifier: Apache-2.0

/// One interface of one object of another connection.
public struct Proxy: Sendable {
    /// The connection that calls go over.
    public let connection: Connection
    /// Who owns the object, by its unique or well-known name.
    public let destination: BusName
    /// The object.
    public let path: ObjectPath
    /// The interface.
    public let interface: InterfaceName
    /// Whether the bus may start a service for a name that has no owner yet.
    public let startsService: Bool

    /// Names an interface; nothing is sent to the bus.
    public init(
        _ connection: Connection,
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        startsService: Bool = true
    ) {
        self.connection = connection
        self.destination = destination
        self.path = path
        self.interface = interface
        self.startsService = startsService
    }

    /// Calls a method.
    ///
    /// ```swift
    /// let sum = try await calculator.call("Add", Int64(1), Int64(2), returning: Int64.self)
    /// ```
    ///
    /// - Throws: The error reply; `InconsistentMessage` if the reply is not of the types asked for;
    ///   and what ``Connection/call(_:_:_:_:_:timeout:startService:)`` throws.
    public func call<each Input: BusType, each Output: BusType>(
        _ member: MemberName,
        _ arguments: repeat each Input,
        returning types: repeat (each Output).Type,
        timeout: Duration = .seconds(25)
    ) async throws(BusError) -> (repeat each Output) {
        var values: [Value] = []
        repeat values.append((each arguments).busValue)
        let results = try await connection.call(
            destination,
            path,
            interface,
            member,
            values,
            timeout: timeout,
            startService: startsService
        )
        var reader = ReplyReader(member: member, values: results)
        return (repeat try reader.next(each types))
    }

    /// Calls a method whose results are taken apart one by one, where they are a long list.
    ///
    /// - Parameters:
    ///   - member: The method.
    ///   - arguments: What it is given.
    ///   - signature: The types of its results.
    ///   - timeout: How long to wait.
    ///   - body: Takes the results, away from the connection's thread.
    /// - Returns: What the body made of them.
    /// - Throws: The error reply; `InconsistentMessage` if the reply is not of these types.
    package func read<Output>(
        _ member: MemberName,
        _ arguments: [Value],
        as signature: Signature,
        timeout: Duration,
        _ body: (inout WireReader) throws(DecodingFailure) -> Output
    ) async throws(BusError) -> Output {
        var reader = try await connection.read(
            signature,
            from: destination,
            path,
            interface,
            member,
            arguments,
            timeout: timeout,
            startService: startsService
        )
        do throws(DecodingFailure) {
            return try body(&reader)
        } catch {
            throw .inconsistentMessage("The answer to \(member) cannot be read: \(error).")
        }
    }

    /// The value of a property.
    public func get<Content: BusType>(
        _ property: MemberName,
        as type: Content.Type = Content.self,
        timeout: Duration = .seconds(25)
    ) async throws(BusError) -> Content {
        let names = [Value.string(interface.rawValue), .string(property.rawValue)]
        let results = try await properties("Get", names, timeout)
        var reader = ReplyReader(member: property, values: results)
        return try reader.decode(try reader.next(Value.self))
    }

    /// All properties of the interface.
    public func getAll(
        timeout: Duration = .seconds(25)
    ) async throws(BusError) -> [String: Value] {
        let results = try await properties("GetAll", [.string(interface.rawValue)], timeout)
        var reader = ReplyReader(member: "GetAll", values: results)
        return try reader.next([String: Value].self)
    }

    /// Sets a property.
    public func set(
        _ property: MemberName,
        to content: some BusType,
        timeout: Duration = .seconds(25)
    ) async throws(BusError) {
        _ = try await properties(
            "Set",
            [
                .string(interface.rawValue), .string(property.rawValue),
                .variant(content.busValue),
            ],
            timeout
        )
    }

    /// The signals of one name of this interface; of all names if none is given.
    public func signals(_ member: MemberName? = nil) async throws(BusError) -> SignalSequence {
        try await connection.signals(
            MatchRule(sender: destination, interface: interface, member: member, path: path)
        )
    }

    private func properties(
        _ member: MemberName,
        _ arguments: [Value],
        _ timeout: Duration
    ) async throws(BusError) -> [Value] {
        try await connection.call(
            destination,
            path,
            "org.freedesktop.DBus.Properties",
            member,
            arguments,
            timeout: timeout,
            startService: startsService
        )
    }
}

/// Hands out the values of a reply one by one, as Swift types.
private struct ReplyReader {
    let member: MemberName
    let values: [Value]
    private var position = 0

    init(member: MemberName, values: [Value]) {
        self.member = member
        self.values = values
    }

    mutating func next<Content: BusType>(_ type: Content.Type) throws(BusError) -> Content {
        guard position < values.count else {
            throw .inconsistentMessage("The answer to \(member) has only \(values.count) values.")
        }
        defer { position += 1 }
        return try decode(values[position])
    }

    func decode<Content: BusType>(_ value: Value) throws(BusError) -> Content {
        do throws(DecodingFailure) {
            return try Content(busValue: value)
        } catch {
            throw .inconsistentMessage("The answer to \(member) cannot be read: \(error).")
        }
    }
}
