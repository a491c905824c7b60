// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownBus
import iDownData
import iDownState
import iDownloader

/// Removes tasks from the list and moves their finished files to the trash.
final class Trashing {
    /// How many calls move files now; their tasks leave the list after that.
    private var count = 0

    /// Whether no call moves files; the end of the service waits for that.
    var isIdle: Bool { count == 0 }

    /// Removes a selection from the list, and moves its finished files to the trash.
    ///
    /// A task whose file cannot go to the trash stays in the list, and is not counted.
    ///
    /// - Parameters:
    ///   - ids: The selection.
    ///   - dataHome: `$XDG_DATA_HOME`, where the user's trash is.
    ///   - coordinator: The owner.
    /// - Returns: how many tasks were removed.
    /// - Throws: `ServiceRefusal.noSuchTask` if a task does not exist; nothing has changed then.
    func remove(
        _ ids: [TaskID],
        _ dataHome: String,
        in coordinator: isolated Coordinator
    ) async throws -> Int {
        try coordinator.refuseWhileStopping()
        count += 1
        defer {
            count -= 1
            coordinator.noteEnd()
        }
        for id in ids { _ = try await coordinator.task(id) }
        var (rest, left, trashed, removed) = (ids[...], [TaskID](), Set<TaskID>(), 0)
        while !left.isEmpty || !rest.isEmpty {
            if left.isEmpty {
                // What the end of the service would leave undone is not begun.
                if rest.startIndex > 0, coordinator.isStopping { break }
                // A list that cannot be written keeps few tasks whose files are in the trash.
                (left, trashed) = (Array(rest.prefix(Self.most)), [])
                rest = rest.dropFirst(Self.most)
            }
            let kept = await move(left, dataHome, &trashed, in: coordinator)
            left.removeAll(where: kept.contains)
            let hasChanged = removed > 0 || !trashed.isEmpty
            // Nothing has changed: the caller may try again.
            if left.isEmpty, !hasChanged { try coordinator.refuseWhileStopping() }
            do {
                // A task may have been removed by another call since the first look.
                let outcome = try await coordinator.carryOut(
                    .remove,
                    on: left,
                    isRest: true,
                    sparingFinishedBut: trashed
                )
                removed += outcome.changed
                // Tasks that finished meanwhile move their files to the trash as well.
                left = outcome.spared
            } catch ServiceRefusal.stopping where hasChanged {
                // A disk took longer than the end of the service waits.
                return removed
            } catch let failure as StoreFailure where failure != .closed && hasChanged {
                let files = trashed.isEmpty ? "" : ", and files of others are in the trash"
                throw ManagerError(
                    .storeFailed,
                    "The list of tasks could not be written (\(failure)). Some tasks may be removed"
                        + " already\(files)."
                )
            }
        }
        return removed
    }

    /// The most tasks whose files move before the tasks leave the list.
    private static let most = 100

    /// Moves the files of the finished tasks to the trash.
    ///
    /// - Returns: the tasks whose files stay.
    private func move(
        _ ids: [TaskID],
        _ dataHome: String,
        _ trashed: inout Set<TaskID>,
        in coordinator: isolated Coordinator
    ) async -> Set<TaskID> {
        var kept: Set<TaskID> = []
        for id in Set(ids).subtracting(trashed).sorted() {
            guard var record = try? await coordinator.task(id).record, record.state == .completed
            else { continue }
            // Only the end of a rename tells which file goes.
            while record.isMoving,
                await coordinator.moves.end(of: id, in: coordinator) != nil,
                let moved = try? await coordinator.task(id).record
            {
                record = moved
            }
            guard !record.isMoving, !coordinator.isStopping else {
                kept.insert(id)
                continue
            }
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
