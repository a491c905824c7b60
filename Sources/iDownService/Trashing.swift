// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownState
import iDownloader

/// Takes tasks off the list whose finished files go into the trash.
final class Trashing {
    /// How many calls move files to the trash now; the tasks leave the list after that.
    private var count = 0

    /// Whether no file is on its way to the trash; the end of the service waits for that.
    var isIdle: Bool { count == 0 }

    /// Takes a selection off the list, its finished files into the trash.
    ///
    /// A task whose file no trash takes stays where it is, and is not counted.
    ///
    /// - Parameters:
    ///   - ids: The selection.
    ///   - dataHome: `$XDG_DATA_HOME`, where the trash of the home is.
    ///   - goingToDisk: Called before each wait for a disk, which may never answer.
    ///   - coordinator: The owner.
    /// - Returns: how many tasks were removed.
    /// - Throws: `ServiceRefusal.noSuchTask`, and nothing has changed, where one is not there.
    func remove(
        _ ids: [TaskID],
        _ dataHome: String,
        _ goingToDisk: @Sendable () -> Void,
        in coordinator: isolated Coordinator
    ) async throws -> Int {
        try coordinator.refuseWhileStopping()
        count += 1
        defer {
            count -= 1
            coordinator.noteEnd()
        }
        for id in ids { _ = try await coordinator.task(id) }
        var (left, trashed, removed) = (ids, Set<TaskID>(), 0)
        repeat {
            let kept = await move(left, dataHome, goingToDisk, &trashed, in: coordinator)
            left.removeAll(where: kept.contains)
            do {
                let outcome = try await coordinator.carryOut(
                    .remove,
                    on: left,
                    sparingFinishedBut: trashed
                )
                removed += outcome.changed
                // What was finished in the meantime goes there as well.
                left = outcome.spared
            } catch ServiceRefusal.noSuchTask where !trashed.isEmpty || removed > 0 {
                // Files have moved: who has removed one of the tasks meanwhile keeps none of them.
                var present: [TaskID] = []
                for id in left where (try? await coordinator.task(id)) != nil {
                    present.append(id)
                }
                left = present
            } catch ServiceRefusal.stopping where !trashed.isEmpty || removed > 0 {
                // A disk took longer than the end of the service waits for it.
                return removed
            }
        } while !left.isEmpty
        return removed
    }

    /// Moves the files of those that are finished.
    ///
    /// - Returns: those whose files stay.
    private func move(
        _ ids: [TaskID],
        _ dataHome: String,
        _ goingToDisk: @Sendable () -> Void,
        _ trashed: inout Set<TaskID>,
        in coordinator: isolated Coordinator
    ) async -> Set<TaskID> {
        var kept: Set<TaskID> = []
        for id in Set(ids).subtracting(trashed).sorted() {
            let limit = Coordinator.longestLook
            _ = await coordinator.moves.end(of: id, atMost: limit, in: coordinator)
            guard let record = try? await coordinator.task(id).record, record.state == .completed
            else { continue }
            goingToDisk()
            do {
                try await coordinator.engine.moveToTrash(fileOf: record, dataHome: dataHome)
                trashed.insert(id)
            } catch {
                coordinator.log.warning("the file of task \(id) stays: \(error.failure.message)")
                kept.insert(id)
            }
        }
        return kept
    }
}
