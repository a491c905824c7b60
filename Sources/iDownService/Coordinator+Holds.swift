// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
package import iDownState
import iDownloader

// What waits for the world: the network, power, a host, room on a disk.
extension Coordinator {
    /// What may start at this moment.
    var surroundings: @Sendable () -> Surroundings {
        let (engine, conditions, holdWishes, fullDirectories) =
            (engine, conditions, holdWishes, fullDirectories)
        return {
            Surroundings(
                conditions: conditions,
                wishes: holdWishes,
                rests: engine.rests.all,
                fullDirectories: fullDirectories
            )
        }
    }

    /// Whoever knows of the network's links tells each change.
    package func setOnline(_ isOnline: Bool) {
        guard isOnline != conditions.isOnline else { return }
        conditions.isOnline = isOnline
        log.notice(isOnline ? "the network is back" : "there is no network")
        adjustHolds()
    }

    /// Whoever knows of the desktop's services tells each change of what they say.
    package func setConditions(isCaptive: Bool, isMetered: Bool, isBatteryLow: Bool) {
        let before = conditions
        conditions.isCaptive = isCaptive
        conditions.isMetered = isMetered
        conditions.isBatteryLow = isBatteryLow
        guard conditions != before else { return }
        if isCaptive, !before.isCaptive { log.notice("a portal wants somebody to sign in first") }
        adjustHolds()
    }

    /// Changes what tasks wait for; at once, also those that run.
    package func setHoldWishes(_ wishes: HoldWishes) {
        guard wishes != holdWishes else { return }
        holdWishes = wishes
        adjustHolds()
    }

    /// Brings all tasks in line with the conditions, one change after the other.
    private func adjustHolds() {
        needsAdjustment = true
        guard adjuster == nil, !isStopping else { return }
        adjuster = Task {
            while needsAdjustment, !isStopping {
                needsAdjustment = false
                await settle { transaction, surroundings in
                    let released = try surroundings.lifted.flatMap { try transaction.held(by: $0) }
                    let interrupted = try transaction.running().map(\.id)
                    return released.map { ($0, .released) } + interrupted.map { ($0, nil) }
                }
                fillSlots()
            }
            adjuster = nil
        }
    }

    /// Lets tasks go on; while the store cannot be written, again and again.
    func release(_ ids: @escaping @Sendable (Transaction) throws -> [TaskID]) async {
        await settle { transaction, _ in try ids(transaction).map { ($0, .released) } }
    }

    /// Commits an event for each of some tasks; nil stands for what interrupts it, if anything does.
    private func settle(
        _ events: @escaping @Sendable (Transaction, Surroundings) throws -> [(TaskID, Event?)]
    ) async {
        while !isStopping, !Task.isCancelled {
            let now = time.date
            let surroundings = surroundings
            do {
                return try await commit { transaction in
                    let surroundings = surroundings()
                    let changes = try events(transaction, surroundings).flatMap { id, event in
                        try transaction.changeIfReadable(id) { record in
                            let interruption = surroundings.interruption(
                                for: record.request.origin
                            )
                            guard let event = event ?? interruption.map({ .held(by: $0) }) else {
                                return []
                            }
                            return record.apply(event, at: now, jitter: 0)
                        }
                    }
                    return ((), changes.filter { !$0.effects.isEmpty })
                }
            } catch {
                log.error("tasks that wait or may go on could not be recorded yet: \(error)")
            }
            try? await time.sleep(for: Self.storeRetryInterval)
        }
    }
}
