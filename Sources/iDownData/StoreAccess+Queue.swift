// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
package import iDownState

// The waiting tasks, and what they wait for.
extension StoreAccess {
    /// Returns the tasks that may start, the first one first: by priority, then by id.
    ///
    /// A task whose file is still being deleted may not start.
    package func nextWaiting(
        limit: Int,
        excluding exclusions: QueueExclusions = QueueExclusions()
    ) throws(StoreFailure) -> [Candidate] {
        guard limit > 0, !exclusions.all else { return [] }
        return try translatingErrors {
            var waiting: [Candidate] = []
            let rows = try queue(excluding: exclusions)
            while waiting.count < limit, let row = try rows.next() {
                guard let id = TaskID(rawValue: integer(row, 0)), !exclusions.ids.contains(id)
                else { continue }
                waiting.append(
                    Candidate(
                        id: id,
                        directory: text(row, 1),
                        origin: Origin(url: text(row, 3)),
                        hasFile: !(row[2] as DatabaseValue).isNull,
                        mirrors: (row[4] as String?).map {
                            MirrorText.mirrors(of: $0).compactMap(Origin.init(url:))
                        } ?? []
                    )
                )
            }
            return waiting
        }
    }

    private func queue(excluding exclusions: QueueExclusions) throws -> RowCursor {
        guard !exclusions.excludesOnlyTasks else { return try rows(.inQueue) }
        return try rows(
            .inQueueExcluding,
            [
                exclusions.remote ? 1 : 0,
                try json(exclusions.origins.map { URLHash.value(of: $0.text) }),
                try json(exclusions.stuckDirectories.sorted()),
                try json(exclusions.directories.sorted()),
            ]
        )
    }

    private func json(_ values: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
    }

    /// Returns the tasks that wait for the network, for power, for disk space or for the settings
    /// file, by priority, then by id.
    ///
    /// - Parameter hold: one of ``Hold/byTheWorld``; for any other hold there are none.
    /// - Returns: their ids.
    /// - Throws: `StoreFailure.database`.
    package func held(by hold: Hold) throws(StoreFailure) -> [TaskID] {
        try ids(.held, [hold.name])
    }

    /// Returns how many tasks wait for something other than a slot.
    ///
    /// Tasks in back-off and other held tasks are each counted up to 300.
    package func countOfHeld() throws(StoreFailure) -> Int {
        try ids(.someInBackOff).count + ids(.someHeld).count
    }

    /// Returns the tasks in back-off, the one with the earliest next try first.
    package func tasksInBackOff() throws(StoreFailure) -> [TaskID] { try ids(.inBackOff) }
}
