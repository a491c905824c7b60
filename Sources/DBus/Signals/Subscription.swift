// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// One rule that the bus was given, and the queue for what matches it.
///
/// The bus sends each message once, however many rules match, so every message is held against
/// every rule again.
struct Subscription {
    let rule: MatchRule
    let queue: SignalQueue
    /// Who owns the rule's well-known sender: messages only tell unique names.
    private(set) var senderOwner: BusName?
    private(set) var isOwnerKnown = false

    init(rule: MatchRule, queue: SignalQueue) {
        self.rule = rule
        self.queue = queue
    }

    /// The well-known name whose owner has to be followed; the bus itself sends under its own name.
    var followedName: BusName? {
        guard let sender = rule.sender, !sender.isUnique, sender != .bus else { return nil }
        return sender
    }

    /// Takes the owner that the bus announced.
    mutating func ownerChanged(to owner: BusName?) {
        senderOwner = owner
        isOwnerKnown = true
    }

    /// Whether a signal's header matches; arguments are held against the rule later.
    func matches(_ header: SignalHeader) -> Bool {
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
        rule.arguments.allSatisfy { place, value in
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
