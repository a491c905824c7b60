// SPDX-License-Identifier: Apache-2.0

/// A rule that selects signals: D-Bus specification, "Match Rules".
///
/// A part that is nil matches everything.
public struct MatchRule: Hashable, Sendable {
    /// The sender; a well-known name stands for its owner at the time of each signal.
    public var sender: BusName?
    /// The interface of the signal.
    public var interface: InterfaceName?
    /// The name of the signal.
    public var member: MemberName?
    /// The path of the sending object.
    public var path: ObjectPath?
    /// The path of the sending object or of one above it; not together with ``path``.
    public var pathNamespace: ObjectPath?
    /// Required values of string arguments by their position, 0 to 63.
    public var arguments: [Int: String]

    /// Creates a rule from any of its parts.
    public init(
        sender: BusName? = nil,
        interface: InterfaceName? = nil,
        member: MemberName? = nil,
        path: ObjectPath? = nil,
        pathNamespace: ObjectPath? = nil,
        arguments: [Int: String] = [:]
    ) {
        self.sender = sender
        self.interface = interface
        self.member = member
        self.path = path
        self.pathNamespace = pathNamespace
        self.arguments = arguments
    }

    /// Returns the rule as text for the bus.
    ///
    /// - Throws: `InvalidArgs` for a path together with a namespace, an argument's position beyond
    ///   63, or a value with U+0000.
    public func text() throws(BusError) -> String {
        guard path == nil || pathNamespace == nil else {
            throw .invalidArguments("A match rule may have a path or a path namespace, not both.")
        }
        var parts = ["type='signal'"]
        if let sender { parts.append("sender='\(sender)'") }
        if let interface { parts.append("interface='\(interface)'") }
        if let member { parts.append("member='\(member)'") }
        if let path { parts.append("path='\(path)'") }
        if let pathNamespace { parts.append("path_namespace='\(pathNamespace)'") }
        for (place, value) in arguments.sorted(by: { $0.key < $1.key }) {
            guard (0...63).contains(place) else {
                throw .invalidArguments("A match rule has no argument \(place).")
            }
            guard !value.utf8.contains(0) else {
                throw .invalidArguments("Argument \(place) of a match rule contains U+0000.")
            }
            // Within quotes only the quote itself is special: close the quotes, escape it, reopen
            // them.
            // By scalars: a combining mark would make another character of the quotation mark.
            let escaped = value.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined()
            parts.append("arg\(place)='\(escaped)'")
        }
        return parts.joined(separator: ",")
    }
}
