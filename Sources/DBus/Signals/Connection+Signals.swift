// SPDX-License-Identifier: Apache-2.0

internal import CDBus

extension Connection {
    /// Receives the signals that match a rule, from now on.
    ///
    /// When this method returns, the bus knows the rule: no signal is missed between a state that
    /// is asked for afterwards and the sequence. ``Proxy/signals(_:)`` makes the rule for the
    /// signals of one object's interface.
    ///
    /// - Throws: `InvalidArgs` for an invalid rule; the bus's error reply; `Disconnected`.
    public func signals(_ rule: MatchRule) async throws(BusError) -> SignalSequence<SignalMessage> {
        try await subscribe(to: rule) { $0 }
    }

    /// Receives the signals that match a rule, and the changes of a name's owner.
    ///
    /// - Parameters:
    ///   - rule: The rule; nil for no signals.
    ///   - name: The name; the first element of the sequence is its owner, and each change of owner
    ///     adds another. Nil for no owners.
    ///   - read: Makes an element from a signal; signals that it maps to nil are left out.
    /// - Returns: The sequence.
    /// - Throws: The errors of ``signals(_:)``.
    func subscribe<Element>(
        to rule: MatchRule?,
        ownersOf name: BusName? = nil,
        read: @escaping @Sendable (SignalMessage) -> Element?
    ) async throws(BusError) -> SignalSequence<Element> {
        let id = makeID()
        let queue = SignalQueue { self.enqueue { $0.unsubscribe(id) } }
        let subscription = Subscription(rule: rule, reportedName: name, queue: queue)
        let rules = try subscription.rules()
        _ = try openLink()
        subscriptions[id] = subscription
        var added = 0
        do throws(BusError) {
            for text in rules {
                try await add(match: text)
                added += 1
                // The rule for the name's owner is the first one.
                if added == 1, let name = subscription.followedName {
                    try await follow(name, for: id)
                }
            }
        } catch {
            subscriptions[id] = nil
            for text in rules.prefix(added) { forget(match: text) }
            throw error
        }
        return SignalSequence(queue, read: read)
    }

    private func unsubscribe(_ id: Int) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        subscription.queue?.finish()
        for text in (try? subscription.rules()) ?? [] { forget(match: text) }
    }

    /// Passes a signal to every sequence whose rule matches.
    ///
    /// - Throws: `NoMemory`; no sequence has received the signal then.
    func deliver(_ message: OpaquePointer) throws(BusError) {
        guard !subscriptions.isEmpty, let signal = try SignalMessage(message, libdbus: libdbus)
        else { return }
        let change = NameOwnerChange(signal)
        for (id, subscription) in subscriptions {
            var isTold = false
            if let change, subscription.followedName == change.name {
                subscriptions[id]?.ownerChanged(to: change.newOwner)
                isTold = subscription.reportedName != nil
            }
            guard isTold || subscription.matches(signal) else { continue }
            if subscription.queue?.put(signal, taking: signal.body.count) != true {
                unsubscribe(id)
            }
        }
    }

    /// Asks for a name's owner; the bus already reports every change of it.
    private func follow(_ name: BusName, for id: Int) async throws(BusError) {
        let found = try await owner(of: name)
        // A change reported meanwhile is newer than this answer.
        guard let subscription = subscriptions[id], !subscription.isOwnerKnown else { return }
        subscriptions[id]?.ownerChanged(to: found)
        guard subscription.reportedName != nil else { return }
        _ = subscription.queue?.put(NameOwnerChange.message(name, newOwner: found))
    }

    /// Adds a rule to the bus; if the call gets no answer, the rule is removed again.
    private func add(match text: String) async throws(BusError) {
        do throws(BusError) {
            try await bus.call("AddMatch", text)
        } catch {
            if error.name == BusError.noReply("").name { forget(match: text) }
            throw error
        }
    }

    /// Removes a rule from the bus without waiting for the answer.
    private func forget(match text: String) {
        Task.immediate { try? await bus.call("RemoveMatch", text) }
    }
}
