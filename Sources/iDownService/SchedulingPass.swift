// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownData
import iDownState

/// The last step of each transaction: slots that its changes freed are filled at once.
final class SchedulingPass: Sendable {
    private let slots: Int
    /// Tasks whose transfer still runs or ends: no second one is started beside it.
    private let busy: Set<TaskID>
    private let firstOrder: Int64
    /// Not before the service is there for others, and not while it ends.
    private let mayStart: Bool
    private let isWanted: Mutex<Bool>
    private let passedOver = Mutex<Set<TaskID>>([])

    init(slots: Int, busy: Set<TaskID>, firstOrder: Int64, isWanted: Bool, mayStart: Bool) {
        self.slots = slots
        self.busy = busy
        self.firstOrder = firstOrder
        self.mayStart = mayStart
        self.isWanted = Mutex(isWanted)
    }

    /// Takes note of what the transaction did so far.
    func note(_ changes: [Change]) {
        guard changes.contains(where: { $0.effects.contains(.fillSlots) }) else { return }
        isWanted.withLock { $0 = true }
    }

    /// Tasks that could not start because their last transfer still ended.
    var heldUp: Set<TaskID> { passedOver.withLock(\.self) }

    func run(_ transaction: Transaction) throws -> [Change] {
        guard isWanted.withLock({ $0 }), mayStart else { return [] }
        let running = try transaction.running()
        var order = firstOrder
        var unreadable: Set<TaskID> = []
        var changes: [Change] = []
        while true {
            let started = changes.count { $0.after.state == .downloading }
            let free = slots - running.count - started
            let candidates = try transaction.nextWaiting(limit: max(0, free), excluding: unreadable)
            let decisions = Scheduler.decide(
                slots: slots - started,
                running: running,
                candidates: candidates.map(\.id)
            )
            let known = unreadable.count
            for decision in decisions {
                switch decision {
                // Its last transfer still ends; it keeps its turn until that is over.
                case .start(let id) where busy.contains(id):
                    passedOver.withLock { _ = $0.insert(id) }
                case .start(let id):
                    let change = try transaction.changeIfReadable(id) {
                        $0.apply(.slotGranted(order: order), at: .distantPast, jitter: 0)
                    }
                    if change.isEmpty { unreadable.insert(id) }
                    changes += change
                    order += 1
                case .displace(let id):
                    changes += try transaction.changeIfReadable(id) {
                        $0.apply(.displaced, at: .distantPast, jitter: 0)
                    }
                }
            }
            // A record that cannot be read is passed over: the next candidate gets its slot.
            if unreadable.count == known { return changes }
        }
    }
}

extension WallTime {
    /// For events that take no note of the time.
    static let distantPast = WallTime(microseconds: 0)
}
