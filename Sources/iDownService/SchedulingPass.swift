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
    /// Asked when the pass runs: the transaction's own changes may have an effect on it.
    private let surroundings: @Sendable () -> Surroundings
    private let date: @Sendable () -> WallTime
    private let isWanted: Mutex<Bool>
    private let passedOver = Mutex<Set<TaskID>>([])

    init(
        slots: Int,
        busy: Set<TaskID>,
        firstOrder: Int64,
        isWanted: Bool,
        mayStart: Bool,
        surroundings: @escaping @Sendable () -> Surroundings = { Surroundings() },
        date: @escaping @Sendable () -> WallTime = { .now }
    ) {
        self.slots = slots
        self.busy = busy
        self.firstOrder = firstOrder
        self.mayStart = mayStart
        self.surroundings = surroundings
        self.date = date
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
        var admission = Admission(transaction, surroundings(), at: date())
        let running = try transaction.running()
        var order = firstOrder
        var changes: [Change] = []
        while true {
            let started = changes.count { $0.after.state == .downloading }
            let free = slots - running.count - started
            let candidates = try transaction.nextWaiting(
                limit: max(0, free),
                passingOver: admission.passedOver
            )
            let decisions = Scheduler.decide(
                slots: slots - started,
                running: running,
                candidates: candidates.map(\.id)
            )
            var isComplete = true
            for decision in decisions {
                switch decision {
                // Its last transfer still ends; it keeps its turn until that is over.
                case .start(let id) where busy.contains(id):
                    passedOver.withLock { _ = $0.insert(id) }
                case .start(let id):
                    let candidate = candidates.first { $0.id == id }
                    let change = try candidate.flatMap { try admission.admit($0, order: order) }
                    changes += change.map { [$0] } ?? []
                    if change?.after.state == .downloading {
                        order += 1
                    } else {
                        // The next candidate gets its slot.
                        isComplete = false
                    }
                case .displace(let id):
                    changes += try transaction.changeIfReadable(id) {
                        $0.apply(.displaced, at: .distantPast, jitter: 0)
                    }
                }
            }
            if isComplete { return changes }
        }
    }
}

extension WallTime {
    /// For events that take no note of the time.
    static let distantPast = WallTime(microseconds: 0)
}
