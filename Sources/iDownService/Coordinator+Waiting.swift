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
        try refuseWhileStopping()
        var ends: Int
        repeat {
            ends = endWaiters.ends
            let state = try await task(id).record.state.kind
            guard !state.isEnd else { return state }
            // What was carried out while the task was looked at may have been its end.
        } while ends != endWaiters.ends
        try refuseWhileStopping()
        let number = endWaiters.makeNumber()
        return try await withTaskCancellationHandler {
            try await endWaiters.wait(
                for: id,
                client: client,
                of: application,
                as: number,
                in: self
            )
        } onCancel: {
            executor.post { self.assumeIsolated { $0.endWaiters.cancel(number, id, for: client) } }
        }
    }

    /// Reads the finished file of a task again and compares it with what is known.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - client: Who asks; with the last one who does, the reading ends.
    /// - Returns: What is known of the file now, once that is durable and told.
    /// - Throws: `ServiceRefusal`; `Refusal.unfinished` for a task that is not completed;
    ///   `CancellationError` where the client has left.
    package func verify(_ id: TaskID, for client: String) async throws -> Integrity {
        try refuseWhileStopping()
        return try await verifications.integrity(of: id, for: client, in: self)
    }

    /// A client has left: nobody reads the answers to its calls.
    package func forgetWaits(of client: String) {
        endWaiters.cancelAll(of: client)
        verifications.cancelAll(of: client)
    }

    /// Tells those who wait for the end of a task, after everybody else was told.
    func tellWaiters(of change: Change) async {
        guard change.isEnd else { return }
        let last = endWaiters.takeNote()
        let id = change.after.id
        let isGone = change.effects.contains(.announceRemoved)
        let state = change.after.state.kind
        // A private task leaves the list with its completion.
        let end =
            isGone && (state != .completed || change.before?.state.kind == .completed) ? nil : state
        guard endWaiters.isAwaited(id) else { return }
        let executor = executor
        let tell: @Sendable () -> Void = {
            executor.post {
                self.assumeIsolated { $0.endWaiters.end(id, end, through: last) }
            }
        }
        if let announcer { await announcer.call(tell, after: [id]) } else { tell() }
    }
}

extension Change {
    /// Whether Wait answers once this is told.
    var isEnd: Bool { effects.contains(.announceRemoved) || after.state.kind.isEnd }
}

extension TaskState.Kind {
    /// Whether Wait answers with it.
    fileprivate var isEnd: Bool {
        switch self {
        case .completed, .failed, .cancelled: true
        case .waiting, .downloading, .paused: false
        }
    }
}
