// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
package import iDownState

// What waits, and for what.
extension StoreAccess {
    /// The tasks that may start, best first: by priority, then in the order of ids.
    ///
    /// One whose file is still being deleted may not start.
    package func nextWaiting(
        limit: Int,
        passingOver passedOver: PassedOver = PassedOver()
    ) throws(StoreFailure) -> [Candidate] {
        guard limit > 0, !passedOver.all else { return [] }
        return try translatingErrors {
            var waiting: [Candidate] = []
            let rows = try queue(passingOver: passedOver)
            while waiting.count < limit, let row = try rows.next() {
                guard let id = TaskID(rawValue: integer(row, 0)), !passedOver.ids.contains(id)
                else { continue }
                waiting.append(
                    Candidate(
                        id: id,
                        priority: Int32(clamping: integer(row, 1)),
                        directory: text(row, 2),
                        origin: Origin(url: text(row, 4)),
                        hasFile: !(row[3] as DatabaseValue).isNull
                    )
                )
            }
            return waiting
        }
    }

    private func queue(passingOver passedOver: PassedOver) throws -> RowCursor {
        guard !passedOver.isOfTasksAlone else { return try rows(Query.inQueue.rawValue) }
        return try rows(
            Query.inQueueBeside.rawValue,
            [
                passedOver.remote ? 1 : 0,
                try json(passedOver.origins.map { URLHash.value(of: $0.text) }),
                try json(passedOver.directories.sorted()),
            ]
        )
    }

    private func json(_ values: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
    }

    /// The tasks that wait for the network, for power or for room, by priority, then in the order of ids.
    ///
    /// - Parameter hold: `offline`, `metered`, `battery` or `space`; none waits otherwise.
    /// - Returns: their ids.
    /// - Throws: `StoreFailure.database`.
    package func held(by hold: Hold) throws(StoreFailure) -> [TaskID] {
        var ids: [TaskID] = []
        try forEachRow(.held, [hold.name]) { id, _ in ids.append(id) }
        return ids
    }

    /// How many tasks wait for anything but a slot; exact up to 300 of a kind.
    package func countOfHeld() throws(StoreFailure) -> Int {
        var count = 0
        try forEachRow(.someInBackOff) { _, _ in count += 1 }
        try forEachRow(.someHeld) { _, _ in count += 1 }
        return count
    }

    /// The tasks in back-off, the next to be tried first.
    package func retrying() throws(StoreFailure) -> [(id: TaskID, at: WallTime)] {
        var retrying: [(id: TaskID, at: WallTime)] = []
        try forEachRow(.inBackOff) { id, row in
            retrying.append((id, WallTime(microseconds: integer(row, 1))))
        }
        return retrying
    }
}
