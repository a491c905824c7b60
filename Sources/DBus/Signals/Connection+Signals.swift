// SPDX-License-Identifier: Apache-2.0

internal import CDBus

extension Connection {
    /// Receives the signals that match a rule, from now on.
    ///
    /// When this returns the bus knows the rule: between a state that is asked for afterwards and
    /// the signals of the sequence there is no gap. For the signals of one object's interface
    /// ``Proxy/signals(_:)`` makes the rule.
    ///
    /// - Throws: `InvalidArgs` for a rule that cannot be; what the bus answers; `Disconnected`.
    public func signals(
        _ rule: MatchRule
    ) async throws(BusError) -> SignalSequence<SignalMessage> {
        try await subscribe(to: rule) { $0 }
    }

    /// Receives the signals that match a rule, and the owners of a name.
    ///
    /// - Parameters:
    ///   - rule: The signals; nil for none.
    ///   - name: The first element tells its owner, and one more each time it gets another.
    ///   - read: Makes an element of a signal; nil leaves it out.
    /// - Returns: The sequence.
    /// - Throws: What ``signals(_:)`` throws.
    func subscribe<Element>(
        to rule: MatchRule?,
        ownersOf name: BusName? = nil,
        read: @escaping @Sendable (SignalMessage) -> Element?
    ) async throws(BusError) -> SignalSequence<Element> {
        let subscription = Subscription(rule: rule, told: name)
        let rules = try subscription.rules()
        _ = try openLink()
        let id = makeID()
        subscriptions[id] = subscription
        var added = 0
        do throws(BusError) {
            for text in rules {
                try await add(match: text)
                added += 1
                // The rule for owners is the first one.
                if added == 1, let name = subscription.followedName {
                    try await follow(name, for: id)
                }
            }
        } catch {
            subscriptions[id] = nil
            for text in rules.prefix(added) { forget(match: text) }
            throw error
        }
        let subscriber = SignalSubscriber(queue: subscription.queue) {
            self.enqueue { $0.unsubscribe(id) }
        }
        return SignalSequence(subscriber, read: read)
    }

    private func unsubscribe(_ id: Int) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        subscription.queue.finish()
        for text in (try? subscription.rules()) ?? [] { forget(match: text) }
    }

    /// Hands a signal to every sequence that it is for.
    ///
    /// - Throws: `NoMemory`; nobody has been given the signal then.
    func deliver(_ message: OpaquePointer) throws(BusError) {
        guard !subscriptions.isEmpty, let header = SignalHeader(message) else { return }
        let isOfOwner = header.member == "NameOwnerChanged" && header.sender == .bus
        guard isOfOwner || subscriptions.values.contains(where: { $0.matches(header) }) else {
            return
        }
        let reader = try WireReader(bodyOf: message, border: border)
        let (arguments, memory): ([Value], Int)
        do throws(DecodingFailure) {
            (arguments, memory) = try reader.measuredValues()
        } catch {
            // Arguments that cannot be decoded are none that a rule of ours asked for.
            guard error == .tooLarge else { return }
            for (id, subscription) in subscriptions where subscription.matches(header) {
                subscription.queue.overflow()
                unsubscribe(id)
            }
            return
        }
        let signal = SignalMessage(header, arguments)
        let change = isOfOwner ? NameOwnerChange(signal) : nil
        for (id, subscription) in subscriptions {
            var isTold = false
            if let change, subscription.followedName == change.name {
                subscriptions[id]?.ownerChanged(to: change.newOwner)
                isTold = subscription.told != nil
            }
            guard isTold || (subscription.matches(header) && subscription.matches(arguments))
            else { continue }
            if !subscription.queue.put(signal, taking: memory) { unsubscribe(id) }
        }
    }

    /// Learns a name's owner, every change of which is told by now.
    private func follow(_ name: BusName, for id: Int) async throws(BusError) {
        let found = try await owner(of: name)
        // An announcement that came meanwhile is newer than this answer.
        guard let subscription = subscriptions[id], !subscription.isOwnerKnown else { return }
        subscriptions[id]?.ownerChanged(to: found)
        guard subscription.told != nil else { return }
        _ = subscription.queue.put(NameOwnerChange.message(name, newOwner: found))
    }

    /// Has the bus know a rule; where nobody has waited for its answer the rule is taken back.
    private func add(match text: String) async throws(BusError) {
        do throws(BusError) {
            try await bus.call("AddMatch", text)
        } catch {
            if error.name == BusError.noReply("").name { forget(match: text) }
            throw error
        }
    }

    /// Takes a rule back; nobody waits for the answer.
    private func forget(match text: String) {
        Task.immediate { try? await bus.call("RemoveMatch", text) }
    }
}
