// SPDX-License-Identifier: Apache-2.0

package import Curl
import Synchronization
package import iDownState

/// Starts transfers and owns what they share.
package final class Engine: Sendable {
    let pool: any TransferDriver
    /// Runs FTP and SFTP: libcurl waits in places for the last words of such servers, and what it
    /// holds up meanwhile is at least no download by HTTP.
    let filePool: any TransferDriver
    let fileSystem: FileSystem
    package let time: TimeAndChance
    package let disk: DiskQueue
    let folders: FolderLooks
    package let names: NameReservations
    /// The hosts that asked to be left alone.
    package let rests: HostRestTable
    /// Pipes filled with finished files.
    package let feeds = FileFeeds()
    let awakening = AwakeningClock()
    private let storedFindings = Mutex<[TaskID: Findings]>([:])
    private let storedHistory = Mutex(History())
    /// The addresses that this computer had when they were last looked at.
    private let addresses = Mutex(SocketAddress.local ?? [])
    let userAgent: String
    private let storedNetwork: Mutex<NetworkConfiguration>
    private let logins: (any StoredLogins)?
    /// Where transfers decide; nil leaves it to the runtime.
    private let executor: (any TaskExecutor)?
    /// What a crash can cost at most, in time.
    let checkpointInterval: Duration
    /// What is known of hosts, and how many connections each has.
    let hosts: Hosts
    /// Holds all connections to the limits.
    let rates = RateGate()
    private let storedConnections: Atomic<Int>
    private let storedServerTime = Atomic<Bool>(false)

    /// - Parameters:
    ///   - pool: the one that runs all requests of HTTP.
    ///   - filePool: the one that runs all others; nil takes the same.
    ///   - fileSystem: the door to the system.
    ///   - disk: where slow work waits.
    ///   - network: the ways to hosts and the logins there.
    ///   - logins: those that the user keeps elsewhere than in files.
    ///   - userAgent: what requests carry where the task gives nothing else.
    ///   - connectionsPerDownload: how many a task may open that says nothing of its own.
    ///   - checkpointInterval: the longest time between two checkpoints of a task.
    ///   - time: the clocks and the dice.
    ///   - executor: where transfers decide, which they do in a moment; nil leaves it to the runtime.
    package init(
        pool: any TransferDriver,
        filePool: (any TransferDriver)? = nil,
        fileSystem: FileSystem = FileSystem(),
        disk: DiskQueue = DiskQueue(),
        network: NetworkConfiguration = NetworkConfiguration(),
        logins: (any StoredLogins)? = nil,
        userAgent: String,
        connectionsPerDownload: Int = 8,
        checkpointInterval: Duration = .seconds(5),
        time: TimeAndChance = .system,
        executor: (any TaskExecutor)? = nil
    ) {
        self.executor = executor
        self.pool = pool
        self.filePool = filePool ?? pool
        self.fileSystem = fileSystem
        self.disk = disk
        self.folders = FolderLooks(on: disk, fileSystem: fileSystem)
        self.storedNetwork = Mutex(network)
        self.logins = logins
        self.names = NameReservations()
        self.time = time
        self.rests = HostRestTable(time)
        self.hosts = Hosts(time)
        self.userAgent = userAgent
        self.checkpointInterval = checkpointInterval
        self.storedConnections = Atomic(connectionsPerDownload)
    }

    /// How many connections a task may open that says nothing of its own, 1…16.
    package var connectionsPerDownload: Int {
        get { storedConnections.load(ordering: .relaxed) }
        set { storedConnections.store(newValue, ordering: .relaxed) }
    }

    /// Whether a finished file gets the time that its server says it was changed at.
    package var usesServerTime: Bool {
        get { storedServerTime.load(ordering: .relaxed) }
        set { storedServerTime.store(newValue, ordering: .relaxed) }
    }

    /// The ways to hosts and the logins there; what is asked for from now on goes by them.
    package var network: NetworkConfiguration {
        get { storedNetwork.withLock { $0 } }
        set { storedNetwork.withLock { $0 = newValue } }
    }

    /// Whether a text names a proxy that can be asked.
    package static func isProxy(_ text: String) -> Bool { ProxyServer(text) != nil }

    /// Whether a URL is fetched through the proxy of this host and port.
    package func goesThrough(_ proxy: String, to url: String) -> Bool {
        guard let url = try? URLReference(url),
            case .through(let own) = network.proxies.choice(for: url)
        else { return false }
        return own.authority.lowercased() == proxy.lowercased()
    }

    /// Starts an attempt.
    ///
    /// It runs until it is over or stopped, and the journal hears of it.
    package func start(_ job: TransferJob, journal: any TransferJournal) -> RunningTransfer {
        let live = LiveProgress(stored: job.segments, total: job.remote.total)
        let controls = Controls(connections: job.request.connections)
        rates.join(job.task, limit: job.speedLimit)
        let work = Task(executorPreference: executor) { [self] in
            do {
                await network.refreshFiles()
                let job = try await withLogins(job)
                let home = try URLReference(job.request.url)
                let attempt = Attempt(
                    job,
                    home: home,
                    engine: self,
                    journal: journal,
                    live: live,
                    controls: controls
                )
                await Transfer(attempt).run()
            } catch {
                let failure =
                    error as? Failure
                    ?? Failure(
                        .serverBadResponse,
                        "The URL cannot be read: \(Failure.freshLink)"
                    )
                rates.leave(job.task)
                await journal.transferEnded(job.task, attempt: job.attempt, failure: failure)
            }
        }
        return RunningTransfer(
            attempt: job.attempt,
            startedAt: time.now,
            live: live,
            controls: controls,
            work: work
        )
    }

    /// Opens a folder and runs `body` with it, away from Swift's own threads.
    ///
    /// - Parameters:
    ///   - directory: its path as it was recorded.
    ///   - task: work for one task runs in the order of the calls; nil for clients' folders.
    ///   - body: may block.
    /// - Returns: what `body` returns.
    /// - Throws: why the folder cannot be opened, and what `body` throws.
    func inFolder<Value: Sendable>(
        _ directory: String,
        of task: TaskID?,
        _ body: @escaping @Sendable (OpenFolder) throws(FileError) -> Value
    ) async throws(FileError) -> Value {
        let fileSystem = fileSystem
        return try await disk.run(key: task?.rawValue, in: directory) { () throws(FileError) in
            try body(OpenFolder(directory, fileSystem: fileSystem))
        }
    }

    /// Begins a request on the thread for servers of its kind.
    func begin(_ request: TransferRequest, sink: any TransferSink) -> TransferHandle {
        var request = request
        if request.reuse == .asUsual { request.reuse = awakening.reuse() }
        return (request.url.isHTTP ? pool : filePool).begin(request, sink: sink)
    }

    /// The computer has slept: connections of before are not used again.
    package func distrustConnections() { awakening.strike() }

    /// The network is not what it was: what runs over an address that is gone ends at once, to be
    /// tried again, and no connection of before is used a second time.
    package func heedNetworkChange() {
        guard let now = SocketAddress.local else { return }
        let isLost = addresses.withLock { known in
            defer { known = now }
            return !known.isSubset(of: now)
        }
        guard isLost else { return }
        awakening.strike()
        pool.endTransfers(cutOffFrom: now)
        filePool.endTransfers(cutOffFrom: now)
    }

    /// The most bytes a second of all tasks together; 0 for no limit.
    package func setSpeedLimit(_ limit: Int64) { rates.setLimit(limit) }

    /// The most bytes a second of a task, if it runs; 0 for no limit.
    package func setSpeedLimit(of task: TaskID, to limit: Int64) {
        rates.setLimit(of: task, to: limit)
    }

    /// Takes note of a host's wish to be left alone, where the failure tells of one, and of a host
    /// that is busy.
    func noteRest(_ failure: Failure, at hop: Hop, of task: TaskID, _ request: TaskRequest) {
        guard failure.isTransient else { return }
        guard let wish = failure.retryAfter else {
            if failure.code == .serverBusy { rests.refused(by: hop.origin, toldTo: task) }
            return
        }
        // A task that does not wait for so long fails, and its host may be asked by others.
        if let limit = RetryPolicy.limit(ofSeconds: request.retryFor), wish > limit { return }
        rests.rest(hop.origin, for: wish, toldTo: task)
    }

    // MARK: What is known of tasks

    /// What the attempts of a task have found out about its sources.
    ///
    /// Kept while the service runs, until the task is over: else each attempt would begin with a
    /// file that is known to be a wrong one.
    struct Findings: Sendable {
        var fetch = Fetch.Memory()
        /// How far the furthest host was that has answered: who was named by it may not be nearer.
        var reach: SocketAddress.Reach?
    }

    /// What earlier attempts of a task have found out.
    func findings(on task: TaskID) -> Findings {
        storedFindings.withLock { $0[task] } ?? Findings()
    }

    /// Keeps them for the task's next attempt.
    func keep(_ findings: Findings, on task: TaskID) {
        storedFindings.withLock { $0[task] = findings.fetch.isOfUse ? findings : nil }
    }

    /// The task is complete or gone.
    package func forgetFindings(on task: TaskID) {
        storedFindings.withLock { _ = $0.removeValue(forKey: task) }
        storedHistory.withLock { $0.forget(task) }
    }

    /// What has happened in the attempts of a task that is not complete, the oldest first.
    package func history(of task: TaskID) -> [History.Entry] {
        storedHistory.withLock { $0.entries(of: task) }
    }

    /// Takes note of what happens in an attempt.
    func note(_ entry: History.Entry, of task: TaskID) {
        storedHistory.withLock { $0.add(entry, of: task) }
    }

    // MARK: What is known of hosts

    /// All that was learned of hosts, if something was since the last call; nil otherwise.
    package func takeHostNews() -> [HostKnowledge]? { hosts.takeNews() }

    /// Takes up what an earlier run of the service has learned of hosts.
    package func restore(_ knowledge: [HostKnowledge]) { hosts.restore(knowledge) }

    /// The job with the logins of its URLs, which the keyring may keep.
    ///
    /// - Throws: a `Failure` that may pass where the keyring cannot be read: without its login the
    ///   task would be told that it may not.
    private func withLogins(_ job: TransferJob) async throws(Failure) -> TransferJob {
        guard let key = job.request.keptLogins else { return job }
        if let kept = await logins?.urlLogins(keptAt: key.id) { return job.with(kept) }
        guard key.isForURL else { return job }
        throw .loginIsLocked
    }

    /// The login that the user keeps for a task's server; the URL's own goes first.
    func storedLogin(
        for request: TaskRequest,
        at home: URLReference
    ) async -> TransferRequest.Credentials? {
        guard request.usesStoredLogins, home.user == nil else { return nil }
        return await logins?.login(for: home.origin)
    }

    /// What a refusal for lack of a login becomes where the user keeps one that is locked.
    func judged(
        _ failure: Failure,
        of request: TaskRequest,
        at home: URLReference
    ) async -> Failure {
        guard failure.code == .serverAuthRequired, request.usesStoredLogins, home.user == nil,
            await logins?.isLoginLocked(for: home.origin) == true
        else { return failure }
        return .loginIsLocked
    }
}

extension Failure {
    /// The login is in a keyring that cannot be read now.
    fileprivate static var loginIsLocked: Failure {
        Failure(
            .serverAuthRequired,
            "The keyring that holds this download's login is locked or does not answer."
                + " Unlock it: idown then tries again.",
            isTransient: true
        )
    }
}

extension Origin {
    init(_ url: URLReference) {
        self.init(scheme: url.scheme, host: url.host, port: url.effectivePort)
    }
}
