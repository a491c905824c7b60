// SPDX-License-Identifier: Apache-2.0

internal import DBus

// Calls, and what becomes of their errors.
extension ManagerClient {
    /// Turns an error reply into the contract's error; one that says that nobody answered gets a
    /// text that tells what to do.
    ///
    /// - Parameters:
    ///   - outlivesService: Whether a call that meets the service's end is made again to the next.
    ///   - body: Makes the call; more than once, perhaps.
    /// - Returns: What the call answered.
    /// - Throws: The error reply; what says that nobody answered.
    func asking<Output>(
        outlivesService: Bool = true,
        _ body: () async throws(BusError) -> Output
    ) async throws(ManagerError) -> Output {
        do throws(ManagerError) {
            return try await askingOnce(body)
        } catch {
            guard outlivesService, error.code == .stopping,
                let changes = try? await presenceSignals()
            else { throw error }
            return try await askingNext(changes, body)
        }
    }

    private func askingOnce<Output>(
        _ body: () async throws(BusError) -> Output
    ) async throws(ManagerError) -> Output {
        do throws(BusError) {
            return try await body()
        } catch {
            throw ManagerError(received: error)
        }
    }

    /// Asks until a service answers that does not end.
    ///
    /// Who is told `Stopping` knows that nothing was changed, and that the next call starts the
    /// service; but as long as the old one has the name, a call goes to that one.
    private func askingNext<Output>(
        _ changes: SignalSequence,
        _ body: () async throws(BusError) -> Output
    ) async throws(ManagerError) -> Output {
        let end = ContinuousClock.now + patience
        while true {
            do throws(ManagerError) {
                // The first time without a wait: it may have left before the bus told of it.
                return try await askingOnce(body)
            } catch {
                guard error.code == .stopping,
                    await Self.isNext(in: changes, within: end - ContinuousClock.now)
                else { throw error }
            }
        }
    }

    /// Comings and goings of the service's name.
    func presenceSignals() async throws(BusError) -> SignalSequence {
        try await manager.connection.signals(
            MatchRule(
                sender: .bus,
                interface: "org.freedesktop.DBus",
                member: "NameOwnerChanged",
                arguments: [0: Contract.busName.rawValue]
            )
        )
    }

    /// Whether one more signal comes within some time.
    private static func isNext(in signals: SignalSequence, within time: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                var iterator = signals.makeAsyncIterator()
                let signal = try? await iterator.next()
                return signal != nil
            }
            group.addTask {
                try? await Task.sleep(for: time)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
