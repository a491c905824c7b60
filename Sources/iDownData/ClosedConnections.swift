// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// Connections that were needed for a moment: closed, but kept as long as the store.
///
/// The queue of a connection has a value of GRDB's with it. When such a queue goes, Dispatch lets go
/// of the value on a global queue, and from then on wakes up every second for as long as the process
/// lives (`_dispatch_workq_monitor_pools`).
final class ClosedConnections: Sendable {
    private let all = Mutex<[DatabaseQueue]>([])

    /// Closes a connection.
    func take(_ connection: DatabaseQueue) throws {
        try connection.close()
        all.withLock { $0.append(connection) }
    }
}
