// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState
import iDownloader

/// The tasks whose files are being published, and the calls that wait for the end of that.
final class Publications {
    enum End {
        /// The publication is over.
        case over
        /// Nothing was being published; or the service ends, and no end would be told.
        case unknown
        /// The disk does not answer.
        case hangs
    }

    private var underWay: Set<TaskID> = []
    private let waiters = Waiters<TaskID, Void>()

    /// Notes a changed record.
    ///
    /// - Parameters:
    ///   - record: the task as it is now.
    ///   - isRunning: whether a transfer of the task runs.
    func note(_ record: TaskRecord, isRunning: Bool) {
        if record.isPublishing, isRunning {
            underWay.insert(record.id)
        } else if underWay.remove(record.id) != nil {
            waiters.release(record.id, with: ())
        }
    }

    /// Waits until the file of a task has its name or has failed to get it, for at most
    /// ``Coordinator/longestPause``.
    func end(of id: TaskID, in coordinator: isolated Coordinator) async -> End {
        guard underWay.contains(id), !coordinator.isStopping else { return .unknown }
        let pause = Coordinator.longestPause
        let isTold = await waiters.wait(for: id, atMost: pause, in: coordinator) != nil
        return isTold || !underWay.contains(id) ? .over : .hangs
    }

    /// Finds out whether files have their names where earlier attempts could not tell.
    ///
    /// Tasks for which this stays unknown are not changed.
    ///
    /// - Parameters:
    ///   - ids: the tasks.
    ///   - areGivenUp: whether the tasks are to be given up, even if their drives are missing.
    ///   - coordinator: the owner.
    /// - Returns: false where a disk does not answer.
    func settle(
        _ ids: Set<TaskID>,
        areGivenUp: Bool = true,
        in coordinator: isolated Coordinator
    ) async -> Bool {
        let open = try? await coordinator.store.read { try $0.tasksToPublish() }
        for record in open ?? [] where ids.contains(record.id) && !record.isPublishing {
            let (engine, limit) = (coordinator.engine, Coordinator.longestPause)
            let found = await engine.look(in: record.request.directory, limit) {
                await engine.settlePublication(of: record, isGivenUp: areGivenUp)
            }
            guard let found else { return false }
            guard let event = found else { continue }
            let now = coordinator.time.date
            _ = try? await coordinator.commitChange(of: record.id) { current in
                // An attempt that began meanwhile has looked as well, and knows more.
                guard current.attempt == record.attempt, current.intent == record.intent else {
                    return []
                }
                return current.apply(event, at: now, jitter: 0)
            }
        }
        return true
    }

    /// Ends all waits, because the service ends.
    func stop() {
        underWay = []
        waiters.releaseAll(with: ())
    }
}
