// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// The conditions that tasks wait for beside a slot: the network, power, the settings file, the end
/// of the computer's sleep.
final class Holds {
    /// The state of network and power, as their watchers last told it.
    private(set) var conditions = Conditions(isOnline: true)
    /// What the user wants tasks to wait for.
    private(set) var settings: HoldSettings
    /// Whether the computer is about to sleep or asleep: nothing starts then.
    private(set) var isAsleep = false
    /// Whether the network has come back and tasks were not tried again since.
    private var hasComeBack = false
    private let adjustment = WantedWork()

    /// Whether other computers can be reached.
    var leadsOut: Bool { networkAndPower.leadsOut }

    private var networkAndPower: Surroundings {
        var surroundings = Surroundings(conditions: conditions)
        surroundings.holdSettings = settings
        return surroundings
    }

    init(_ settings: HoldSettings) { self.settings = settings }

    /// Changes the conditions, and adjusts the tasks at once if they differ.
    func change(in coordinator: isolated Coordinator, _ change: (inout Conditions) -> Void) {
        let (before, leadOut) = (conditions, leadsOut)
        change(&conditions)
        guard conditions != before else { return }
        let log = coordinator.log
        if conditions.isOnline != before.isOnline {
            log.notice(conditions.isOnline ? "the network is back" : "there is no network")
        }
        if leadsOut, !leadOut { hasComeBack = true }
        if conditions.isCaptive, !before.isCaptive {
            log.notice("a portal wants somebody to sign in first")
        }
        adjust(in: coordinator)
    }

    /// Changes what tasks wait for; this acts at once, on running tasks too.
    func change(_ settings: HoldSettings, in coordinator: isolated Coordinator) {
        guard settings != self.settings else { return }
        self.settings = settings
        adjust(in: coordinator)
    }

    func stop() { adjustment.stop() }

    /// Adjusts all tasks to the conditions, one change after the other.
    func adjust(in coordinator: isolated Coordinator) {
        adjustment.want(in: coordinator) { [self] in
            let hasComeBack = hasComeBack
            self.hasComeBack = false
            await settle(in: coordinator) { transaction, surroundings in
                let released = try surroundings.lifted.flatMap { try transaction.held(by: $0) }
                let missed = hasComeBack ? try transaction.tasksInBackOff() : []
                let interrupted = try transaction.running()
                return released.map { ($0, .released) } + missed.map { ($0, .networkBack) }
                    + interrupted.map { ($0, nil) }
            }
            coordinator.fillSlots()
        }
    }

    // MARK: Sleep

    /// Ends all transfers with a checkpoint, in case the battery dies during the sleep; their tasks
    /// wait for a slot again.
    ///
    /// Returns once the transfers are over, or after ``Coordinator/longestPause``: logind waits
    /// only five seconds (logind.conf(5), InhibitDelayMaxSec), even if a disk hangs.
    func fallAsleep(in coordinator: isolated Coordinator) async {
        guard !isAsleep, !coordinator.isStopping else { return }
        isAsleep = true
        coordinator.log.info("the computer goes to sleep")
        do {
            try await coordinator.commitChanges(of: { try $0.running() }) {
                $0.apply(.displaced, at: .distantPast, jitter: 0)
            }
        } catch {
            coordinator.log.error("the transfers could not be ended before the sleep: \(error)")
        }
        await withTaskGroup { group in
            for id in coordinator.slots.running.keys {
                group.addTask { await coordinator.transferEnd(of: id) }
            }
        }
    }

    /// Starts tasks again, with fresh connections.
    func awaken(in coordinator: isolated Coordinator) {
        guard isAsleep else { return }
        isAsleep = false
        coordinator.log.info("the computer is awake again")
        coordinator.fillSlots()
    }

    // MARK: Adjusting tasks

    /// Returns the conditions under which tasks may start at this moment.
    func surroundings(in coordinator: isolated Coordinator) -> @Sendable () -> Surroundings {
        let (engine, networkAndPower) = (coordinator.engine, networkAndPower)
        let fullDirectories = coordinator.space.fullDirectories
        let isStuck = coordinator.slots.stuckFolders(on: engine.disk)
        return {
            var surroundings = networkAndPower
            surroundings.rests = engine.hosts.rests
            surroundings.fullDirectories = fullDirectories
            surroundings.isStuck = isStuck
            return surroundings
        }
    }

    /// Commits an event for each of some tasks; for nil, a hold if a condition interrupts the task.
    ///
    /// While the store cannot be written, this is tried again and again.
    func settle(
        in coordinator: isolated Coordinator,
        _ events: @escaping @Sendable (Transaction, Surroundings) throws -> [(TaskID, Event?)]
    ) async {
        let complaint = "tasks that wait or may go on could not be recorded yet"
        await coordinator.untilStored(orLog: complaint) {
            let now = coordinator.time.date
            let surroundings = surroundings(in: coordinator)
            try await coordinator.commit { transaction in
                let surroundings = surroundings()
                let changes = try events(transaction, surroundings).flatMap { id, event in
                    try transaction.changeIfReadable(id) { record in
                        let interruption = surroundings.interruption(for: record.request.origin)
                        guard let event = event ?? interruption.map({ .held(by: $0) }) else {
                            return []
                        }
                        return record.apply(event, at: now, jitter: 0)
                    }
                }
                return ((), changes.filter { !$0.effects.isEmpty })
            }
        }
    }
}
