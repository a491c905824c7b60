// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownDesktop
import iDownService
import iDownState

/// Announces committed changes to the bus and to the desktop; the desktop's part never waits.
struct SharedAnnouncer: Announcing {
    let bus: BusAnnouncer
    let desktop: DesktopFeed

    func taskAdded(_ task: TaskSnapshot) async { await bus.taskAdded(task) }

    func taskChanged(from before: TaskSnapshot, to after: TaskSnapshot) async {
        await bus.taskChanged(from: before, to: after)
        let isRunning = after.record.state == .downloading
        // Notifications are kept by the desktop.
        if after.record.request.isPrivate, after.record.state == .completed { return }
        // For tasks that do not run, only a change of the state is news.
        if isRunning || before.record.state.kind != after.record.state.kind { tellDesktop(after) }
    }

    private func tellDesktop(_ task: TaskSnapshot) {
        switch task.record.state {
        case .waiting, .paused, .cancelled:
            // The desktop shows such a task only if it was running; there may be 100,000 others.
            guard desktop.knows(task.record.id.description) else { return }
        case .downloading, .completed, .failed: break
        }
        desktop.changed(DesktopTask(task))
    }

    func taskProgressed(_ id: TaskID, _ live: LiveState, of total: Int64?) async {
        await bus.taskProgressed(id, live, of: total)
        desktop.progressed(
            id.description,
            bytes: live.bytes,
            of: total,
            bytesPerSecond: live.bytesPerSecond
        )
    }

    func countsChanged(_ counts: TaskCounts) async { await bus.countsChanged(counts) }

    func taskRemoved(_ id: TaskID) async {
        await bus.taskRemoved(id)
        desktop.removed(id.description)
    }

    func changedTogether(_ news: [TaskNews], serial: Int64) async {
        await bus.changedTogether(news, serial: serial)
        for one in news {
            switch (one.told, one.now) {
            case (_, nil): desktop.removed(one.id.description)
            case (let told?, let now?) where told.record.state.kind != now.record.state.kind:
                tellDesktop(now)
            default: break
            }
        }
    }

    func call(_ reply: @escaping @Sendable () -> Void, after ids: [TaskID]) async {
        await bus.call(reply, after: ids)
    }

    func answerAll() async { await bus.answerAll() }
}
