// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownState

// The contract's "Callers from a sandbox".
extension ManagerService {
    /// Refuses callers other than the user's own programs.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - right: What other callers may do; it completes "A sandboxed application may only".
    /// - Throws: `AccessDenied`.
    func permit(
        _ call: Call,
        butOthersMay right: String = "add downloads and control those that it added"
    ) async throws(ManagerError) {
        guard await callers.caller(of: call).isRestricted else { return }
        throw ManagerError(.accessDenied, "A sandboxed application may only \(right).")
    }

    /// Allows the user's own programs, and an application from a sandbox only for tasks that it
    /// added.
    ///
    /// - Returns: The application from a sandbox; nil for the user's own programs.
    /// - Throws: `NoSuchTask`; `AccessDenied`.
    @discardableResult
    func permit(_ call: Call, on ids: [TaskID]) async throws -> String? {
        guard let owner = await callers.caller(of: call).owner else { return nil }
        for id in ids {
            guard try await coordinator.task(id).record.request.owner != owner else { continue }
            throw ManagerError(
                .accessDenied,
                "A sandboxed application may only control downloads that it added."
            )
        }
        return owner
    }

    /// Returns the task that a call names, if the caller may control it, and the caller's
    /// application from a sandbox; nil for the user's own programs.
    ///
    /// - Throws: What ``permit(_:on:)`` throws.
    func permitted(_ call: Call, _ id: String) async throws -> (id: TaskID, owner: String?) {
        let id = try taskID(id)
        return (id, try await permit(call, on: [id]))
    }

    /// Returns how the caller sees tasks: a sandboxed one sees no queries of URLs.
    func view(for call: Call) async -> @Sendable (TaskSnapshot) -> TaskProperties {
        guard await callers.caller(of: call).isRestricted else { return { TaskProperties($0) } }
        return { TaskProperties($0).withoutQueries }
    }
}
