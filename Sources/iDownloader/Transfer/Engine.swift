// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
package import iDownState

/// Starts transfers and owns what they share.
package final class Engine: Sendable {
    private let drivers: TransferDrivers
    let fileSystem: FileSystem
    package let time: TimeAndChance
    package let disk: DiskQueue
    package let folders: FolderLooks
    package let names: NameReservations
    /// Pipes filled with finished files.
    package let feeds = FileFeeds()
    let awakening = AwakeningClock()
    private let storedFindings = Mutex<[TaskID: Fetch.Memory]>([:])
    private let storedHistory = Mutex(History())
    /// The addresses that this computer had when they were last looked at.
    private let addresses = Mutex(SocketAddress.local ?? [])
    let userAgent: String
    private let storedNetwork: Mutex<NetworkConfiguration>
    let logins: (any StoredLogins)?
    /// Runs the transfers' decisions; nil uses Swift's own threads.
    private let executor: (any TaskExecutor)?
    /// The longest time between two checkpoints of a task, and so the most that a crash can cost.
    let checkpointInterval: Duration
    /// The findings about hosts, the number of connections to each, and which ones rest.
    package let hosts: Hosts
    /// When this run of the service began, by the clock of `hosts`.
    private let startedAt: Duration
    /// Keeps all connections within the rate limits.
    let rates = RateGate()
    private let storedConnections = Atomic<Int>(8)
    private let storedServerTime = Atomic<Bool>(false)

    /// - Parameters:
    ///   - drivers: run all requests.
    ///   - fileSystem: makes all calls into the file system.
    ///   - disk: runs blocking work.
    ///   - network: proxies, addresses and logins from files.
    ///   - logins: the user's logins in the keyring.
    ///   - userAgent: the User-Agent of tasks that give none.
    ///   - checkpointInterval: the longest time between two checkpoints of a task.
    ///   - time: the clocks and the random numbers.
    ///   - executor: runs the transfers' decisions, none of which blocks; nil uses Swift's own
    ///     threads.
    package init(
        drivers: TransferDrivers,
        fileSystem: FileSystem = FileSystem(),
        disk: DiskQueue = DiskQueue(),
        network: NetworkConfiguration = NetworkConfiguration(),
        logins: (any StoredLogins)? = nil,
        userAgent: String,
        checkpointInterval: Duration = .seconds(5),
        time: TimeAndChance = .system,
        executor: (any TaskExecutor)? = nil
    ) {
        self.executor = executor
        self.drivers = drivers
        self.fileSystem = fileSystem
        self.disk = disk
        self.folders = FolderLooks(on: disk, fileSystem: fileSystem)
        self.storedNetwork = Mutex(network)
        self.logins = logins
        self.names = NameReservations()
        self.time = time
        self.hosts = Hosts(time)
        startedAt = hosts.now
        self.userAgent = userAgent
        self.checkpointInterval = checkpointInterval
    }

    /// The most connections of a task that sets no number, 1…16.
    package var connectionsPerDownload: Int {
        get { storedConnections.load(ordering: .relaxed) }
        set { storedConnections.store(newValue, ordering: .relaxed) }
    }

    /// Whether a finished file gets the server's Last-Modified as its time.
    package var usesServerTime: Bool {
        get { storedServerTime.load(ordering: .relaxed) }
        set { storedServerTime.store(newValue, ordering: .relaxed) }
    }

    /// Proxies, addresses and logins from files, for requests that begin from now on.
    package var network: NetworkConfiguration {
        get { storedNetwork.withLock { $0 } }
        set { storedNetwork.withLock { $0 = newValue } }
    }

    /// Returns whether a text is the URL of a proxy, or empty for no proxy.
    package static func isProxy(_ text: String) -> Bool { text.isEmpty || ProxyServer(text) != nil }

    /// Returns whether requests for this URL go through the proxy at this host and port.
    package func goesThrough(_ proxy: String, to url: String) -> Bool {
        guard let url = try? URLReference(url),
            case .through(let own) = network.proxies.choice(for: url)
        else { return false }
        return own.authority.lowercased() == proxy.lowercased()
    }

    /// Starts an attempt, which runs until it ends or is stopped and reports to the journal.
    package func start(_ job: TransferJob, journal: any TransferJournal) -> RunningTransfer {
        let live = LiveProgress(stored: job.record.segments, total: job.record.remote.total)
        let controls = Controls(connections: job.request.connections)
        rates.join(job.task, limit: job.record.speedLimit)
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
                let text = "The URL cannot be read: \(Failure.freshLink)"
                let failure = error as? Failure ?? Failure(.serverBadResponse, text)
                rates.leave(job.task)
                await journal.transferEnded(job.id, failure: failure)
            }
        }
        return RunningTransfer(
            attempt: job.id.attempt,
            startedAt: time.now,
            directory: job.request.directory,
            live: live,
            controls: controls,
            hosts: hosts,
            work: work
        )
    }

    /// Opens a folder and runs `body` with it, away from Swift's own threads.
    ///
    /// - Parameters:
    ///   - directory: the folder's recorded path.
    ///   - task: work for one task runs in the order of the calls; nil for a look, which does not
    ///     wait for downloads.
    ///   - body: may block.
    /// - Returns: what `body` returns.
    /// - Throws: the reason why the folder cannot be opened, or what `body` throws.
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

    /// Chooses what runs a request.
    ///
    /// - Parameters:
    ///   - url: tells the protocol.
    ///   - directory: the folder to write to; an empty text where nothing is written.
    /// - Returns: the driver of the folder's file system.
    func driver(of url: URLReference, for directory: String) -> TransferDrivers.Choice {
        let device = directory.isEmpty ? nil : disk.fileSystem(of: directory)
        return drivers.choice(for: device, isForHTTP: url.isHTTP)
    }

    /// Begins a request.
    func begin(
        _ request: TransferRequest,
        by driver: any TransferDriver,
        sink: any TransferSink
    ) -> TransferHandle {
        var request = request
        if request.reuse == .asUsual { request.reuse = awakening.reuse() }
        return driver.begin(request, sink: sink)
    }

    /// Keeps connections from before the computer's sleep from being used again.
    package func distrustConnections() { awakening.strike() }

    /// Ends the requests that use an address which this computer has lost, so that they are tried
    /// again at once.
    ///
    /// No older connection is used again, and no older answer of a name server, once an address comes
    /// or goes that leads further than its own link, as those of containers do not.
    package func networkChanged() {
        guard let now = SocketAddress.local else { return }
        let before = addresses.withLock { known in
            defer { known = now }
            return known
        }
        if Self.isOtherNetwork(before, now) { awakening.strike() }
        guard !before.isSubset(of: now) else { return }
        drivers.endTransfers(cutOffFrom: now)
    }

    /// Whether these are the addresses in two networks, and not before and after a container.
    static func isOtherNetwork(_ one: Set<SocketAddress>, _ other: Set<SocketAddress>) -> Bool {
        one.symmetricDifference(other).contains { !$0.isLinkLocal }
    }

    /// Limits the bytes a second of all tasks together; 0 is no limit.
    package func setSpeedLimit(_ limit: Int64) { rates.setLimit(limit) }

    /// Limits the bytes a second of one task, if it runs; 0 is no limit.
    package func setSpeedLimit(of task: TaskID, to limit: Int64) {
        rates.setLimit(of: task, to: limit)
    }

    /// Notes the host's Retry-After, if the failure has one, or that the host is busy.
    func noteRest(_ failure: Failure, at hop: Hop, of task: TaskID, _ request: TaskRequest) {
        guard failure.isTransient, !failure.restsFileAlone else { return }
        guard let wish = failure.retryAfter else {
            if failure.code == .serverBusy { hosts.isBusy(hop.origin, toldTo: task) }
            return
        }
        // This task gives up, because the wait is too long for it. Other tasks may ask the host.
        if let limit = RetryPolicy.limit(ofSeconds: request.retryFor), wish > limit { return }
        hosts.rest(hop.origin, for: wish, toldTo: task)
    }

    // MARK: Findings about tasks

    /// Returns the findings of earlier attempts of a task about its sources.
    ///
    /// They are kept in memory until the task ends. Without them each attempt would start again
    /// with a source whose file is known to be wrong. What an earlier run of the service has found
    /// is gone, but a file shows that a host has served the task: it counts as served until this
    /// run began.
    func findings(on record: TaskRecord) -> Fetch.Memory {
        if let findings = storedFindings.withLock({ $0[record.id] }) { return findings }
        // A fresh link has served nothing yet.
        guard record.file != nil, !record.remote.needsProof else { return Fetch.Memory() }
        return Fetch.Memory(servedUntil: startedAt)
    }

    /// Keeps findings for the task's next attempt.
    func keep(_ findings: Fetch.Memory, on task: TaskID) {
        storedFindings.withLock { $0[task] = findings.changesNextAttempt ? findings : nil }
    }

    /// Drops the findings of a task that is complete or removed.
    package func forgetFindings(on task: TaskID) {
        storedFindings.withLock { _ = $0.removeValue(forKey: task) }
        storedHistory.withLock { $0.forget(task) }
    }

    /// Returns the history of a task that is not complete, oldest entry first.
    package func history(of task: TaskID) -> [History.Entry] {
        storedHistory.withLock { $0.entries(of: task) }
    }

    /// Adds an entry to a task's history.
    func note(_ entry: History.Entry, of task: TaskID) {
        storedHistory.withLock { $0.add(entry, of: task) }
    }

    // MARK: Logins

    /// Returns the job with the logins of its URLs, which the keyring may keep.
    ///
    /// - Throws: a `Failure` without the login, with which the server would refuse the task; a
    ///   transient one if the keyring cannot be read now.
    private func withLogins(_ job: TransferJob) async throws(Failure) -> TransferJob {
        guard let key = job.request.keptLogins else { return job }
        if let kept = await logins?.urlLogins(keptAt: key.id) { return job.with(kept) }
        // A login that the user has given since goes before the kept one.
        guard key.isForURL, !TaskRequest.hasLogin(job.request.url) else { return job }
        guard await logins?.areGone(keptAt: key.id) == true else { throw .loginIsLocked }
        throw Failure(
            .serverAuthRequired,
            "The keyring no longer has the login of this download's URL. Put the login into the URL,"
                + " and \(Failure.freshLink)"
        )
    }

    /// Makes a refusal for lack of a login transient if the keyring may have one that was not read:
    /// it is locked, has just been started, or does not answer.
    ///
    /// Any refusal tells of a cookie file that could not be read: its cookies may be missing.
    func judged(_ failure: Failure, of attempt: Attempt) async -> Failure {
        let home = attempt.home
        if home.user != nil, failure.message.hasSuffix(Failure.loginAdvice) {
            return failure.afterRefusedLogin
        }
        guard failure.code == .serverAuthRequired, attempt.login == nil,
            attempt.job.request.usesStoredLogins, home.user == nil,
            await logins?.mayHaveLogin(for: home.origin) == true
        else { return attempt.lacksCookieFile ? failure.withoutCookieFile : failure }
        return .loginIsLocked
    }
}

extension Failure {
    /// The failure of a task whose URL has a login: a stored one would not be sent.
    fileprivate var afterRefusedLogin: Failure {
        var failure = self
        failure.message.removeLast(Self.loginAdvice.count)
        failure.message +=
            " The login in the URL is refused: put the right one into the URL, and \(Self.freshLink)"
        return failure
    }

    /// The failure, with a word about the cookie file if the server refuses the task.
    fileprivate var withoutCookieFile: Failure {
        guard code.tellsOfAnExpiredLink else { return self }
        var failure = self
        failure.message +=
            " The cookie file of the settings cannot be read, so its cookies were not sent: check it"
            + " with `idown doctor`."
        return failure
    }

    /// The failure of a task whose login lies in a keyring that cannot be read now.
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
