// SPDX-License-Identifier: Apache-2.0

import Logging
package import iDownState
import iDownloader

extension Coordinator {
    /// Takes a selection off the list, its finished files into the trash.
    ///
    /// A task whose file no trash takes stays where it is, and is not counted.
    ///
    /// - Parameters:
    ///   - ids: The selection.
    ///   - dataHome: `$XDG_DATA_HOME`, where the trash of the home is.
    /// - Returns: how many tasks were removed.
    /// - Throws: `ServiceRefusal.noSuchTask`, and nothing has changed, where one is not there.
    package func remove(_ ids: [TaskID], trashingWith dataHome: String) async throws -> Int {
        try refuseWhileStopping()
        var records: [TaskRecord] = []
        for id in ids { records.append(try await task(id).record) }
        var kept: Set<TaskID> = []
        for record in records where record.state == .completed {
            do {
                try await engine.moveToTrash(fileOf: record, dataHome: dataHome)
            } catch {
                log.warning(
                    "the file of task \(record.id) stays: \(error.failure.message)"
                )
                kept.insert(record.id)
            }
        }
        return try await carryOut(.remove, on: ids.filter { !kept.contains($0) })
    }
}
