// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// What one sequence was promised: signals that match a rule, or the owners of a name, or both.
///
/// The bus sends each message once, however many rules match, so every message is compared with
/// every rule again.
struct Subscription {
    /// Nil where only the owner is of interest.
    let rule: MatchRule?
    /// The name whose owner the sequence tells: at the start, and each time it changes.
    let told: BusName?
    let queue = SignalQueue()
    /// Who owns the rule's well-known sender: messages only tell unique names.
    private(set) var senderOwner: BusName?
    private(set) var isOwnerKnown = false

    init(rule: MatchRule?, told: BusName?) {
        self.rule = rule
        self.told = told
    }

    /// The name whose owner has to be known; the bus itself sends under its own name.
    var followedName: BusName? {
        if let told { return told }
        guard let sender = rule?.sender, !sender.isUnique, sender != .bus else { return nil }
        return sender
    }

    /// The rules that the bus has to know.
    func rules() throws(BusError) -> [String] {
        var texts: [String] = []
        if let followedName { texts.append(try MatchRule.ownerChanges(of: followedName).text()) }
        if let rule { texts.append(try rule.text()) }
        return texts
    }

    /// Takes the owner that the bus announced.
    mutating func ownerChanged(to owner: BusName?) {
        senderOwner = owner
        isOwnerKnown = true
    }

    /// Whether a signal's header matches; arguments are compared with the rule later.
    func matches(_ header: SignalHeader) -> Bool {
        guard let rule else { return false }
        if let sender = followedName == nil ? rule.sender : senderOwner {
            guard header.sender == sender else { return false }
        } else if followedName != nil {
            return false
        }
        if let interface = rule.interface, interface != header.interface { return false }
        if let member = rule.member, member != header.member { return false }
        if let path = rule.path, path != header.path { return false }
        if let namespace = rule.pathNamespace, !header.path.hasPrefix(namespace) { return false }
        return true
    }

    /// Whether a signal's arguments match.
    func matches(_ arguments: [Value]) -> Bool {
        guard let rule else { return false }
        return rule.arguments.allSatisfy { place, value in
            arguments.indices.contains(place) && arguments[place] == .string(value)
        }
    }
}

/// Where a signal comes from and what it is.
struct SignalHeader {
    let sender: BusName?
    let path: ObjectPath
    let interface: InterfaceName
    let member: MemberName

    /// Nil if a field is missing, which libdbus lets through for no signal.
    init?(_ message: OpaquePointer) {
        guard let path = dbus_message_get_path(message),
            let interface = dbus_message_get_interface(message),
            let member = dbus_message_get_member(message)
        else { return nil }
        sender = dbus_message_get_sender(message).map { BusName(checked: String(cString: $0)) }
        self.path = ObjectPath(checked: String(cString: path))
        self.interface = InterfaceName(checked: String(cString: interface))
        self.member = MemberName(checked: String(cString: member))
    }
}
