// SPDX-License-Identifier: Apache-2.0

/// An interface as a table of members, from which dispatch and introspection follow.
///
/// ```swift
/// let calculator = Interface(
///     "org.example.Calculator1",
///     [
///         .method("Add", in: ["a", "b"], out: ["sum"]) { (_, a: Int64, b: Int64) in a &+ b },
///         .property("Version", .constant, get: { _ in "1" }),
///         .signal(overflowed),
///     ]
/// )
/// ```
public struct Interface: Sendable {
    /// The interface's name.
    public let name: InterfaceName
    /// Its members, in the order in which introspection lists them.
    public let members: [Member]

    let methods: [String: Method]
    let properties: [String: Property]
    /// Writes all properties at once, as the results of GetAll; nil reads them one by one.
    let snapshot: (@Sendable (Call) async throws -> WireWriter)?
    private let errors: Wording?

    /// Returns the error reply for an error that a handler of the interface has thrown.
    public typealias Wording = @Sendable (any Error, Call) -> BusError

    /// Creates an interface from its members; traps if two of one kind have the same name.
    ///
    /// - Parameters:
    ///   - name: The interface's name.
    ///   - members: The members, in the order in which introspection lists them.
    ///   - errors: Converts the errors that handlers throw into error replies. Without it, a
    ///     ``BusError`` is sent as it is, and any other error as
    ///     `org.freedesktop.DBus.Error.Failed`.
    ///   - snapshot: Writes all properties as one `a{sv}` for GetAll. Use it if that costs less
    ///     than reading the properties one by one, or if their values must be consistent.
    public init(
        _ name: InterfaceName,
        _ members: [Member],
        errors: Wording? = nil,
        snapshot: (@Sendable (Call) async throws -> WireWriter)? = nil
    ) {
        self.name = name
        self.members = members
        self.errors = errors
        self.snapshot = snapshot
        var methods: [String: Method] = [:]
        var properties: [String: Property] = [:]
        for member in members {
            switch member.content {
            case .method(let method):
                let old = methods.updateValue(method, forKey: member.name.rawValue)
                precondition(old == nil, "\(name).\(member.name) is there twice")
            case .property(let property):
                let old = properties.updateValue(property, forKey: member.name.rawValue)
                precondition(old == nil, "\(name).\(member.name) is there twice")
            case .signal(let interface, _):
                precondition(interface == name, "\(member.name) is a signal of \(interface)")
            }
        }
        self.methods = methods
        self.properties = properties
    }

    /// Returns the error reply for an error that a handler of the interface has thrown.
    func reply(to call: Call, thrown error: any Error) -> BusError {
        errors?(error, call) ?? BusError(thrown: error)
    }

    /// Checks the names, which may be malformed literals, or more or fewer than the arguments.
    ///
    /// - Throws: `InvalidArgs`.
    func check() throws(BusError) {
        try name.check()
        for member in members {
            try member.name.check()
            guard member.arguments.allSatisfy({ $0.isNamed && $0.type != .empty }) else {
                throw .invalidArguments(
                    "\(name).\(member.name) must have one name for each argument and each result,"
                        + " of letters, digits, underscores and dashes."
                )
            }
        }
    }
}

/// A method, a property or a signal of an ``Interface``.
public struct Member: Sendable {
    enum Content: Sendable {
        case method(Method)
        case property(Property)
        case signal(InterfaceName, [Argument])
    }

    /// The member's name.
    public let name: MemberName
    let content: Content

    /// The arguments and results; empty for a property.
    var arguments: [Argument] {
        switch content {
        case .method(let method): method.inputs + method.outputs
        case .property: []
        case .signal(_, let arguments): arguments
        }
    }

    /// Lists a signal for introspection; ``Connection/emit(_:at:_:)`` sends it.
    public static func signal<each Content: BusType>(
        _ signal: Signal<repeat each Content>
    ) -> Member {
        Member(name: signal.member, content: .signal(signal.interface, signal.arguments))
    }
}

/// An argument with its name, as introspection shows it.
struct Argument: Hashable, Sendable {
    let name: String
    let type: Signature

    /// Whether introspection can show the name as it is.
    var isNamed: Bool {
        MemberNames.isValid(String(name.map { $0 == "-" ? "_" : $0 }))
    }

    /// Pairs names with types; where one of them is missing, it is empty, and
    /// ``Interface/check()`` refuses the argument.
    static func list<each T: BusType>(_ names: [String], _ types: repeat (each T).Type) -> [Self] {
        var signatures: [Signature] = []
        for type in repeat each types { signatures.append(type.signature) }
        return (0..<max(names.count, signatures.count)).map { place in
            Argument(
                name: place < names.count ? names[place] : "",
                type: place < signatures.count ? signatures[place] : .empty
            )
        }
    }
}
