// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging
package import iDownData
package import iDownState
package import iDownloader

/// The hub of the service: decides and commits every change, then carries out its effects in order.
///
/// A change is decided inside the transaction that records it, and not in memory before. So nobody
/// sees a change that a failed commit undoes, and two commands for one task cannot overtake each
/// other. Memory holds only the transfers that run, so 100,000 waiting tasks cost none.
///
/// Each part keeps its own state and is only used on the coordinator's executor.
package actor Coordinator {
    package nonisolated let executor: QueueExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    let store: Store
    let engine: Engine
    let log: Logger
    /// The clocks for all waits of the coordinator.
    nonisolated var time: TimeAndChance { engine.time }

    let commits = Commits()
    let slots: Slots
    let holds: Holds
    let space: SpaceWatch
    let retries = RetryTimer()
    let publications = Publications()
    let deletions = Deletions()
    let moves = Moves()
    private let countTelling = WantedWork()
    let clearing = Clearing()
    let custody = LoginCustody()
    let erasure = SecretErasure()
    let handOvers = HandOvers()
    let freshLinks = FreshLinks()
    let hosts = HostMemory()
    let endWaiters = EndWaiters()
    let verifications = Verifications()
    let restart = Restart()

    let trashing = Trashing()

    private(set) var announcer: (any Announcing)?
    private(set) var hasBegun = false
    private(set) var isStopping = false
    /// Resumes ``stop()`` once the last transfer is over.
    private let stops = Waiters<Bool, Void>()

    /// The time between two looks at a full disk; the disk is only looked at while a task waits for
    /// it.
    package static let spaceInterval: Duration = .seconds(10)

    /// The wait before a store that cannot be written is tried again.
    static let storeRetryInterval: Duration = .seconds(5)

    /// The longest that a verb waits for work on a disk beside the record; the intent is already
    /// durable then, and a hanging disk may take until tomorrow.
    static let longestPause: Duration = .seconds(1)

    /// The longest wait for a look at a folder, whose disk may hang.
    static let longestLook: Duration = .seconds(2)

    /// The wait before counts are told.
    ///
    /// Short enough for people to see no delay, and long enough for one signal about all that a
    /// script does at once.
    private static let countDelay: Duration = .milliseconds(50)

    /// The time for ending the transfers; the rest of a second is for closing the list.
    private static let stoppingTime: Duration = .milliseconds(700)

    package init(
        store: Store,
        engine: Engine,
        slots: Int,
        holdSettings: HoldSettings = HoldSettings(),
        executor: QueueExecutor,
        spaceInterval: Duration = Coordinator.spaceInterval,
        log: Logger
    ) {
        self.store = store
        self.engine = engine
        self.slots = Slots(count: slots, at: engine.time.now)
        self.holds = Holds(holdSettings)
        self.executor = executor
        self.space = SpaceWatch(interval: spaceInterval)
        self.log = log
    }

    /// Sends every change to an announcer from now on.
    package func announce(to announcer: any Announcing) async { self.announcer = announcer }

    /// Takes up the tasks that the last run left; nothing starts before ``begin()``.
    ///
    /// - Throws: `StoreFailure`.
    package func restore() async throws { try await restart.restore(in: self) }

    /// Tasks whose file the last run has published and this one recorded, before clients could
    /// listen; only the first if they are many.
    package var completedByRestore: [TaskSnapshot] { restart.completed }

    /// Starts the tasks that may run.
    package func begin() {
        guard !isStopping else { return }
        hasBegun = true
        fillSlots()
        moves.resume(in: self)
        clearing.begin(in: self)
        handOvers.watchClock(in: self)
    }

    // MARK: Commits

    /// Runs `body` in the next transaction; returns once that is durable, at the time that `time`
    /// says.
    func commit<Value: Sendable>(
        answering time: Commits.Queue.ReplyTime = .inOrder,
        _ body: @escaping @Sendable (Transaction) throws -> (Value, [Change])
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let answer: @Sendable (Result<Value, any Error>) -> Void = {
                continuation.resume(with: $0)
            }
            commits.append(.init(replyTime: time, answer: answer, body), in: self)
        }
    }

    /// Commits what `decide` changes in a task.
    ///
    /// - Returns: nil where `decide` changes nothing, or where there is no such task.
    func commitChange(
        of id: TaskID,
        answering time: Commits.Queue.ReplyTime = .inOrder,
        _ decide: @escaping @Sendable (inout TaskRecord) throws -> [Effect]
    ) async throws -> Change? {
        try await commit(answering: time) { transaction in
            guard let change = try transaction.change(id, decide), !change.effects.isEmpty
            else { return (nil, []) }
            return (change, [change])
        }
    }

    /// Commits what `decide` changes in each of some tasks, except those that cannot be read.
    ///
    /// - Returns: How many tasks `decide` was asked about.
    @discardableResult
    func commitChanges(
        of ids: @escaping @Sendable (Transaction) throws -> [TaskID],
        _ decide: @escaping @Sendable (inout TaskRecord) throws -> [Effect]
    ) async throws -> Int {
        try await commit { transaction in
            let changes = try ids(transaction).flatMap { id in
                try transaction.changeIfReadable(id, decide)
            }
            return (changes.count, changes)
        }
    }

    /// Commits one event that happened to a task.
    ///
    /// - Returns: nil where the event changes nothing, or where there is no such task.
    @discardableResult
    func recordEvent(_ event: Event, of id: TaskID) async throws -> Change? {
        let now = time.date
        return try await commitChange(of: id) { $0.apply(event, at: now, jitter: 0) }
    }

    /// Repeats `body` until it succeeds, because the store may not take it now, or until the service
    /// ends.
    func untilStored(
        orLog complaint: String,
        at level: Logger.Level = .error,
        _ body: () async throws -> Void
    ) async {
        while !isStopping {
            do {
                return try await body()
            } catch {
                log.log(level: level, "\(complaint): \(error)")
            }
            try? await time.sleep(for: Self.storeRetryInterval)
        }
    }

    /// Has slots filled in the next commit.
    func fillSlots() {
        slots.want()
        commits.begin(in: self)
    }

    /// Carries out the effects of a committed change, except for telling it.
    func carryOut(_ change: Change) {
        let (id, after) = (change.after.id, change.after)
        slots.note(change, in: self)
        endWaiters.note(change)
        handOvers.note(change, in: self)
        deletions.note(change, in: self)
        if !after.state.isBackOff {
            retries.remove(id)
            // A running task may just have met a server that asked for a pause.
            if after.state != .downloading { engine.hosts.forgetRests(of: id) }
        }
        for effect in change.effects {
            switch effect {
            case .persist, .fillSlots, .announce, .announceLater, .announceRemoved:
                break
            case .erase:
                engine.names.release(after.id)
                engine.forgetFindings(on: id)
            case .startTransfer:
                slots.start(after, in: self)
                // The task's new link may belong to an origin for which the task has to wait.
                if change.before?.state == .downloading { holds.adjust(in: self) }
            case .stopTransfer(let attempt):
                slots.stop(id, attempt)
            case .deletePartial:
                deletions.begin(of: after, in: self)
            case .moveFile:
                moves.begin(id, in: self)
            case .limitSpeed(let limit):
                engine.setSpeedLimit(of: id, to: limit)
            case .limitConnections(let number):
                slots.limitConnections(of: id, to: number)
            case .scheduleRetry(let wait):
                retries.schedule(id, after: wait, in: self)
            }
        }
        // The finished file itself takes its name from now on.
        if after.state == .completed { engine.names.release(after.id) }
        publications.note(after, isRunning: slots.running[id] != nil)
        custody.note(change, for: self)
        erasure.note(change, in: self)
        if after.state == .waiting(.space) { space.noteHold(of: after, in: self) }
        if change.changesCounts { tellCounts() }
    }

    /// Tells how many tasks are in each state, after a short delay: a burst of changes causes one
    /// signal.
    ///
    /// They may be the counts that were told last: a client may have read others in between.
    private func tellCounts() {
        countTelling.want(after: Self.countDelay, in: self) { [self] in
            guard let counts = try? await counts() else { return }
            await announcer?.countsChanged(counts)
        }
    }

    /// Runs a body on the coordinator, after everything that already waits there.
    nonisolated func post(_ body: @escaping @Sendable (isolated Coordinator) -> Void) {
        executor.post { self.assumeIsolated(body) }
    }

    /// Runs a body once all that was announced of a task so far has been sent.
    func afterSignals(
        of id: TaskID,
        _ body: @escaping @Sendable (isolated Coordinator) -> Void
    ) async {
        guard let announcer, !isStopping else { return post(body) }
        await announcer.call({ self.post(body) }, after: [id])
    }

    // MARK: The end

    func refuseWhileStopping() throws(ServiceRefusal) {
        if isStopping { throw .stopping }
    }

    /// Refuses new requests and ends all transfers, each with a checkpoint.
    ///
    /// When this returns, all that was committed has been answered, and nothing is committed any
    /// more. Bytes that a slow disk has not synced in time stay out of the record and are fetched
    /// again.
    package func stop() async {
        guard !isStopping else { return }
        isStopping = true
        retries.stop()
        holds.stop()
        space.stop()
        deletions.stop()
        moves.stop()
        publications.stop()
        clearing.stop()
        custody.stop()
        erasure.stop()
        handOvers.stop()
        endWaiters.stop()
        verifications.stop()
        commits.refuseClients()
        slots.stop()
        if !isQuiet { _ = await stops.wait(for: true, atMost: Self.stoppingTime, in: self) }
        await commits.close()
        await announcer?.answerAll()
        await hosts.finish(in: self)
    }

    /// Whether nothing is under way that the end of the service waits for.
    private var isQuiet: Bool { slots.isEmpty && trashing.isIdle }

    /// Notes the end of a transfer, or of something else that the end of the service waits for.
    func noteEnd() { if isQuiet { stops.release(true, with: ()) } }
}

// MARK: Conditions and settings

extension Coordinator {
    /// Sets whether there is a network; called at each change.
    package func setOnline(_ isOnline: Bool) { holds.change(in: self) { $0.isOnline = isOnline } }

    /// Sets what the desktop's services say of network and power, all but whether there is a network;
    /// called at each change.
    package func setConditions(_ conditions: Conditions) {
        holds.change(in: self) { present in
            let isOnline = present.isOnline
            present = conditions
            present.isOnline = isOnline
        }
    }

    /// Changes what tasks wait for; this acts at once, on running tasks too.
    package func setHoldSettings(_ settings: HoldSettings) { holds.change(settings, in: self) }

    /// Changes how many tasks may run; this acts at once.
    package func setSlots(_ slots: Int) {
        self.slots.change(to: slots)
        fillSlots()
    }

    /// Changes how long completed tasks stay in the list; 0 means for ever.
    package func keepCompleted(days: Int) { clearing.keep(days: days, in: self) }

    /// Reads the stored host knowledge from a file, and stores later host knowledge there.
    package func rememberHosts(in file: HostsFile) { hosts.use(file, for: engine) }

    /// Keeps logins in a vault from now on; to be called again whenever it may have been opened.
    package func keepLogins(in vault: any LoginVault) { custody.keep(in: vault, for: self) }

    /// Waits until a stopped transfer has recorded the bytes that it kept.
    func transferEnd(of id: TaskID) async { await slots.waitForEnd(of: id, in: self) }

    /// Ends all transfers before the computer sleeps; returns once they are over.
    package func fallAsleep() async { await holds.fallAsleep(in: self) }

    /// Starts tasks again after a sleep, with fresh connections.
    package func awaken() { holds.awaken(in: self) }

    package var isAsleep: Bool { holds.isAsleep }
}
