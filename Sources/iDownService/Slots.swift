// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState
import iDownloader

/// The slots, and the transfers that run in them or begin ahead of them.
final class Slots {
    /// How long a handed-over task waits for its slot with its answer open.
    ///
    /// Most servers keep an answer open no longer, and an open answer takes the place of another
    /// connection to the host.
    private static let longestWait: Duration = .seconds(60)

    /// A handed-over task for which the browser got no answer waits with its answer open only while
    /// fewer tasks than this do.
    ///
    /// The server is asked again for other such tasks when they get slots: a page of links would
    /// otherwise take all connections to its host.
    private static let mostUnseen = 4

    /// The time between two announcements of a task's progress (contract, TaskChanged).
    private static let progressInterval: Duration = .milliseconds(500)

    /// A disk that has not answered for this long takes no slot.
    ///
    /// Its tasks take slots again when it answers. More tasks than ``count`` may run then until
    /// some have ended.
    static let stuckAfter: Duration = .seconds(10)

    /// How many tasks may run at once.
    private(set) var count: Int
    /// ``count`` at the last pass: a lower number since then sends tasks back to the queue.
    ///
    /// While a disk does not answer, the highest ``count`` since then: its tasks take slots again
    /// later, and only then more may run than are allowed now.
    private var lastCount: Int
    /// The transfer of each task that has one, as long as it holds a connection or a file.
    private(set) var running: [TaskID: RunningTransfer] = [:]
    /// The head starts of tasks that will get the slots of tasks that have arrived.
    private(set) var ahead: [TaskID: HeadStart] = [:]
    /// The time limits of handed-over tasks that wait for their slots.
    private var patience: [TaskID: Task<Void, Never>] = [:]
    /// Tasks that keep their slot while their last transfer ends, and then start the next one.
    private var pendingStarts: [TaskID: TaskRecord] = [:]
    /// Running tasks that were stopped or are not downloading any more: no progress of theirs is
    /// told.
    private var settled: Set<TaskID> = []
    /// Running tasks that have their whole file, which only needs its name.
    private var arrived: Set<TaskID> = []
    /// Running tasks whose start has not been told yet.
    private var untold: Set<TaskID> = []
    /// Tasks that could not start because their last transfer was still ending.
    private var heldUp: Set<TaskID> = []
    private var meters: [TaskID: RateMeter] = [:]
    /// The folders between which the files of downloading tasks are moved.
    private var moving: [TaskID: [String]] = [:]
    /// The transfers and moves whose disk has not answered for ``stuckAfter``, each with the
    /// disk's device number.
    private var stuck: [TaskID: UInt64] = [:]
    private var startOrder: Int64 = 0
    /// Whether the next commit has to fill slots even if no change asks for it.
    private(set) var isWanted = false
    /// The calls that wait for the end of a transfer.
    private let ends = Waiters<TaskID, Void>()
    /// Tells progress, and looks at the disks; nil while no transfer runs and nothing is moved.
    private var publisher: Task<Void, Never>?
    /// The start of the clock that measures speeds.
    private let origin: TimeAndChance.Instant

    init(count: Int, at origin: TimeAndChance.Instant) {
        self.count = count
        lastCount = count
        self.origin = origin
    }

    /// Whether no transfer holds a connection or a file.
    var isEmpty: Bool { running.isEmpty && ahead.isEmpty }

    /// Changes how many tasks may run.
    func change(to count: Int) { self.count = count }

    /// Has the next commit fill slots.
    func want() { isWanted = true }

    // MARK: Filling

    /// Returns the last step of a transaction, which fills slots, with what runs at this moment.
    func pass(in coordinator: isolated Coordinator) -> SchedulingPass {
        defer { isWanted = false }
        let terms = SchedulingPass.Terms(
            slots: count,
            displaces: count < lastCount,
            uncounted: Set(stuck.keys),
            busy: Set(running.keys).union(ahead.keys.filter { ahead[$0]?.isDropped == true }),
            arrived: arrived,
            ahead: ahead.filter { !$0.value.isDropped }.mapValues(\.arrival),
            firstOrder: startOrder + 1,
            mayStart: coordinator.hasBegun && !coordinator.isStopping
                && !coordinator.holds.isAsleep,
            surroundings: coordinator.holds.surroundings(in: coordinator),
            date: { [time = coordinator.time] in time.date }
        )
        return SchedulingPass(terms, isWanted: isWanted)
    }

    /// Applies the result of a pass.
    ///
    /// - Parameters:
    ///   - pass: a pass that has run.
    ///   - changes: what the pass changed; nil where that was not committed.
    ///   - coordinator: the owner.
    func take(_ pass: SchedulingPass, _ changes: [Change]?, in coordinator: isolated Coordinator) {
        for task in pass.heldUp {
            // The transfer may have ended during the commit.
            if running[task] == nil, ahead[task]?.isDropped != true {
                isWanted = true
            } else {
                heldUp.insert(task)
            }
        }
        // A pass that was not committed has no result.
        guard let changes, let next = pass.next else { return }
        lastCount = stuck.isEmpty ? pass.terms.slots : max(lastCount, pass.terms.slots)
        let wanted = Set(next.map(\.id) + changes.filter(\.starts).map(\.after.id))
        for id in ahead.keys.sorted() where !wanted.contains(id) {
            if ahead[id]?.isHandedOver == false { drop(id) }
        }
        guard !coordinator.isStopping else { return }
        for record in next.compactMap(\.record) where ahead[record.id] == nil {
            // A handed-over task already has a transfer, which comes with it.
            if coordinator.handOvers.holdsTransfer(of: record.id) { continue }
            ahead[record.id] = HeadStart(record, on: coordinator.engine, for: coordinator)
        }
    }

    // MARK: Transfers

    /// Takes over the transfer of a handed-over task until the task has its slot.
    ///
    /// - Parameters:
    ///   - start: the transfer, which holds its answer open.
    ///   - id: the task.
    ///   - isSeen: whether the browser got an answer of its own, so that the server may give no
    ///     other.
    ///   - coordinator: the owner.
    func keep(
        _ start: HeadStart,
        for id: TaskID,
        isSeen: Bool,
        in coordinator: isolated Coordinator
    ) {
        ahead[id] = start
        guard isSeen || patience.count < Self.mostUnseen else { return drop(id) }
        patience[id] = Task {
            guard (try? await coordinator.time.sleep(for: Self.longestWait)) != nil else { return }
            drop(id)
        }
    }

    /// The answers that handed-over tasks hold open while they wait for their slots.
    var answers: [TaskID: OfferedFile] {
        ahead.filter { !$0.value.isDropped }.compactMapValues(\.answer)
    }

    /// How many handed-over tasks wait for their slots with their answers open.
    var openAnswers: Int { patience.count }

    /// Returns how many of these answers are of one host.
    func openAnswers(of host: Origin?) -> Int { patience.keys.count { ahead[$0]?.origin == host } }

    /// Starts the transfer of a task once its last one is over, or goes on with its head start.
    func start(_ record: TaskRecord, in coordinator: isolated Coordinator) {
        startOrder = max(startOrder, record.startOrder)
        // The start was decided before the service stopped, and takes effect in its next run.
        guard running[record.id]?.attempt != record.attempt, !coordinator.isStopping else { return }
        guard running[record.id] == nil else {
            pendingStarts[record.id] = record
            return
        }
        let transfer =
            takeHeadStart(of: record)
            ?? coordinator.engine.start(TransferJob(record), journal: Journal(coordinator))
        running[record.id] = transfer
        settled.remove(record.id)
        untold.insert(record.id)
        let moment = coordinator.time.now - origin
        meters[record.id] = RateMeter(
            count: transfer.live.bytes,
            at: moment,
            over: Self.progressInterval
        )
        publish(in: coordinator)
    }

    /// Returns the head start's transfer for a task that runs now; nil where there is none.
    private func takeHeadStart(of record: TaskRecord) -> RunningTransfer? {
        guard let start = ahead[record.id], !start.isDropped else { return nil }
        ahead[record.id] = nil
        patience.removeValue(forKey: record.id)?.cancel()
        // The transfer waited with a complete file, which was recorded with the start.
        if record.isPublishing { arrived.insert(record.id) }
        start.journal.settle(.hasSlot(isRecorded: record.isPublishing))
        return start.transfer
    }

    /// Applies a task's change to its transfers: a head start goes on only if its task starts, and
    /// no progress is told of a task that is not downloading.
    func note(_ change: Change, in coordinator: isolated Coordinator) {
        let id = change.after.id
        // A handed-over task whose change leaves its place in the queue and what its transfer needs
        // keeps its answer open, because the server may not answer again.
        let isUntouched =
            change.after.state == .waiting(.queue)
            && change.before?.request.forTransfer == change.after.request.forTransfer
        if !change.starts, ahead[id]?.isHandedOver != true || !isUntouched { drop(id) }
        if change.after.state != .downloading, running[id] != nil { settled.insert(id) }
        if change.after.state == .downloading, let place = change.after.destination {
            moving[id] = [change.after.request.directory, place.directory]
            publish(in: coordinator)
        } else if moving.removeValue(forKey: id) != nil {
            stuck[id] = nil
        }
        if pendingStarts[id] != nil {
            // While its file moves, the task has no transfer; the end of the move starts the next
            // one.
            let mayStart = change.after.state == .downloading && !change.after.isMoving
            pendingStarts[id] = mayStart ? change.after : nil
        }
    }

    /// Changes the most connections of a task's transfer, whether the task has its slot yet or not.
    func limitConnections(of id: TaskID, to number: Int?) {
        (running[id] ?? ahead[id]?.transfer)?.limitConnections(to: number)
    }

    /// Notes that the start of a task has been told.
    func noteTold(_ id: TaskID) { untold.remove(id) }

    /// Notes that the file of a running task is complete.
    func noteArrival(of id: TaskID, _ attempt: AttemptNumber) {
        if running[id]?.attempt == attempt { arrived.insert(id) }
    }

    /// Ends the transfer of a task.
    func stop(_ id: TaskID, _ attempt: AttemptNumber) {
        guard let transfer = running[id], transfer.attempt == attempt else { return }
        transfer.stop()
        settled.insert(id)
    }

    /// Ends a head start whose task does not get the slot, or has changed.
    private func drop(_ id: TaskID) {
        guard ahead[id]?.isDropped == false else { return }
        patience.removeValue(forKey: id)?.cancel()
        ahead[id]?.drop()
    }

    /// Notes the end of a transfer, and starts the next one of a task that kept its slot.
    ///
    /// - Returns: whether a task may start now, because only this transfer was in its way.
    func end(_ id: TaskID, in coordinator: isolated Coordinator) -> Bool {
        running[id] = nil
        ends.release(id, with: ())
        settled.remove(id)
        arrived.remove(id)
        untold.remove(id)
        meters[id] = nil
        let wasStuck = stuck.removeValue(forKey: id) != nil
        if let record = pendingStarts.removeValue(forKey: id) {
            start(record, in: coordinator)
            // The task was downloading before, so its progress may be told at once.
            untold.remove(id)
        }
        return heldUp.remove(id) != nil || wasStuck
    }

    /// Notes the end of a head start that did not get the slot.
    ///
    /// - Returns: whether the task may start again now, because only this transfer was in its way.
    func endAhead(_ id: TaskID) -> Bool {
        ahead[id] = nil
        return heldUp.remove(id) != nil
    }

    /// Waits until a stopped transfer has recorded the bytes that it kept, but no longer than
    /// ``Coordinator/longestPause``: a disk may hang, and the pause itself is durable already.
    func waitForEnd(of id: TaskID, in coordinator: isolated Coordinator) async {
        guard running[id] != nil, settled.contains(id), !coordinator.isStopping else { return }
        _ = await ends.wait(for: id, atMost: Coordinator.longestPause, in: coordinator)
    }

    /// Ends all transfers, each with a checkpoint, because the service ends.
    func stop() {
        publisher?.cancel()
        ends.releaseAll(with: ())
        for transfer in running.values { transfer.stop() }
        for id in ahead.keys.sorted() { drop(id) }
    }

    // MARK: Disks that do not answer

    /// How many downloads take no slot, because their disk does not answer.
    var stuckCount: Int { stuck.keys.count { !settled.contains($0) } }

    /// The tasks with a transfer whose disk does not answer.
    var stuckTasks: Set<TaskID> { Set(stuck.keys).intersection(running.keys) }

    /// Returns a function that tells whether the disk of a folder does not answer.
    func stuckFolders(on disk: DiskQueue) -> @Sendable (String) -> Bool {
        let devices = Set(stuck.values)
        return { !devices.isEmpty && disk.fileSystem(of: $0).map(devices.contains) == true }
    }

    /// Returns whether the disk of this folder has not answered a task for ``stuckAfter``.
    func isStuck(_ id: TaskID, in directory: String, on disk: DiskQueue) -> Bool {
        disk.isStuck(
            in: directory,
            isVerifying: running[id]?.live.activity == .verifying,
            for: Self.stuckAfter
        )
    }

    /// Looks which disks do not answer, tells their transfers, and fills slots if one gets stuck or
    /// answers again.
    private func noteStuckDisks(in coordinator: isolated Coordinator) {
        let disk = coordinator.engine.disk
        var now: [TaskID: UInt64] = [:]
        for (id, folders) in running.mapValues({ [$0.directory] }).merging(
            moving,
            uniquingKeysWith: +
        ) {
            now[id] = folders.first { isStuck(id, in: $0, on: disk) }.flatMap(disk.fileSystem)
        }
        for (id, transfer) in running { transfer.noteDisk(isStuck: now[id] != nil) }
        guard now != stuck else { return }
        stuck = now
        coordinator.fillSlots()
    }

    // MARK: What clients see

    /// The speed of all tasks together, in bytes a second.
    var speed: UInt64 { meters.keys.reduce(0) { $0 &+ speed(of: $1) } }

    private func speed(of id: TaskID) -> UInt64 { UInt64(meters[id]?.perSecond ?? 0) }

    /// Returns a task as clients see it at this moment; with `isTold`, as they were told of it before
    /// a change.
    ///
    /// What a stopped transfer has received since was not told, so that its last checkpoint is.
    func snapshot(of shared: Shared<TaskRecord>, isTold: Bool) -> TaskSnapshot {
        let record = shared.value
        guard let transfer = running[record.id], !isTold || record.state == .downloading else {
            return TaskSnapshot(shared, live: nil)
        }
        var live = live(transfer, record.id).seen(by: record, of: transfer.attempt)
        live?.segments = transfer.live.segments
        return TaskSnapshot(shared, live: live)
    }

    /// Returns a function that does the same for all tasks on any thread.
    func view(verifying: Set<TaskID>) -> @Sendable (TaskRecord) -> TaskSnapshot {
        var states: [TaskID: (attempt: AttemptNumber, live: LiveState)] = [:]
        for (id, transfer) in running {
            var live = live(transfer, id)
            live.segments = transfer.live.segments
            states[id] = (transfer.attempt, live)
        }
        return { [states] record in
            let running = states[record.id]
            let live = running?.live.seen(by: record, of: running?.attempt)
            var snapshot = TaskSnapshot(record: record, live: live)
            snapshot.isVerifying = record.state == .completed && verifying.contains(record.id)
            return snapshot
        }
    }

    private func live(_ transfer: RunningTransfer, _ id: TaskID) -> LiveState {
        LiveState(
            bytes: transfer.live.bytes,
            bytesPerSecond: speed(of: id),
            activity: transfer.live.activity.rawValue,
            connections: UInt32(clamping: transfer.live.connections)
        )
    }

    /// Tells progress while a transfer runs or a file is moved; causes no wake-ups otherwise.
    private func publish(in coordinator: isolated Coordinator) {
        guard publisher == nil, !coordinator.isStopping else { return }
        publisher = Task {
            let time = coordinator.time
            while (try? await time.sleep(for: Self.progressInterval)) != nil,
                !(running.isEmpty && moving.isEmpty)
            {
                let moment = time.now - origin
                for id in running.keys {
                    // The transfer may have ended while others were told.
                    guard let transfer = running[id], !settled.contains(id), !untold.contains(id)
                    else { continue }
                    meters[id]?.read(transfer.live.bytes, at: moment)
                    let live = live(transfer, id)
                    await coordinator.announcer?.taskProgressed(id, live, of: transfer.live.total)
                }
                noteStuckDisks(in: coordinator)
            }
            publisher = nil
        }
    }
}

extension LiveState {
    /// Returns what a transfer's state tells of its task; nil where only the record counts.
    ///
    /// The bytes of a stopped transfer count until its last checkpoint has recorded them: no client
    /// hears of fewer bytes than before.
    fileprivate func seen(by record: TaskRecord, of attempt: AttemptNumber?) -> LiveState? {
        switch record.state {
        case .downloading:
            guard attempt != record.attempt else { return self }
            // The last transfer ends before the next one begins.
            var live = self
            live.activity = LiveProgress.Activity.connecting.rawValue
            (live.bytesPerSecond, live.connections) = (0, 0)
            return live
        case .paused, .waiting(.queue), .waiting(.offline), .waiting(.metered),
            .waiting(.battery), .waiting(.settings):
            guard attempt == record.attempt, record.file != nil, !record.isDeleting else {
                return nil
            }
            return LiveState(bytes: bytes, bytesPerSecond: 0, activity: "", connections: 0)
        // A failed transfer may have dropped its bytes.
        case .waiting, .completed, .failed, .cancelled: return nil
        }
    }
}
