// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownData
package import iDownState
import iDownloader

/// The last step of each transaction, which fills the slots that its changes have freed.
final class SchedulingPass: Sendable {
    /// The most tasks of disks that do not answer that one query finds.
    private static let mostSilent = 256

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
    enum Next {
        /// A task whose transfer has begun.
        case known(TaskID)
        case new(TaskRecord)

        var id: TaskID {
            switch self {
            case .known(let id): id
            case .new(let record): record.id
            }
        }
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
        let (slots, surroundings) = (terms.slots, terms.surroundings())
        var admission = Admission(transaction, surroundings, at: terms.date())
        let running = try transaction.running().filter { !terms.uncounted.contains($0.id) }
        var order = terms.firstOrder
        var changes: [Change] = []
        while true {
            let started = changes.count(where: \.starts)
            let free = slots - running.count - started
            let candidates = try candidates(
                max(0, free),
                transaction,
                surroundings,
                &admission.passedOver
            )
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
                    let start = terms.ahead[id]
                    let change = try candidate.flatMap {
                        try admission.admit(
                            $0,
                            order: order,
                            hasBegun: start != nil,
                            arrival: start ?? nil
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
                running.count { !terms.arrived.contains($0.id) }
                + changes.count { $0.starts && (terms.ahead[$0.after.id] ?? nil) == nil }
            let finished = running.count + changes.count(where: \.starts) - fetching
            let next = try next(
                min(finished, slots - fetching),
                transaction,
                surroundings,
                &admission.passedOver
            )
            comesNext.withLock { $0 = next }
            return changes
        }
    }

    private func isBusy(_ id: TaskID) -> Bool {
        terms.busy.contains(id) || changed.withLock { $0.contains(id) }
    }

    /// Returns the first tasks of the queue, `count` or more of them where so many wait.
    ///
    /// Tasks of a disk that does not answer are passed over from now on.
    private func candidates(
        _ count: Int,
        _ transaction: Transaction,
        _ surroundings: Surroundings,
        _ passedOver: inout QueueExclusions
    ) throws -> [Candidate] {
        while true {
            // Of a disk that does not answer there may be many folders: they are found by the hundred.
            let isAmongSilent = count > 0 && !passedOver.silentDirectories.isEmpty
            let candidates = try transaction.nextWaiting(
                limit: isAmongSilent ? max(count, Self.mostSilent) : count,
                excluding: passedOver
            )
            let silent = candidates.filter { surroundings.isSilent($0.directory) }
            guard !silent.isEmpty else { return candidates }
            passedOver.silentDirectories.formUnion(silent.map(\.directory))
            // A folder may be written in other bytes than an equal one in the set.
            passedOver.ids.formUnion(silent.map(\.id))
        }
    }

    /// Returns the tasks, `count` at most, that get the slots of tasks that have arrived.
    ///
    /// Tasks with a file are left out, because only the slot gives the right to touch the file.
    private func next(
        _ count: Int,
        _ transaction: Transaction,
        _ surroundings: Surroundings,
        _ passedOver: inout QueueExclusions
    ) throws -> [Next] {
        guard count > 0 else { return [] }
        return try candidates(count, transaction, surroundings, &passedOver).prefix(count)
            .compactMap { candidate in
                let obstacle = surroundings.obstacle(
                    for: candidate.origin,
                    directory: candidate.directory,
                    hasFile: candidate.hasFile
                )
                guard obstacle == nil, !candidate.hasFile, !isBusy(candidate.id)
                else { return nil }
                if terms.ahead[candidate.id] != nil { return .known(candidate.id) }
                guard let record = try? transaction.task(candidate.id), record.intent == nil else {
                    return nil
                }
                return .new(record)
            }
    }
}

extension WallTime {
    /// A placeholder for events that do not use the time.
    static let distantPast = WallTime(microseconds: 0)

    /// The present time of the calendar.
    package static var now: WallTime { TimeAndChance.system.date }
}
