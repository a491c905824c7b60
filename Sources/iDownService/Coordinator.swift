// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging
package import iDownData
package import iDownState
package import iDownloader

/// The hub: has every change decided and committed, and then carries out its effects in order.
///
/// A change is decided inside the transaction that records it, and not in memory before. So nobody
/// has seen what a failed commit undoes, and two commands for one task cannot overtake each other.
/// Memory holds only the transfers that run, so 100,000 waiting tasks cost none.
package actor Coordinator {
    package nonisolated let executor: QueueExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    let store: Store
    let engine: Engine
    let log: Logger
    /// The clocks that everything here waits by.
    nonisolated var time: TimeAndChance { engine.time }

    /// How many tasks may run at once.
    var slots: Int
    var running: [TaskID: RunningTransfer] = [:]
    var meters: [TaskID: SpeedMeter] = [:]
    /// Those in `running` whose task is not downloading any more: nothing is told of them.
    var settled: Set<TaskID> = []
    /// Those in `running` that have their whole file, which only wants its name.
    var arrived: Set<TaskID> = []
    /// Transfers of tasks that wait for the slots of those.
    var ahead: [TaskID: HeadStart] = [:]
    /// Deletions under way, so that the verb that asked for one can wait for it: of each task the
    /// number of the last one.
    var deletions: [TaskID: Int] = [:]
    var lastDeletion = 0
    var deletionWaiters: [TaskID: [CheckedContinuation<Void, Never>]] = [:]
    var transferWaiters: [TaskID: [CheckedContinuation<Void, Never>]] = [:]
    /// Work on files that the file system refused, to be tried again.
    var repeats: [TaskID: Task<Void, Never>] = [:]
    /// Records whose intent could not be carried out at the start.
    var unsettled: [TaskRecord] = []
    var backOffs = BackOffs()
    var backOffTimer: Task<Void, Never>?
    /// When the timer ends.
    var backOffEnd: BackOffs.Instant?
    /// What the computer is like; those who know tell.
    var conditions = Conditions()
    /// What the user wants to wait for.
    var holdWishes: HoldWishes
    /// Brings the tasks in line with both; nil while they are.
    var adjuster: Task<Void, Never>?
    var needsAdjustment = false
    /// Between the announcement of a sleep and the awakening nothing starts.
    package internal(set) var isAsleep = false
    /// Looks after full disks; nil while no task waits for one.
    var spaceWatch: Task<Void, Never>?
    var hasNewSpaceHold = false
    var spaceMeasures: [String: Task<Void, Never>] = [:]
    var fullDirectories: Set<String> = []
    let spaceInterval: Duration
    /// Tells of progress; nil while nothing runs.
    var publisher: Task<Void, Never>?
    /// Tells of the counts; nil while they are as last told.
    var countTeller: Task<Void, Never>?
    var countsAreStale = false
    var toldCounts = TaskCounts()
    /// Where it is kept what was learned of hosts; nil keeps nothing.
    var hostsFile: HostsFile?
    var hostKeeper: Task<Void, Never>?
    /// Takes the logins out of URLs.
    var custody = LoginCustody()
    /// Calls that wait for the end of a task.
    var endWaiters = EndWaiters()
    /// How long completed tasks stay in the list; nil is for ever.
    var keeping: Duration?
    /// Takes completed tasks off the list when their time is over; nil where none is.
    var clearer: Task<Void, Never>?
    var stopWaiter: CheckedContinuation<Void, Never>?
    var announcer: (any Announcing)?
    /// Tasks whose file the last run has published and this one recorded, before anybody listened;
    /// the first of them where they are many.
    package internal(set) var completedByRestore: [TaskSnapshot] = []
    var hasBegun = false
    var isStopping = false

    /// What everybody knows of tasks that have changed since in what is told later.
    private var untold: [TaskID: TaskRecord] = [:]
    private var queue = CommitQueue()
    private(set) var committer: Task<Void, Never>?
    /// Slots are to be filled although no change says so.
    private var wantsSlots = false
    /// Tasks whose turn came while their last transfer still ended.
    private var heldUp: Set<TaskID> = []
    private var slotRetry: Task<Void, Never>?
    private var startOrder: Int64 = 0
    /// Tasks whose file is being given its name, and who waits for that to be over.
    private var publications: [TaskID: [CheckedContinuation<Void, Never>]] = [:]

    /// A store that cannot be written is tried again at this pace.
    static let storeRetryInterval: Duration = .seconds(5)

    /// A change of many tasks is carried out in pieces of so many.
    static let changesInARow = 64

    package init(
        store: Store,
        engine: Engine,
        slots: Int,
        holdWishes: HoldWishes = HoldWishes(),
        executor: QueueExecutor,
        spaceInterval: Duration = Coordinator.spaceInterval,
        log: Logger
    ) {
        self.store = store
        self.engine = engine
        self.slots = slots
        self.holdWishes = holdWishes
        self.executor = executor
        self.spaceInterval = spaceInterval
        self.log = log
    }
}

extension Coordinator {
    /// From now on this one hears of every change.
    package func announce(to announcer: any Announcing) async {
        self.announcer = announcer
        toldCounts = (try? await counts()) ?? toldCounts
    }
}

// MARK: Commits

extension Coordinator {
    /// Has `body` run in the next transaction; returns once that is durable, when its turn comes.
    func commit<Value: Sendable>(
        answering turn: CommitQueue.Turn = .inOrder,
        _ body: @escaping @Sendable (Transaction) throws -> (Value, [Change])
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            commit(
                answering: turn,
                answer: { continuation.resume(with: $0) },
                body
            )
        }
    }

    /// The same without a task that waits: `answer` is called where the other would return.
    func commit<Value: Sendable>(
        answering turn: CommitQueue.Turn,
        answer: @escaping @Sendable (Result<Value, any Error>) -> Void,
        _ body: @escaping @Sendable (Transaction) throws -> (Value, [Change])
    ) {
        queue.append(CommitQueue.Entry(turn: turn, answer: answer, body))
        startCommitting()
    }

    /// Looks whether a slot can be filled.
    func fillSlots() {
        wantsSlots = true
        startCommitting()
    }

    /// The task's transfer is over: it gets its slot, if it was only for that that it had none.
    func fillHeldSlot(of task: TaskID) {
        if heldUp.remove(task) != nil { fillSlots() }
    }

    /// Looks again after the store has failed; a full disk may have room by then.
    private func fillSlotsLater() {
        guard slotRetry == nil, !isStopping else { return }
        slotRetry = Task {
            try? await time.sleep(for: Self.storeRetryInterval)
            slotRetry = nil
            fillSlots()
        }
    }

    private func startCommitting() {
        guard committer == nil else { return }
        committer = Task {
            // Calls that have arrived already are read before the commit, and share it.
            await Task.yield()
            while !queue.isEmpty || wantsSlots { await commitOnce() }
            committer = nil
            releaseStopIfDone()
        }
    }

    private func commitOnce() async {
        let entries = queue.takeAll()
        let scheduling = SchedulingPass(
            slots: slots,
            busy: Set(running.keys).union(ahead.keys.filter { ahead[$0]?.isDropped == true }),
            arrived: arrived,
            ahead: ahead.filter { !$0.value.isDropped }.mapValues(\.arrival),
            firstOrder: startOrder + 1,
            isWanted: wantsSlots,
            mayStart: hasBegun && !isStopping && !isAsleep,
            surroundings: surroundings,
            date: { [time] in time.date }
        )
        wantsSlots = false
        var bodies = entries.map { entry in
            { @Sendable (transaction: Transaction) in
                let outcome = try entry.run(transaction)
                scheduling.note(outcome.changes)
                return outcome
            }
        }
        bodies.append { transaction in
            CommitQueue.Outcome(changes: try scheduling.run(transaction)) {}
        }
        let results = await store.commit(bodies)
        for task in scheduling.heldUp {
            // Its transfer may have come to its end during the commit.
            if running[task] == nil, ahead[task] == nil {
                wantsSlots = true
            } else {
                heldUp.insert(task)
            }
        }
        for case (let entry, .success(let outcome)) in zip(entries, results)
        where entry.turn == .first {
            outcome.reply()
        }
        startAdmitted(by: results)
        if let next = scheduling.next { keepAhead(next, after: results.last) }
        for (index, result) in results.enumerated() {
            switch result {
            case .success(let outcome):
                writeDown(outcome.changes)
                for (number, change) in outcome.changes.enumerated() {
                    // Calls that need none of this are answered in between.
                    if number % Self.changesInARow == Self.changesInARow - 1 { await Task.yield() }
                    await carryOut(change)
                }
                switch index < entries.count ? entries[index].turn : .inOrder {
                case .first:
                    break
                case .inOrder:
                    outcome.reply()
                case .afterSignals:
                    await answer(outcome)
                }
            case .failure(let error) where index < entries.count:
                entries[index].refuse(error)
            case .failure(let error):
                log.error("the queue cannot be moved on: \(error)")
                fillSlotsLater()
            }
        }
    }

    private func answer(_ outcome: CommitQueue.Outcome) async {
        guard let announcer else { return outcome.reply() }
        await announcer.call(outcome.reply, after: outcome.changes.map(\.after.id))
    }

    /// Starts the transfers of tasks to which a commit did nothing but admit them, before
    /// anybody is told of the commit's changes.
    ///
    /// Not where those are so many that others get a turn in between: progress of a task would be
    /// told before its start.
    private func startAdmitted(by results: [Result<CommitQueue.Outcome, any Error>]) {
        let lists = results.map { (try? $0.get().changes) ?? [] }
        guard lists.reduce(0, { $0 + $1.count }) < Self.changesInARow else { return }
        let changes = lists.flatMap(\.self)
        for change in changes where change.starts {
            let isAlone = changes.count { $0.after.id == change.after.id } == 1
            if isAlone { startTransfer(of: change.after) }
        }
    }

    private func carryOut(_ change: Change) async {
        let id = change.after.id
        if !change.starts { drop(id) }
        if change.after.state != .downloading, running[id] != nil { settled.insert(id) }
        if !change.after.isInBackOff {
            backOffs.remove(id)
            // While it runs it may just have met a host that rests.
            if change.after.state != .downloading { engine.rests.forget(id) }
        }
        for effect in change.effects {
            switch effect {
            case .persist, .fillSlots:
                break
            case .erase:
                engine.forgetName(of: change.after)
                engine.forgetFindings(on: id)
            case .announce:
                await announce(change)
            case .announceLater:
                untold[id] = untold[id] ?? change.before
            case .announceRemoved:
                untold[id] = nil
                await announcer?.taskRemoved(id)
            case .startTransfer:
                guard running[id]?.attempt != change.after.attempt else { continue }
                startTransfer(of: change.after)
            case .stopTransfer(let attempt):
                if let transfer = running[id], transfer.attempt == attempt { transfer.stop() }
            case .deletePartial:
                deletePartial(of: change.after)
            case .limitSpeed(let limit):
                engine.setSpeedLimit(of: id, to: limit)
            case .limitConnections(let number):
                running[id]?.limitConnections(to: number)
            case .scheduleRetry(let wait):
                scheduleRetry(of: id, after: wait)
            }
        }
        // The finished file holds its name by itself from now on.
        if change.after.state == .completed { engine.forgetName(of: change.after) }
        notePublication(of: change.after)
        noteLogins(of: change)
        await tellWaiters(of: change)
        if change.after.state == .waiting(.space) { noteSpaceHold(of: change.after) }
        if change.changesCounts { countsDidChange() }
    }

    private func announce(_ change: Change) async {
        let after = snapshot(of: change.after)
        if let before = untold.removeValue(forKey: change.after.id) ?? change.before {
            await announcer?.taskChanged(from: snapshot(of: before), to: after)
        } else {
            await announcer?.taskAdded(after)
        }
    }

    private func startTransfer(of record: TaskRecord) {
        startOrder = max(startOrder, record.startOrder)
        // Decided before the stop, committed after it: it starts with the next service.
        guard !isStopping else { return }
        let transfer =
            takeHeadStart(of: record) ?? engine.start(TransferJob(record), journal: self)
        running[record.id] = transfer
        settled.remove(record.id)
        meters[record.id] = SpeedMeter(bytes: transfer.live.bytes, at: Self.uptime)
        transfersDidStart()
    }

    // MARK: Publications

    enum PublicationEnd {
        /// There is nothing to wait for any more.
        case over
        /// Nobody was at work on it; or the service ends, and nobody would tell.
        case unknown
        /// The disk does not answer.
        case hangs
    }

    /// Waits until the file of a task has its name, or has not; no longer than ``longestPause``.
    func publicationEnd(of id: TaskID) async -> PublicationEnd {
        guard publications[id] != nil, !isStopping else { return .unknown }
        let deadline = time.now + Self.longestPause
        let limit = afterLongestPause { $0.releasePublicationWaiters(of: id) }
        await withCheckedContinuation { waiter in
            // Others may have had a turn on the way here: what was released by then is over.
            guard publications[id] != nil, !isStopping else { return waiter.resume() }
            publications[id]?.append(waiter)
        }
        limit.cancel()
        return publications[id] != nil && time.now >= deadline ? .hangs : .over
    }

    private func releasePublicationWaiters(of id: TaskID) {
        guard let waiters = publications[id] else { return }
        publications[id] = []
        for waiter in waiters { waiter.resume() }
    }

    private func notePublication(of record: TaskRecord) {
        if record.isPublishing, running[record.id] != nil {
            publications[record.id] = publications[record.id] ?? []
        } else {
            for waiter in publications.removeValue(forKey: record.id) ?? [] { waiter.resume() }
        }
    }

    /// Whoever waits for a file learns that the service ends.
    func releaseFileWaiters() {
        for waiters in publications.values { for waiter in waiters { waiter.resume() } }
        publications = [:]
        for id in deletionWaiters.keys { releaseDeletionWaiters(of: id) }
        for id in transferWaiters.keys { releaseTransferWaiters(of: id) }
    }
}
