// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownState

// The contract's "Callers from a sandbox".
extension ManagerService {
    /// Lets only the user's own programs go on.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - right: What others may do; it completes "A sandboxed application may only".
    /// - Throws: `AccessDenied`.
    func permit(
        _ call: Call,
        butOthersMay right: String = "add downloads and control those that it added"
    ) async throws(ManagerError) {
        guard await callers.caller(of: call).isRestricted else { return }
        throw ManagerError(.accessDenied, "A sandboxed application may only \(right).")
    }

    /// Lets the user's own programs go on, and an application from a sandbox if it added the tasks.
    ///
    /// - Throws: `NoSuchTask`; `AccessDenied`.
    func permit(_ call: Call, on ids: [TaskID]) async throws {
        guard let owner = await callers.caller(of: call).owner else { return }
        for id in ids {
            guard try await coordinator.task(id).record.request.owner != owner else { continue }
            throw ManagerError(
                .accessDenied,
                "A sandboxed application may only control downloads that it added."
            )
        }
    }

    /// The task that a call names, where the caller may control it.
    ///
    /// - Throws: What ``permit(_:on:)`` throws.
    func permitted(_ call: Call, _ id: String) async throws -> TaskID {
        let id = try taskID(id)
        try await permit(call, on: [id])
        return id
    }

    /// Into how many parts the limits of waiting calls are divided for a client (contract, "Callers
    /// from a sandbox").
    ///
    /// - Parameter client: Its unique name; one that is not known yet counts as the user's own.
    /// - Returns: The number; 1 leaves it all of them.
    nonisolated func partsOfLimits(for client: BusName) -> Int {
        assumeIsolated { service in
            service.callers.assumeIsolated { $0.isKnownAsRestricted(client) ? 10 : 1 }
        }
    }

    /// How a caller sees tasks.
    func view(for call: Call) async -> @Sendable (TaskSnapshot) -> TaskProperties {
        guard await callers.caller(of: call).isRestricted else { return { TaskProperties($0) } }
        return { TaskProperties($0).withoutQueries }
    }
}
