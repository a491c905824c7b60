// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Logging
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// The real coordinator, store, scheduler and transfers in a world that one seed drives.
///
/// Simulated are network, disk, clocks and users; all runs on one queue in virtual time, so that
/// a seed does the same again each time.
final class Simulation {
    /// A fault of the service that is planted on purpose, at its border: the simulation has to
    /// find it.
    enum PlantedBug {
        /// The record claims bytes before they are synced.
        case checkpointBeforeSync
        /// Everybody is told before the list is durable.
        case announceBeforePersist
    }

    let bug: PlantedBug?
    let folder: String
    let time: SimulatedTime
    let network = SimulatedNetwork()
    let disk: SimulatedDisk
    let clients: SimulatedClients
    let executor: SimulatedExecutor
    private let serviceExecutor: QueueExecutor
    var dice: SeededGenerator

    // Of the present life.
    var life = Life()
    private(set) var store: Store?
    private(set) var coordinator: Coordinator?
    var calls: [Task<Void, Never>] = []
    /// Commits fail while this many are left to fail.
    let failingCommits = Countdown()
    private(set) var crashes = 0
    /// Whether a start may end in the next crash.
    var mayDieAtOnce = true

    private var state: String { folder + "/state" }
    /// The list as it was before the last commit.
    private var backup: String { folder + "/backup" }

    init(
        seed: UInt64,
        folder: String,
        bug: PlantedBug?,
        _ serviceExecutor: QueueExecutor,
        _ executor: SimulatedExecutor
    ) {
        self.bug = bug
        self.folder = folder
        time = SimulatedTime(seed: seed &* 31)
        dice = SeededGenerator(seed: seed)
        mkdir(folder + "/files", 0o700)
        mkdir(folder + "/backup", 0o700)
        let disk = SimulatedDisk(
            folder: folder + "/files",
            forgetsSyncs: bug == .checkpointBeforeSync
        )
        self.disk = disk
        let network = network
        clients = SimulatedClients { record in
            Self.wrong(withFileOf: record, disk, network)
        }
        self.serviceExecutor = serviceExecutor
        self.executor = executor
    }

    /// What tells one course of events from another.
    struct Course: Equatable, Sendable {
        let elapsed: Duration
        let crashes: Int
        let finished: Set<String>
        let nextRoll: UInt64
    }

    /// How it went.
    var course: Course {
        Course(
            elapsed: time.elapsed,
            crashes: crashes,
            finished: clients.finished,
            nextRoll: time.dice()
        )
    }

    /// What everything goes through that happens to be on the way.
    func settle() async { await executor.settle(life) }

    // MARK: Lives

    /// Starts the service; what it finds is held against what everybody knows.
    func start() async throws {
        let life = Life(on: executor.thread)
        self.life = life
        // A list that cannot be written is no service: it would have to be started again.
        failingCommits.set(0)
        network.serve(life)
        disk.serve(life)
        clients.serve(life)
        let (failing, bug) = (failingCommits, bug)
        let (state, backup) = (state, backup)
        let faults = CallFaults {
            if bug == .announceBeforePersist { Self.copyList(from: state, to: backup) }
            return !life.ask() || failing.takeOne()
        }
        let (store, report) = try Store.open(
            folder: state,
            now: time.seen(by: life).date,
            commitFaults: faults.strikes,
            blocks: true
        )
        if let recovery = report.recovery { clients.complain("damaged: \(recovery.reason)") }
        self.store = store
        try await compare(with: store)
        let engine = Engine(
            drivers: TransferDrivers(network),
            fileSystem: FileSystem(observer: disk),
            disk: DiskQueue(blocks: true),
            userAgent: "idown-test/1",
            time: time.seen(by: life)
        )
        let coordinator = Coordinator(
            store: store,
            engine: engine,
            slots: 3,
            executor: serviceExecutor,
            log: .quiet
        )
        self.coordinator = coordinator
        if mayDieAtOnce, Int.random(in: 0..<6, using: &dice) == 0 {
            life.light(fuse: Int.random(in: 1...12, using: &dice))
        }
        do {
            try await coordinator.restore()
        } catch {
            // Its fuse was short.
            guard life.isDead else { throw error }
            return
        }
        let clients = clients
        clients.comeBack(to: try await records(of: store))
        await coordinator.announce(to: clients)
        await coordinator.setOnline(network.isOnline)
        await coordinator.begin()
    }

    private func compare(with store: Store) async throws {
        let records = try await records(of: store)
        clients.judge(records)
        for record in records {
            if let wrong = Self.wrong(withClaimsOf: record, disk, network) {
                clients.complain(wrong)
            }
            guard record.state == .completed else { continue }
            if let wrong = Self.wrong(withFileOf: record, disk, network) { clients.complain(wrong) }
        }
        clients.comeBack(to: records)
    }

    func records(of store: Store) async throws -> [TaskRecord] {
        try await store.read { snapshot in try snapshot.tasks() }
    }

    /// The power is cut, or the process killed; the next life begins.
    func crash() async throws {
        crashes += 1
        life.die()
        try await wind(down: true)
        disk.crash(using: &dice)
        if bug == .announceBeforePersist { Self.copyList(from: backup, to: state) }
        try await start()
    }

    /// The service is asked to end, and started again.
    func restart() async throws {
        try await wind(down: false)
        try await start()
    }

    /// Ends what runs: of a dead process all that is left of it, which can do no harm.
    func wind(down isDead: Bool) async throws {
        guard let coordinator, let store else { return }
        let stopping = Countdown()
        let stop = Task(executorPreference: executor) {
            await coordinator.stop()
            stopping.set(1)
        }
        await settle()
        for _ in 0..<200 where !isDead && !life.isDead {
            if network.canStep { network.step(using: &dice) }
            time.pass(.milliseconds(10))
            await settle()
        }
        let isCrash = isDead || life.isDead
        if isCrash { life.die() }
        time.abandon(life)
        network.abandon(life)
        await settle()
        for _ in 0..<1_000 where !stopping.isSet { await settle() }
        guard stopping.isSet else {
            let running = await coordinator.running.mapValues { $0.live.connections }
            let isCommitting = await coordinator.look { !$0.commits.isIdle }
            clients.complain(
                "it does not stop: \(running), committing \(isCommitting), \(network.open)"
            )
            self.coordinator = nil
            return
        }
        await stop.value
        for call in calls { await call.value }
        calls = []
        await settle()
        self.coordinator = nil
        self.store = nil
        if isCrash {
            try store.crash()
            if !isDead { disk.crash(using: &dice) }
        } else {
            try store.close()
        }
    }

    private static func copyList(from source: String, to target: String) {
        for name in ["tasks.sqlite", "tasks.sqlite-wal", "tasks.sqlite-shm"] {
            unlink("\(target)/\(name)")
            guard name.hasSuffix("-shm") == false,
                let bytes = try? TestFile.bytes(of: "\(source)/\(name)")
            else { continue }
            try? TestFile.write(bytes, to: "\(target)/\(name)")
        }
    }
}
