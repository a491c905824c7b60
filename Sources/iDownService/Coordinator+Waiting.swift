// SPDX-License-Identifier: Apache-2.0

import DBus
package import iDownState

extension Coordinator {
    /// Returns once a task is completed, failed, cancelled or removed; at once where it is already.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - client: Who asks; each may have so many calls pending.
    ///   - application: The application from a sandbox that asks; nil for others.
    /// - Returns: The state; nil where the task was removed meanwhile.
    /// - Throws: `ServiceRefusal`; `CancellationError` where nobody waits any more.
    package func end(
        of id: TaskID,
        for client: String,
        of application: String? = nil
    ) async throws -> TaskState.Kind? {
        try await endWaiters.end(of: id, for: client, of: application, in: self)
    }

    /// Reads the finished file of a task again and compares it with what is known.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - client: Who asks; with the last one who does, the reading ends.
    ///   - application: The application from a sandbox that the client belongs to; nil for others.
    /// - Returns: What is known of the file now, once that is durable and told.
    /// - Throws: `ServiceRefusal`; `Refusal.unfinished` for a task that is not completed;
    ///   `CancellationError` where the client has left.
    package func verify(
        _ id: TaskID,
        for client: String,
        of application: String? = nil
    ) async throws -> Integrity {
        try refuseWhileStopping()
        return try await verifications.integrity(of: id, for: client, of: application, in: self)
    }

    /// A client has left: nobody reads the answers to its calls.
    package func forgetWaits(of client: String) {
        endWaiters.cancelAll(of: client)
        verifications.cancelAll(of: client)
    }
}
