// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownData
package import iDownState
import iDownloader

/// The last step of each transaction, which fills the slots that its changes have freed.
final class SchedulingPass: Sendable {
    /// What the pass decides by.
    struct Terms: Sendable {
        let slots: Int
        /// Whether tasks go back to the queue if more run than there are slots.
        var displaces = true
        /// Running tasks that take no slot, because their disk does not answer.
        var uncounted: Set<TaskID> = []
        /// Tasks whose transfer runs or is ending: no second transfer is started beside it.
        let busy: Set<TaskID>
        /// Running tasks that have their whole file, and fetch nothing more.
        var arrived: Set<TaskID> = []
        /// Queued tasks with a head start, each with the arrival that waits to be recorded, or nil.
        var ahead: [TaskID: TransferEvent?] = [:]
        let firstOrder: Int64
        /// Whether tasks may start: not before the service has begun, and not while it ends.
        let mayStart: Bool
        /// Called when the pass runs, because changes of the transaction may affect the result.
        var surroundings: @Sendable () -> Surroundings = {
            Surroundings(conditions: Conditions(isOnline: true))
        }
        var date: @Sendable () -> WallTime = { .now }
    }

    let terms: Terms
    private let isWanted: Mutex<Bool>
    private let passedOver = Mutex<Set<TaskID>>([])
    /// Head starts whose task this transaction has changed; their tasks count as busy.
    private let changed = Mutex<Set<TaskID>>([])
    private let comesNext = Mutex<[Next]?>(nil)

    /// A task that gets one of the slots that will soon be free.
    struct Next {
        let id: TaskID
        /// The task; nil where its transfer has begun.
        let record: TaskRecord?
    }

    init(_ terms: Terms, isWanted: Bool) {
        self.terms = terms
        self.isWanted = Mutex(isWanted)
    }

    /// Notes what the transaction has changed so far.
    func note(_ changes: [Change]) {
        for change in changes where terms.ahead[change.after.id] != nil {
            changed.withLock { _ = $0.insert(change.after.id) }
        }
        guard changes.contains(where: { $0.effects.contains(.fillSlots) }) else { return }
        isWanted.withLock { $0 = true }
    }

    /// Tasks that could not start because their last transfer was still ending.
    var heldUp: Set<TaskID> { passedOver.withLock(\.self) }

    /// The tasks whose transfers may begin ahead of their slots; nil where the pass did not look.
    var next: [Next]? { comesNext.withLock(\.self) }

    func run(_ transaction: Transaction) throws -> [Change] {
        guard isWanted.withLock({ $0 }), terms.mayStart else {
            if !terms.mayStart { comesNext.withLock { $0 = [] } }
            return []
        }
        let slots = terms.slots
        var admission = Admission(transaction, terms.surroundings(), at: terms.date())
        let running = try transaction.running().filter { !terms.uncounted.contains($0) }
        var order = terms.firstOrder
        var changes: [Change] = []
        while true {
            let started = changes.count(where: \.starts)
            let free = slots - running.count - started
            let candidates = try admission.candidates(max(0, free))
            let decisions = Scheduler.decide(
                slots: max(slots - started, terms.displaces ? 0 : running.count),
                running: running,
                candidates: candidates.map(\.id)
            )
            var isComplete = true
            for decision in decisions {
                switch decision {
                // Its last transfer is still ending; the task keeps its place until that is over.
                case .start(let id) where isBusy(id):
                    passedOver.withLock { _ = $0.insert(id) }
                case .start(let id):
                    let candidate = candidates.first { $0.id == id }
                    let change = try candidate.flatMap {
                        try admission.admit(
                            $0,
                            order: order,
                            hasBegun: terms.ahead[id] != nil,
                            arrival: terms.ahead[id] ?? nil
                        )
                    }
                    changes += change.map { [$0] } ?? []
                    if change?.after.state == .downloading {
                        order += 1
                    } else {
                        // The next candidate gets the slot instead.
                        isComplete = false
                    }
                case .displace(let id):
                    changes += try transaction.changeIfReadable(id) {
                        $0.apply(.displaced, at: .distantPast, jitter: 0)
                    }
                }
            }
            guard isComplete else { continue }
            let fetching =
                running.count { !terms.arrived.contains($0) }
                + changes.count { $0.starts && (terms.ahead[$0.after.id] ?? nil) == nil }
            let finished = running.count + changes.count(where: \.starts) - fetching
            let next = try next(min(finished, slots - fetching), &admission)
            comesNext.withLock { $0 = next }
            return changes
        }
    }

    private func isBusy(_ id: TaskID) -> Bool {
        terms.busy.contains(id) || changed.withLock { $0.contains(id) }
    }

    /// Returns the tasks, `count` at most, that get the slots of tasks that have arrived.
    ///
    /// Tasks with a file are left out, because only the slot gives the right to touch the file.
    private func next(_ count: Int, _ admission: inout Admission) throws -> [Next] {
        guard count > 0 else { return [] }
        return try admission.candidates(count).prefix(count).compactMap { candidate in
            let id = candidate.id
            guard admission.obstacle(for: candidate) == nil, !candidate.hasFile, !isBusy(id)
            else { return nil }
            if terms.ahead[id] != nil { return Next(id: id, record: nil) }
            guard let record = try? admission.transaction.task(id), record.intent == nil
            else { return nil }
            return Next(id: id, record: record)
        }
    }
}

extension WallTime {
    /// A placeholder for events that do not use the time.
    static let distantPast = WallTime(microseconds: 0)

    /// The present time of the calendar.
    package static var now: WallTime { TimeAndChance.system.date }
}
