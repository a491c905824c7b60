// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Synchronization
import Testing
import iDownTesting

@testable import iDownState
@testable import iDownloader

/// A real engine and a real folder that it downloads to.
struct Site: Sendable {
    let folder: String
    let engine: Engine

    /// A task that waits for its slot.
    func task(
        _ url: String,
        id: Int64 = 1,
        change: (inout TaskRequest) -> Void = { _ in }
    ) throws -> RecordingJournal {
        var request = TaskRequest(url: url, directory: folder)
        change(&request)
        let id = try #require(TaskID(rawValue: id))
        return RecordingJournal(
            TaskRecord(id: id, request: request, createdAt: RecordingJournal.now)
        )
    }

    /// Starts the task's next attempt, from whatever state it is in.
    func start(_ journal: RecordingJournal) throws -> RunningTransfer {
        switch journal.record.state {
        case .waiting(.queue): break
        case .waiting(.retry): journal.apply(.retryDue)
        case .waiting(.offline), .waiting(.metered), .waiting(.battery), .waiting(.space),
            .waiting(.settings):
            journal.apply(.released)
        // A transfer ended and could not say so: the service finds it so when it starts again.
        case .downloading: journal.apply(.serviceStarted)
        case .paused, .failed, .cancelled: try journal.apply(.resume)
        case .completed: try journal.apply(.retry)
        }
        journal.apply(.slotGranted(order: 1))
        try #require(journal.record.state == .downloading)
        return engine.start(TransferJob(journal.record), journal: journal)
    }

    /// Runs the task's next attempt to its end.
    func run(_ journal: RecordingJournal) async throws {
        let transfer = try start(journal)
        await transfer.ended()
        #expect(journal.endings.last == transfer.attempt, "an end without a word")
    }

    /// Downloads `url` in one attempt.
    func download(
        _ url: String,
        change: (inout TaskRequest) -> Void = { _ in }
    ) async throws -> RecordingJournal {
        let journal = try task(url, change: change)
        try await run(journal)
        return journal
    }

    // MARK: The folder

    /// The names in the folder, in order.
    var files: [String] { names(in: folder) }

    func path(_ name: String) -> String { folder + "/" + name }

    /// The permissions of a file; nil where there is none.
    func permissions(of name: String) -> mode_t? {
        var status = stat()
        guard lstat(path(name), &status) == 0 else { return nil }
        return status.st_mode & 0o7777
    }

    /// Whether the name is that of the file that was recorded.
    func isRecorded(_ name: String, as file: LocalFile) -> Bool {
        guard let folder = try? OpenFolder(folder, fileSystem: FileSystem()),
            let status = try? folder.status(of: name)
        else { return false }
        return folder.isRecorded(status, as: file)
    }

    /// The bytes of a file; empty where there is none.
    func bytes(of name: String) -> [UInt8] {
        let file = open(path(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, buffer.count))
        }
    }

    /// Whether a file is exactly this content.
    func holds(_ content: TestContent, as name: String) -> Bool {
        files.contains(name) && bytes(of: name) == content.bytes
    }
}

/// Runs `body` with an engine of its own, and ends it afterwards.
///
/// Without a `folder` it downloads to an empty one that is made for the time. Checkpoints by time
/// come every hour, so never, unless a test asks for them; so are several connections.
func withSite<Value>(
    in folder: String? = nil,
    faults: FaultPlan? = nil,
    curlFaults: CallFaults? = nil,
    connections: Int = 1,
    network: NetworkConfiguration = NetworkConfiguration(),
    checkpointInterval: Duration = .seconds(3600),
    time: TimeAndChance = .system,
    _ body: (Site) async throws -> Value
) async throws -> Value {
    try await withGivenFolder(folder) { folder in
        let pool = try TransferPool(faults: curlFaults?.strikes)
        let engine = Engine(
            drivers: TransferDrivers(pool),
            fileSystem: FileSystem(faults: faults),
            network: network,
            userAgent: "idown-test/1",
            checkpointInterval: checkpointInterval,
            time: time
        )
        engine.connectionsPerDownload = connections
        do {
            let value = try await body(Site(folder: folder, engine: engine))
            await pool.shutDown()
            return value
        } catch {
            await pool.shutDown()
            throw error
        }
    }
}

/// The system's clock, which a test may set forward.
final class ForwardClock: Sendable {
    private let ahead = Mutex(Duration.zero)

    func advance(by time: Duration) { ahead.withLock { $0 += time } }

    var time: TimeAndChance {
        TimeAndChance(
            readCalendar: { TimeAndChance.system.date },
            readClock: { [self] in .now + ahead.withLock(\.self) },
            wait: { [self] moment in
                try await Task.sleep(until: moment - ahead.withLock(\.self), clock: .continuous)
            },
            roll: {
                let chance = TimeAndChance.system
                return chance.next()
            }
        )
    }
}

/// A clock that stands still until it is let go: nothing is late before, however busy the machine is.
///
/// Waits take as long as they say.
final class StandingClock: Sendable {
    private let start = ContinuousClock.now
    private let letGo = Mutex<ContinuousClock.Instant?>(nil)

    /// Lets the clock go on from where it stands; further calls do nothing.
    func go() { letGo.withLock { $0 = $0 ?? .now } }

    private var now: ContinuousClock.Instant {
        letGo.withLock { letGo in start + (letGo.map { .now - $0 } ?? .zero) }
    }

    var time: TimeAndChance {
        TimeAndChance(
            readCalendar: { TimeAndChance.system.date },
            readClock: { [self] in now },
            wait: { [self] moment in try await Task.sleep(for: moment - now) },
            roll: {
                let chance = TimeAndChance.system
                return chance.next()
            }
        )
    }
}

/// Runs `body` with a server that answers by a script, and stops it afterwards.
func withServer<Value>(
    _ answer: @escaping @Sendable (RecordedRequest) -> [FaultServer.Step],
    _ body: (FaultServer) async throws -> Value
) async throws -> Value {
    let server = try FaultServer(script: .init(answer))
    defer { server.stop() }
    return try await body(server)
}
