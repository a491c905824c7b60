// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Executors
import Glibc
import Logging
import ServiceLifecycle
import iDownBus
import iDownData
import iDownDesktop
import iDownService
import iDownSettings
import iDownState
import iDownloader

/// The session service: connects its parts, runs them, and shuts them down.
struct Daemon: Service {
    let log: Logger
    let folders: StandardFolders

    /// Runs until the service is asked to end.
    func run() async throws(Exit) {
        let connection = try await connect()
        let lock = try await acquireLock(connection)
        // Held until the store is closed: only then may another service open it.
        defer { withExtendedLifetime(lock) {} }
        let store = try openStore()
        let bus = SessionBus(connection, log: log)
        do {
            try await serve(store, bus, connection)
        } catch {
            await connection.close()
            close(store)
            throw error
        }
        close(store)
        await bus.disconnect()
    }

    private func serve(
        _ store: Store,
        _ bus: SessionBus,
        _ connection: Connection
    ) async throws(Exit) {
        for folder in [folders.configHome, folders.config] { mkdir(folder, 0o700) }
        // Watched before it is read, so that no change is missed in between.
        let file = SettingsFile(folders)
        let watch = SettingsWatch(file.path)
        let folderWatch = SettingsWatch(folders.userDirectories)
        let keeper = SettingsKeeper(file, log: log)
        let settings = keeper.now.settings
        StandardErrorLog.apply(settings)
        let pool = try makePool()
        let filePool = try makePool()
        let keyring = Keyring(list: folders.state)
        await keyring.use(connection)
        let engine = Engine(
            pool: pool,
            filePool: filePool,
            network: NetworkConfiguration(settings, folders),
            logins: keyring,
            userAgent: "idown/\(Contract.version)",
            executor: TransferThread(connection.executor)
        )
        engine.apply(settings)
        let coordinator = Coordinator(
            store: store,
            engine: engine,
            slots: settings.maxConcurrentDownloads,
            holdSettings: HoldSettings(
                settings,
                engine.network,
                unknownProxy: keeper.now.unknownProxy
            ),
            executor: connection.executor,
            log: log
        )
        await coordinator.rememberHosts(in: HostsFile(folder: folders.state))
        do { try await coordinator.restore() } catch { throw .storeFailed("\(error)") }

        let announcer = BusAnnouncer(connection: connection, log: log)
        let feed = DesktopFeed(
            maxEnded: settings.whenDoneCommand.isEmpty
                ? DesktopFeed.maxEnded : DesktopFeed.maxEndedWithAction
        )
        // Ends once the service should end.
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let (newSettings, changedSettings) = AsyncStream.makeStream(
            of: Settings.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let manager = ManagerService(
            coordinator: coordinator,
            engine: engine,
            announcer: announcer,
            keeper: keeper,
            folders: folders,
            log: log,
            handedOver: { feed.handedOver(DesktopTask($0)) },
            tookOver: { [first = FirstUse(of: "browser-told", folder: folders.state)] task, old in
                guard !task.record.request.isPrivate else { return }
                if let old { feed.askToContinue(DesktopTask(old), with: DesktopTask(task)) }
                if first.begins() { feed.introduce(DesktopTask(task)) }
            },
            activated: { feed.activated(token: $0) },
            settingsChanged: { settings in
                StandardErrorLog.apply(settings)
                engine.network.apply(settings)
                changedSettings.yield(settings)
            },
            quitting: { end.finish() }
        )
        // Before the bus name is taken, because calls may arrive from then on.
        await coordinator.announce(to: SharedAnnouncer(bus: announcer, desktop: feed))
        await coordinator.keepCompleted(days: settings.keepCompleted)
        try await bus.publish(manager)
        for task in await coordinator.completedByRestore { feed.changed(DesktopTask(task)) }
        ServiceNotifier.send("READY=1")
        let network = KernelNetwork()
        await coordinator.setOnline(KernelNetwork.isOnline)
        let desktop = Desktop(
            feed: feed,
            host: ServiceHost(coordinator: coordinator, engine: engine, manager: manager),
            settings: settings,
            session: connection,
            log: log
        )
        let desktopRun = Task { await desktop.run() }
        defer { desktopRun.cancel() }
        let followers: [Task<Void, Never>] = [
            Task { for await _ in watch.changes { await manager.readSettings() } },
            Task { for await _ in folderWatch.changes { await manager.readFolders() } },
            Task { for await settings in newSettings { desktop.apply(settings) } },
            Task { for await _ in keyring.unlocks { await coordinator.keepLogins(in: keyring) } },
            Task {
                var wasOnline = true
                for await isOnline in network.states {
                    engine.networkChanged()
                    if isOnline, !wasOnline {
                        // The kernel has a route before NetworkManager has looked for a portal.
                        await withTimeLimit(.seconds(5)) {
                            await desktop.waitUntilNetworkIsCertain()
                        }
                    }
                    wasOnline = isOnline
                    await coordinator.setOnline(isOnline)
                }
            },
        ]
        defer { for follower in followers { follower.cancel() } }
        let start = Task { await begin(coordinator, desktop) }
        let busConnection = Task {
            await bus.keepConnected(manager, announcer, coordinator, list: folders.state) {
                desktop.use($0)
                await keyring.use($0)
            }
            end.finish()
        }
        await withGracefulShutdownHandler {
            for await _ in ends {}
        } onGracefulShutdown: {
            end.finish()
        }
        start.cancel()
        busConnection.cancel()
        ServiceNotifier.send("STOPPING=1")
        await coordinator.stop()
        // Waits for one second only, because a disk may hang.
        await withTimeLimit(.seconds(1)) { await manager.endChanges() }
        await bus.refuseCalls(with: ManagerError(ServiceRefusal.stopping).busError)
        // Lets the desktop integration close what it shows; it is not waited for if it hangs.
        desktopRun.cancel()
        await withTimeLimit(.seconds(1)) { await desktopRun.value }
        // A thread that hangs in libcurl or on a disk ends with the process.
        await withTimeLimit(.seconds(1)) {
            async let other: Void = filePool.shutDown()
            await pool.shutDown()
            await other
        }
        await keyring.close()
    }

    /// Lets downloads start, once it is known what they are to wait for.
    ///
    /// Those that are to wait for power, or that a captive portal would answer, must not start before
    /// the first reports.
    private func begin(_ coordinator: Coordinator, _ desktop: Desktop) async {
        await desktop.waitForInitialConditions(within: .seconds(2))
        if KernelNetwork.isOnline {
            await withTimeLimit(.seconds(5)) { await desktop.waitUntilNetworkIsCertain() }
        }
        guard !Task.isCancelled else { return }
        await coordinator.begin()
        log.notice("ready as \(Contract.busName)")
    }

    // MARK: Starting

    private func connect() async throws(Exit) -> Connection {
        do {
            // A bus that is silent must not keep SIGTERM from ending the service.
            return try await cancelWhenGracefulShutdown { try await Connection.open(.session) }
        } catch {
            throw .noBus("\(error)")
        }
    }

    /// Takes the state lock, before the store is opened, so that two services never share a store.
    private func acquireLock(_ connection: Connection) async throws(Exit) -> StateLock {
        // A service that has lost its bus ends when its lock is requested.
        var request: LockRequest?
        defer { withExtendedLifetime(request) {} }
        // Waits ten seconds for an older service that is ending or reconnecting to a new bus.
        for _ in 0..<100 {
            do {
                if let lock = try StateLock.tryAcquire(folder: folders.state) { return lock }
            } catch {
                throw .storeFailed("\(error)")
            }
            if let owner = try? await connection.owner(of: Contract.busName) {
                throw .alreadyRunning("idownd is already running on this bus, as \(owner)")
            }
            if request == nil { request = try? LockRequest.tryMake(folder: folders.state) }
            try? await Task.sleep(for: .milliseconds(100))
        }
        throw .locked(
            "another idownd holds \(folders.state)/lock and did not end within 10 seconds"
        )
    }

    private func openStore() throws(Exit) -> Store {
        do {
            let (store, report) = try Store.open(folder: folders.state, now: WallTime.now)
            if let recovery = report.recovery {
                log.error(
                    """
                    the list of tasks was damaged (\(recovery.reason)); \
                    \(recovery.recoveredTasks) tasks were recovered, and the damaged file is kept as \
                    \(recovery.brokenPath)
                    """
                )
            }
            return store
        } catch {
            throw .storeFailed("the list of tasks in \(folders.state) cannot be opened: \(error)")
        }
    }

    private func makePool() throws(Exit) -> TransferPool {
        do {
            return try TransferPool()
        } catch {
            throw .failed("cannot start libcurl: \(error)")
        }
    }

    // MARK: Ending

    private func close(_ store: Store) {
        do { try store.close() } catch { log.error("cannot close the list of tasks: \(error)") }
    }
}
