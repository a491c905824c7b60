// SPDX-License-Identifier: Apache-2.0

/// What one sequence receives: the signals that match a rule, the owners of a name, or both.
///
/// The bus sends each message once, however many rules match, so every message is compared with
/// every rule here.
struct Subscription {
    /// The rule for signals; nil if the sequence only receives owners.
    let rule: MatchRule?
    /// The name whose owners the sequence receives; nil if it receives none.
    let reportedName: BusName?
    /// Where the signals go; nil once the last copy of the sequence is gone.
    weak var queue: SignalQueue?
    /// The owner of ``followedName``; needed because messages only contain the sender's unique
    /// name.
    private(set) var senderOwner: BusName?
    private(set) var isOwnerKnown = false

    /// The name whose owner must be known; nil for a unique name, and for the bus, which sends
    /// under its own name.
    var followedName: BusName? {
        if let reportedName { return reportedName }
        guard let sender = rule?.sender, !sender.isUnique, sender != .bus else { return nil }
        return sender
    }

    /// Returns the texts of the rules to add to the bus; the rule for owners comes first.
    func rules() throws(BusError) -> [String] {
        var texts: [String] = []
        if let followedName { texts.append(try MatchRule.ownerChanges(of: followedName).text()) }
        if let rule { texts.append(try rule.text()) }
        return texts
    }

    /// Stores the owner that the bus reported.
    mutating func ownerChanged(to owner: BusName?) {
        senderOwner = owner
        isOwnerKnown = true
    }

    /// Whether a signal matches the rule.
    func matches(_ signal: SignalMessage) -> Bool {
        guard let rule else { return false }
        if let sender = followedName == nil ? rule.sender : senderOwner {
            guard signal.sender == sender else { return false }
        } else if followedName != nil {
            return false
        }
        if let interface = rule.interface, interface != signal.interface { return false }
        if let member = rule.member, member != signal.member { return false }
        if let path = rule.path, path != signal.path { return false }
        if let namespace = rule.pathNamespace, !signal.path.hasPrefix(namespace) { return false }
        guard !rule.arguments.isEmpty else { return true }
        let arguments = signal.arguments
        return rule.arguments.allSatisfy { place, value in
            arguments.indices.contains(place) && arguments[place] == .string(value)
        }
    }
}
