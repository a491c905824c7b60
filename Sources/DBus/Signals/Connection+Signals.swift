// SPDX-License-Identifier: Apache-2.0

internal import CDBus

extension Connection {
    /// Receives the signals that match a rule, from now on.
    ///
    /// When this returns the bus knows the rule: between a state that is asked for afterwards and
    /// the signals of the sequence there is no gap.
    ///
    /// - Throws: `InvalidArgs` for a rule that cannot be; what the bus answers; `Disconnected`.
    public func signals(_ rule: MatchRule) async throws(BusError) -> SignalSequence {
        let text = try rule.text()
        _ = try openLink()
        let id = makeID()
        let subscription = Subscription(rule: rule, queue: SignalQueue())
        subscriptions[id] = subscription
        do throws(BusError) {
            if let name = subscription.followedName {
                try await add(match: Self.ownerRule(name))
                await follow(name, for: id)
            }
            do throws(BusError) {
                try await add(match: text)
            } catch {
                if let name = subscription.followedName { forget(match: Self.ownerRule(name)) }
                throw error
            }
        } catch {
            subscriptions[id] = nil
            throw error
        }
        let subscriber = SignalSubscriber(queue: subscription.queue) {
            self.enqueue { $0.unsubscribe(id) }
        }
        return SignalSequence(subscriber)
    }

    private func unsubscribe(_ id: Int) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        subscription.queue.finish()
        if let text = try? subscription.rule.text() { forget(match: text) }
        if let name = subscription.followedName { forget(match: Self.ownerRule(name)) }
    }

    /// Hands a signal to every rule that it matches.
    func deliver(_ message: OpaquePointer) {
        guard !subscriptions.isEmpty, let header = SignalHeader(message) else { return }
        if header.member == "NameOwnerChanged", header.sender == .bus { ownerChanged(message) }
        var decoded: [Value]?
        for (id, subscription) in subscriptions where subscription.matches(header) {
            // What cannot be decoded is nothing that a rule of ours asked for.
            guard let arguments = decoded ?? (try? Decoder.arguments(of: message)) else { return }
            decoded = arguments
            guard subscription.matches(arguments) else { continue }
            let signal = Signal(
                sender: header.sender,
                path: header.path,
                interface: header.interface,
                member: header.member,
                arguments: arguments
            )
            if !subscription.queue.put(signal) { unsubscribe(id) }
        }
    }
}

// Who owns a well-known name that a rule names as sender.
extension Connection {
    private static func ownerRule(_ name: BusName) -> String {
        "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            + "member='NameOwnerChanged',arg0='\(name)'"
    }

    /// Learns a name's owner, every change of which is told by now.
    private func follow(_ name: BusName, for id: Int) async {
        let found = try? await owner(of: name)
        // An announcement that came meanwhile is newer than this answer.
        guard subscriptions[id]?.isOwnerKnown == false else { return }
        subscriptions[id]?.ownerChanged(to: found)
    }

    private func ownerChanged(_ message: OpaquePointer) {
        guard let arguments = try? Decoder.arguments(of: message), arguments.count == 3,
            case .string(let name) = arguments[0], case .string(let owner) = arguments[2]
        else { return }
        for (id, subscription) in subscriptions
        where subscription.followedName?.rawValue == name {
            subscriptions[id]?.ownerChanged(to: try? BusName(validating: owner))
        }
    }

    /// Has the bus know a rule; where nobody has waited for its answer the rule is taken back.
    private func add(match text: String) async throws(BusError) {
        do throws(BusError) {
            _ = try await callBus("AddMatch", [.string(text)])
        } catch {
            if error.name == BusError.noReply("").name { forget(match: text) }
            throw error
        }
    }

    /// Takes a rule back without waiting for the answer.
    private func forget(match text: String) {
        guard let link,
            let message = try? Message(
                call: .bus,
                "/org/freedesktop/DBus",
                "org.freedesktop.DBus",
                "RemoveMatch",
                border: border
            )
        else { return }
        dbus_message_set_no_reply(message.pointer, 1)
        try? message.append([.string(text)])
        try? link.send(message)
    }
}
