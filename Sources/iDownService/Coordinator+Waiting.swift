// SPDX-License-Identifier: Apache-2.0

import DBus
package import iDownState

extension Coordinator {
    /// Returns once a task is completed, failed, cancelled or removed; at once where it already is.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - client: The client that calls; its number of pending calls is limited.
    ///   - application: The application from a sandbox that calls; nil for others.
    /// - Returns: The state; nil where the task was removed.
    /// - Throws: `ServiceRefusal`; `CancellationError` if the call was cancelled.
    package func end(
        of id: TaskID,
        for client: String,
        of application: String? = nil
    ) async throws -> TaskState.Kind? {
        try await endWaiters.end(of: id, for: client, of: application, in: self)
    }

    /// Reads the finished file of a task again, and compares it with what is known of it.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - client: The client that calls; the reading ends when its last client leaves.
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

    /// Ends the waits of a client that has left the bus, because nobody reads the answers.
    package func forgetWaits(of client: String) {
        endWaiters.cancelAll(of: client)
        verifications.cancelAll(of: client)
    }
}
