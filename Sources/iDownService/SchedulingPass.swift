// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownData
import iDownState

/// The last step of each transaction, which fills the slots that its changes have freed.
final class SchedulingPass: Sendable {
    /// The most tasks of disks that do not answer that one query finds.
    private static let mostSilent = 256

    let slots: Int
    /// Whether tasks go back to the queue if more run than there are slots.
    private let displaces: Bool
    /// Running tasks that take no slot, because their disk does not answer.
    private let uncounted: Set<TaskID>
    /// Tasks whose transfer runs or is ending: no second transfer is started beside it.
    private let busy: Set<TaskID>
    /// Running tasks that have their whole file, and fetch nothing more.
    private let arrived: Set<TaskID>
    /// Queued tasks with a head start, each with the arrival that waits to be recorded, or nil.
    private let ahead: [TaskID: TransferEvent?]
    private let firstOrder: Int64
    /// Whether tasks may start: not before the service has begun, and not while it ends.
    private let mayStart: Bool
    /// Called when the pass runs, because changes of the transaction may affect the result.
    private let surroundings: @Sendable () -> Surroundings
    private let date: @Sendable () -> WallTime
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

    init(
        slots: Int,
        displaces: Bool = true,
        uncounted: Set<TaskID> = [],
        busy: Set<TaskID>,
        arrived: Set<TaskID> = [],
        ahead: [TaskID: TransferEvent?] = [:],
        firstOrder: Int64,
        isWanted: Bool,
        mayStart: Bool,
        surroundings: @escaping @Sendable () -> Surroundings = {
            Surroundings(conditions: Conditions(isOnline: true))
        },
        date: @escaping @Sendable () -> WallTime = { .now }
    ) {
        self.slots = slots
        self.displaces = displaces
        self.uncounted = uncounted
        self.busy = busy
        self.arrived = arrived
        self.ahead = ahead
        self.firstOrder = firstOrder
        self.mayStart = mayStart
        self.surroundings = surroundings
        self.date = date
        self.isWanted = Mutex(isWanted)
    }

    /// Notes what the transaction has changed so far.
    func note(_ changes: [Change]) {
        for change in changes where ahead[change.after.id] != nil {
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
        guard isWanted.withLock({ $0 }), mayStart else {
            if !mayStart { comesNext.withLock { $0 = [] } }
            return []
        }
        let surroundings = surroundings()
        var admission = Admission(transaction, surroundings, at: date())
        let running = try transaction.running().filter { !uncounted.contains($0.id) }
        var order = firstOrder
        var changes: [Change] = []
        while true {
            let started = changes.count(where: \.starts)
            let free = slots - running.count - started
            // Of a disk that does not answer there may be many folders: they are found by the hundred.
            let isAmongSilent = free > 0 && !admission.passedOver.silentDirectories.isEmpty
            let candidates = try transaction.nextWaiting(
                limit: isAmongSilent ? max(free, Self.mostSilent) : max(0, free),
                excluding: admission.passedOver
            )
            let silent = candidates.filter { surroundings.isSilent($0.directory) }
            guard silent.isEmpty else {
                admission.passedOver.silentDirectories.formUnion(silent.map(\.directory))
                // A folder may be written in other bytes than an equal one in the set.
                admission.passedOver.ids.formUnion(silent.map(\.id))
                continue
            }
            let decisions = Scheduler.decide(
                slots: max(slots - started, displaces ? 0 : running.count),
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
                    let arrival = ahead[id] ?? nil
                    let change = try candidate.flatMap {
                        try admission.admit($0, order: order, arrival: arrival)
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
                running.count { !arrived.contains($0.id) }
                + changes.count { $0.starts && (ahead[$0.after.id] ?? nil) == nil }
            let finished = running.count + changes.count(where: \.starts) - fetching
            let next = try next(
                min(finished, slots - fetching),
                transaction,
                admission.passedOver
            )
            comesNext.withLock { $0 = next }
            return changes
        }
    }

    private func isBusy(_ id: TaskID) -> Bool {
        busy.contains(id) || changed.withLock { $0.contains(id) }
    }

    /// Returns the tasks, `count` at most, that get the slots of tasks that have arrived.
    ///
    /// Tasks with a file are left out, because only the slot gives the right to touch the file.
    private func next(
        _ count: Int,
        _ transaction: Transaction,
        _ passedOver: QueueExclusions
    ) throws -> [Next] {
        guard count > 0 else { return [] }
        let surroundings = surroundings()
        return try transaction.nextWaiting(limit: count, excluding: passedOver)
            .compactMap { candidate in
                let obstacle = surroundings.obstacle(
                    for: candidate.origin,
                    directory: candidate.directory,
                    hasFile: candidate.hasFile
                )
                guard obstacle == nil, !surroundings.isSilent(candidate.directory),
                    !candidate.hasFile, !isBusy(candidate.id)
                else { return nil }
                if ahead[candidate.id] != nil { return .known(candidate.id) }
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
}
