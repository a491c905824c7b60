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
        return try await beforeTheEnd { try await removeTrashing(ids, dataHome) }
    }

    private func removeTrashing(_ ids: [TaskID], _ dataHome: String) async throws -> Int {
        for id in ids { _ = try await task(id) }
        var (left, trashed, count) = (ids, Set<TaskID>(), 0)
        repeat {
            let kept = await moveToTrash(left, dataHome, noting: &trashed)
            left.removeAll(where: kept.contains)
            do {
                let outcome = try await carryOut(.remove, on: left, sparingFinishedBut: trashed)
                count += outcome.changed
                // What was finished in the meantime goes there as well.
                left = outcome.spared
            } catch ServiceRefusal.noSuchTask where !trashed.isEmpty || count > 0 {
                // Files have moved: who has removed one of the tasks meanwhile keeps none of them.
                var present: [TaskID] = []
                for id in left where (try? await task(id)) != nil { present.append(id) }
                left = present
            } catch ServiceRefusal.stopping where !trashed.isEmpty || count > 0 {
                // A disk took longer than the end of the service waits for it.
                return count
            }
        } while !left.isEmpty
        return count
    }

    /// Moves the files of those that are finished.
    ///
    /// - Returns: those whose files stay.
    private func moveToTrash(
        _ ids: [TaskID],
        _ dataHome: String,
        noting trashed: inout Set<TaskID>
    ) async -> Set<TaskID> {
        var kept: Set<TaskID> = []
        for id in Set(ids).subtracting(trashed).sorted() {
            _ = await moves.end(of: id, atMost: Self.longestLook, in: self)
            guard let record = try? await task(id).record, record.state == .completed else {
                continue
            }
            do {
                try await engine.moveToTrash(fileOf: record, dataHome: dataHome)
                trashed.insert(id)
            } catch {
                log.warning("the file of task \(id) stays: \(error.failure.message)")
                kept.insert(id)
            }
        }
        return kept
    }
}
