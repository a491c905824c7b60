// SPDX-License-Identifier: Apache-2.0

extension Connection {
    /// Returns once a connection, known by its unique name, has left the bus.
    ///
    /// It also returns when this connection ends, or when the task is cancelled.
    ///
    /// - Throws: What ``signals(_:)`` throws.
    public func waitForDeparture(of name: BusName) async throws(BusError) {
        let departures = try await signals(
            MatchRule(
                sender: .bus,
                interface: "org.freedesktop.DBus",
                member: "NameOwnerChanged",
                arguments: [0: name.rawValue, 2: ""]
            )
        )
        // It may have left before the bus knew the rule.
        guard (try? await owner(of: name)) != nil else { return }
        var iterator = departures.makeAsyncIterator()
        _ = try await iterator.next()
    }
}
