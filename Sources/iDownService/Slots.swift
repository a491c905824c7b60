// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState
import iDownloader

/// The slots, and the transfers that run in them or begin ahead of them.
final class Slots {
    /// How long a task that a browser has handed over waits for its slot with its answer open.
    ///
    /// Most servers wait no longer, and it takes the place of another connection to its host.
    private static let longestWait: Duration = .seconds(60)

    /// So many answers to links that no browser has asked for wait with those that one has.
    ///
    /// The others are asked for again in their turn: a page of links would take all connections of its host.
    private static let mostUnseen = 4

    /// Progress is told at most this often (contract, TaskChanged).
    private static let progressInterval: Duration = .milliseconds(500)

    /// How many tasks may run at once.
    private(set) var count: Int
    /// The transfer of each task that has one, until it holds neither connection nor file.
    private(set) var running: [TaskID: RunningTransfer] = [:]
    /// Transfers of tasks that wait for the slots of those that have arrived.
    private(set) var ahead: [TaskID: HeadStart] = [:]
    /// Ends the transfer of a handed-over task that waits for its slot for too long.
    private var patience: [TaskID: Task<Void, Never>] = [:]
    /// Tasks that keep their slot while their last transfer ends, and start the next one then.
    private var pendingStarts: [TaskID: TaskRecord] = [:]
    /// Those in `running` that were stopped or whose task is not downloading any more: no progress
    /// is told of them.
    private var settled: Set<TaskID> = []
    /// Those in `running` that have their whole file, which only wants its name.
    private var arrived: Set<TaskID> = []
    /// Those in `running` of whose start nobody has been told yet.
    private var untold: Set<TaskID> = []
    /// Tasks whose turn came while their last transfer still ended.
    private var heldUp: Set<TaskID> = []
    private var meters: [TaskID: SpeedMeter] = [:]
    private var startOrder: Int64 = 0
    /// Slots are to be filled although no change says so.
    private(set) var isWanted = false
    /// Those who wait for the end of a transfer.
    private let ends = Waiters<TaskID, Void>()
    /// Tells of progress; nil while nothing runs.
    private var publisher: Task<Void, Never>?
    /// Where the clock of the speeds begins.
    private let origin: TimeAndChance.Instant

    init(count: Int, at origin: TimeAndChance.Instant) {
        self.count = count
        self.origin = origin
    }

    /// Whether no transfer holds a connection or a file.
    var isEmpty: Bool { running.isEmpty && ahead.isEmpty }

    /// Changes how many tasks may run.
    func change(to count: Int) { self.count = count }

    /// Has the next commit look whether a slot can be filled.
    func want() { isWanted = true }

    // MARK: Filling

    /// The step that fills slots at the end of a transaction, by what runs at this moment.
    func pass(in coordinator: isolated Coordinator) -> SchedulingPass {
        defer { isWanted = false }
        return SchedulingPass(
            slots: count,
            busy: Set(running.keys).union(ahead.keys.filter { ahead[$0]?.isDropped == true }),
            arrived: arrived,
            ahead: ahead.filter { !$0.value.isDropped }.mapValues(\.arrival),
            firstOrder: startOrder + 1,
            isWanted: isWanted,
            mayStart: coordinator.hasBegun && !coordinator.isStopping
                && !coordinator.holds.isAsleep,
            surroundings: coordinator.holds.surroundings(in: coordinator),
            date: { [time = coordinator.time] in time.date }
        )
    }

    /// Takes note of what a pass has found.
    ///
    /// - Parameters:
    ///   - pass: it has run.
    ///   - changes: what it did; nil where that was not committed.
    ///   - coordinator: the owner.
    func take(
        _ pass: SchedulingPass,
        _ changes: [Change]?,
        in coordinator: isolated Coordinator
    ) {
        for task in pass.heldUp {
            // Its transfer may have come to its end during the commit.
            if running[task] == nil, ahead[task]?.isDropped != true {
                isWanted = true
            } else {
                heldUp.insert(task)
            }
        }
        // What was not committed says nothing.
        guard let changes, let next = pass.next else { return }
        let wanted = Set(next.map(\.id) + changes.filter(\.starts).map(\.after.id))
        for id in ahead.keys.sorted() where !wanted.contains(id) {
            if ahead[id]?.isHandedOver == false { drop(id) }
        }
        guard !coordinator.isStopping else { return }
        for case .new(let record) in next where ahead[record.id] == nil {
            // Its own transfer comes with it.
            if coordinator.handOvers.holdsTransfer(of: record.id) { continue }
            ahead[record.id] = HeadStart(record, on: coordinator.engine, for: coordinator)
        }
    }

    // MARK: Transfers

    /// Takes over the transfer of a task that a browser has handed over, until the task has its slot.
    ///
    /// - Parameters:
    ///   - start: the transfer, which holds its answer open.
    ///   - id: the task.
    ///   - isSeen: whether the browser had an answer of its own, so that this one may be the last.
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

    /// How many tasks that a browser has handed over wait for their slots with their answers open.
    var openAnswers: Int { patience.count }

    /// Those of a host.
    func openAnswers(of host: Origin?) -> Int {
        patience.keys.count { ahead[$0]?.origin == host }
    }

    /// Starts the transfer of a task once its last one is over, or goes on with the one that began
    /// ahead.
    func start(_ record: TaskRecord, in coordinator: isolated Coordinator) {
        startOrder = max(startOrder, record.startOrder)
        // Decided before the stop, committed after it: it starts with the next service.
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
        meters[record.id] = SpeedMeter(bytes: transfer.live.bytes, at: moment)
        publish(in: coordinator)
    }

    /// The transfer that began ahead for what is a running one now; nil where none did.
    private func takeHeadStart(of record: TaskRecord) -> RunningTransfer? {
        guard let start = ahead[record.id], !start.isDropped else { return nil }
        ahead[record.id] = nil
        patience.removeValue(forKey: record.id)?.cancel()
        // It waited with its file already: that was recorded with the start.
        if record.isPublishing { arrived.insert(record.id) }
        start.journal.settle(.hasSlot(isRecorded: record.isPublishing))
        return start.transfer
    }

    /// Takes note of what a task has become: a transfer that began ahead goes on for the start of
    /// its task alone, and of a task that downloads no more nothing is told.
    func note(_ change: Change) {
        let id = change.after.id
        // One that waits with an answer which cannot be had twice goes on waiting in its place.
        let isUntouched =
            change.after.state == .waiting(.queue) && change.before?.request == change.after.request
        if !change.starts, ahead[id]?.isHandedOver != true || !isUntouched { drop(id) }
        if change.after.state != .downloading, running[id] != nil { settled.insert(id) }
        if pendingStarts[id] != nil {
            // While its file moves it has no transfer: the end of the move starts the next one.
            let mayStart = change.after.state == .downloading && !change.after.isMoving
            pendingStarts[id] = mayStart ? change.after : nil
        }
    }

    /// Everybody knows of the start now.
    func noteTold(_ id: TaskID) { untold.remove(id) }

    /// The file of a running task has come.
    func noteArrival(of id: TaskID, _ attempt: AttemptNumber) {
        if running[id]?.attempt == attempt { arrived.insert(id) }
    }

    /// Ends the transfer of a task.
    func stop(_ id: TaskID, _ attempt: AttemptNumber) {
        guard let transfer = running[id], transfer.attempt == attempt else { return }
        transfer.stop()
        settled.insert(id)
    }

    /// Has the transfer of a task end that does not get the slot, or not as it was.
    private func drop(_ id: TaskID) {
        guard ahead[id]?.isDropped == false else { return }
        patience.removeValue(forKey: id)?.cancel()
        ahead[id]?.drop()
    }

    /// A transfer is over; the next one of a task that kept its slot begins.
    ///
    /// - Returns: whether its task may start again now, because only this transfer was in its way.
    func end(_ id: TaskID, in coordinator: isolated Coordinator) -> Bool {
        running[id] = nil
        ends.release(id, with: ())
        settled.remove(id)
        arrived.remove(id)
        untold.remove(id)
        meters[id] = nil
        if let record = pendingStarts.removeValue(forKey: id) {
            start(record, in: coordinator)
            // The task was downloading before: its progress may be told at once.
            untold.remove(id)
        }
        return heldUp.remove(id) != nil
    }

    /// A transfer that began ahead is over, and did not get the slot.
    ///
    /// - Returns: as ``end(_:in:)``.
    func endAhead(_ id: TaskID) -> Bool {
        ahead[id] = nil
        return heldUp.remove(id) != nil
    }

    /// Waits until a stopped transfer has recorded what it kept; no longer than
    /// ``Coordinator/longestPause``, since a disk may hang and the pause itself is durable already.
    func waitForEnd(of id: TaskID, in coordinator: isolated Coordinator) async {
        guard running[id] != nil, settled.contains(id), !coordinator.isStopping else { return }
        _ = await ends.wait(for: id, atMost: Coordinator.longestPause, in: coordinator)
    }

    /// The service ends: all transfers end, each with a checkpoint.
    func stop() {
        publisher?.cancel()
        ends.releaseAll(with: ())
        for transfer in running.values { transfer.stop() }
        for id in ahead.keys.sorted() { drop(id) }
    }

    // MARK: What is seen

    /// Bytes a second, over all tasks.
    var speed: UInt64 { meters.values.reduce(0) { $0 &+ $1.bytesPerSecond } }

    /// What a task looks like from outside at this moment.
    func snapshot(of shared: Shared<TaskRecord>) -> TaskSnapshot {
        let record = shared.value
        guard record.state == .downloading, let transfer = running[record.id] else {
            return TaskSnapshot(shared, live: nil)
        }
        var live = live(transfer, record.id)
        if transfer.attempt != record.attempt { live.activity = Self.connecting }
        live.segments = transfer.live.segments
        return TaskSnapshot(shared, live: live)
    }

    /// The same for all at once, without segments, for looking at records elsewhere.
    var view: @Sendable (TaskRecord) -> TaskSnapshot {
        var states: [TaskID: (attempt: AttemptNumber, live: LiveState)] = [:]
        for (id, transfer) in running { states[id] = (transfer.attempt, live(transfer, id)) }
        return { [states] record in
            guard record.state == .downloading, let running = states[record.id] else {
                return TaskSnapshot(record: record, live: nil)
            }
            var live = running.live
            if running.attempt != record.attempt { live.activity = Self.connecting }
            return TaskSnapshot(record: record, live: live)
        }
    }

    /// What a task does whose last transfer ends before the next one begins.
    private static let connecting = LiveProgress.Activity.connecting.name

    private func live(_ transfer: RunningTransfer, _ id: TaskID) -> LiveState {
        LiveState(
            bytes: transfer.live.bytes,
            bytesPerSecond: meters[id]?.bytesPerSecond ?? 0,
            activity: transfer.live.activity.name,
            connections: UInt32(clamping: transfer.live.connections)
        )
    }

    /// Tells of progress while anything runs, and sleeps without a wake-up otherwise.
    private func publish(in coordinator: isolated Coordinator) {
        guard publisher == nil, !coordinator.isStopping else { return }
        publisher = Task {
            let time = coordinator.time
            while (try? await time.sleep(for: Self.progressInterval)) != nil, !running.isEmpty {
                let moment = time.now - origin
                for id in running.keys {
                    // Looked up anew: while others were told, it may have ended.
                    guard let transfer = running[id], !settled.contains(id), !untold.contains(id)
                    else { continue }
                    meters[id]?.read(bytes: transfer.live.bytes, at: moment)
                    let live = live(transfer, id)
                    await coordinator.announcer?.taskProgressed(id, live, of: transfer.live.total)
                }
            }
            publisher = nil
        }
    }
}

extension LiveProgress.Activity {
    /// The contract's name.
    fileprivate var name: String {
        switch self {
        case .connecting: "connecting"
        case .transferring: "transferring"
        case .verifying: "verifying"
        }
    }
}
