// SPDX-License-Identifier: Apache-2.0

internal import DBus

// Calls that are repeated if the service ends, and the conversion of their errors.
extension ManagerClient {
    /// Makes a call and turns its error reply into an error of the contract.
    ///
    /// If no service answered, the error's text says what the user can do.
    ///
    /// - Parameters:
    ///   - outlivesService: Whether to repeat the call with the next service if this one is ending.
    ///   - body: Makes the call; it may run more than once.
    /// - Returns: The answer.
    /// - Throws: The error reply, or the reason why there was no answer.
    func asking<Output>(
        outlivesService: Bool = true,
        _ body: () async throws(BusError) -> Output
    ) async throws(ManagerError) -> Output {
        var changes: SignalSequence<Bool>?
        var end = ContinuousClock.now
        while true {
            do throws(BusError) {
                return try await body()
            } catch {
                let error = ManagerError(received: error)
                guard outlivesService, error.code == .stopping else { throw error }
                // `Stopping` means that nothing was changed and that the next call starts the
                // service. But while the ending service still owns the name, calls go to it.
                if let changes {
                    guard await changes.brings(within: end - .now) else { throw error }
                } else {
                    changes = try? await ownerChanges()
                    guard changes != nil else { throw error }
                    // Ask again without waiting: the service may have left before the signals
                    // began.
                    end = .now + manager.timeout
                }
            }
        }
    }

    /// Returns a sequence with true each time the service appears and false each time it leaves.
    func ownerChanges() async throws(BusError) -> SignalSequence<Bool> {
        try await manager.connection.ownerChanges(of: Contract.busName).map { $0.newOwner != nil }
    }
}

extension AsyncSequence where Self: Sendable {
    /// Returns whether an element that is wanted, or the end, arrives within a time.
    package func brings(
        within time: Duration,
        where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true }
    ) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do {
                    for try await element in self where isWanted(element) { break }
                } catch {}
                return !Task.isCancelled
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
