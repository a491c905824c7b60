// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownDesktop
import iDownService
import iDownSettings
import iDownState
import iDownloader

/// Passes the desktop's reports and commands on to the coordinator.
struct ServiceHost: DesktopHost {
    let coordinator: Coordinator
    let engine: Engine
    let manager: ManagerService

    func conditionsChanged(_ conditions: Conditions) async {
        await coordinator.setConditions(conditions)
    }

    func willSleep() async { await coordinator.fallAsleep() }

    func didWake() async {
        guard await coordinator.isAsleep else { return }
        engine.distrustConnections()
        await coordinator.awaken()
    }

    func carryOut(_ command: Command, on ids: [String]) async {
        var fitting: [TaskID] = []
        for id in ids.compactMap({ TaskID($0) }) {
            // The notification may be outdated: the task may be gone, or no longer be failed.
            guard let task = try? await coordinator.task(id) else { continue }
            if command != .retry || task.record.state == .failed { fitting.append(id) }
        }
        // One that was removed in the meantime refuses the whole; then each has its own call. Errors are
        // ignored: a task was removed or has ended in the meantime.
        if (try? await coordinator.carryOut(command, on: fitting)) != nil { return }
        for id in fitting { _ = try? await coordinator.carryOut(command, on: id) }
    }

    func carryOutOnAll(_ command: Command) async {
        _ = try? await coordinator.carryOut(command, onAllIn: command.statesOfAll)
    }

    func carryOn(_ task: String, with new: String) async {
        guard let task = TaskID(task), let new = TaskID(new) else { return }
        // Errors are ignored: either was removed or has ended in the meantime, and both stay.
        try? await coordinator.carryOn(task, with: new)
    }

    func leaveToBrowsers(_ host: String?) async { await manager.leaveToBrowsers(host) }

    func summary() async -> DesktopSummary {
        var summary = DesktopSummary()
        summary.folder = await manager.directory
        guard let counts = try? await coordinator.counts() else { return summary }
        summary.downloading = counts[.downloading]
        summary.waiting = counts[.waiting]
        summary.paused = counts[.paused]
        summary.failed = counts[.failed]
        return summary
    }
}
