// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownDesktop
import iDownService
import iDownState

/// Announces committed changes to the bus and to the desktop; the desktop's part never waits.
struct SharedAnnouncer: Announcing {
    let bus: BusAnnouncer
    let desktop: DesktopFeed

    func tell(_ news: [TaskNews], serial: Int64) async {
        await bus.tell(news, serial: serial)
        for one in news { tellDesktop(one) }
    }

    private func tellDesktop(_ news: TaskNews) {
        guard let task = news.now else { return desktop.removed(news.id.description) }
        let state = task.record.state
        // Notifications are kept by the desktop.
        guard let told = news.told, !task.record.request.isPrivate || state != .completed,
            // For tasks that do not run, only a change of the state is news.
            state == .downloading || told.record.state.kind != state.kind
        else { return }
        switch state {
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

    func tellObjects() async { await bus.tellObjects() }

    func call(_ reply: @escaping @Sendable () -> Void, after ids: [TaskID]) async {
        await bus.call(reply, after: ids)
    }

    func answerAll() async { await bus.answerAll() }
}
