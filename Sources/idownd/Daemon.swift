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
import iDownState
import iDownloader

/// The session service: puts the rooms together, and takes them apart again at the end.
struct Daemon {
    let log: Logger
    let threshold: LogThreshold
    let folders: StandardFolders

    /// Runs until it is asked to end.
    func run() async throws(Exit) {
        let connection = try await connect()
        let lock = try await acquireLock(connection)
        // Held to the last line: whoever comes next may open the store only then.
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
        await bus.leave()
    }

    private func serve(
        _ store: Store,
        _ bus: SessionBus,
        _ connection: Connection
    ) async throws(Exit) {
        // Watched before it is read, so that no change falls between the two.
        let watch = SettingsWatch(folder: folders.config)
        let file = SettingsFile(folder: folders.config)
        let (settings, trouble) = file.read()
        if let trouble { log.error("the settings are not read, defaults are in force: \(trouble)") }
        threshold.heed(settings)
        let pool = try makePool()
        let filePool = try makePool()
        let keyring = Keyring(list: folders.state)
        let engine = Engine(
            pool: pool,
            filePool: filePool,
            network: NetworkConfiguration(settings, folders),
            logins: keyring,
            userAgent: "idown/\(Contract.version)",
            connectionsPerDownload: settings.maxConnectionsPerDownload,
            executor: TransferThread(connection.executor)
        )
        engine.setSpeedLimit(settings.speedLimit)
        let coordinator = Coordinator(
            store: store,
            engine: engine,
            slots: settings.maxConcurrentDownloads,
            holdWishes: HoldWishes(settings),
            executor: connection.executor,
            log: log
        )
        await coordinator.rememberHosts(in: HostsFile(folder: folders.state))
        do { try await coordinator.restore() } catch { throw .storeFailed("\(error)") }

        let announcer = BusAnnouncer(connection: connection, log: log)
        let feed = DesktopFeed(
            maxEnded: settings.whenDoneCommand == nil
                ? DesktopFeed.maxEnded : DesktopFeed.maxEndedWithAction
        )
        let end = EndSignal()
        let (newSettings, changedSettings) = AsyncStream.makeStream(
            of: Settings.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let manager = ManagerService(
            coordinator: coordinator,
            engine: engine,
            announcer: announcer,
            settings: settings,
            file: file,
            folders: folders,
            log: log,
            handedOver: { feed.handedOver(DesktopTask($0)) },
            activated: { feed.activated() },
            settingsChanged: { [threshold] settings in
                threshold.heed(settings)
                engine.network.heed(settings)
                changedSettings.yield(settings)
            },
            quitting: { end.send() }
        )
        // Before the name is taken, with which the first calls come.
        await coordinator.announce(to: SharedAnnouncer(bus: announcer, desktop: feed))
        await coordinator.keepCompleted(days: settings.keepCompleted)
        try await bus.publish(manager)
        for task in await coordinator.completedByRestore { feed.changed(DesktopTask(task)) }
        ServiceNotifier.send("READY=1")
        let network = KernelNetwork()
        await coordinator.setOnline(KernelNetwork.isOnline)
        let desktop = Desktop(
            feed: feed,
            host: ServiceHost(coordinator: coordinator, engine: engine) {
                (try? await manager.downloadDirectory) ?? ""
            },
            settings: DesktopSettings(settings),
            log: log
        )
        let attending = Task { await desktop.run() }
        defer { attending.cancel() }
        let heeding = Task {
            async let reading: Void = {
                for await _ in watch.changes { await manager.readSettings() }
            }()
            for await settings in newSettings { desktop.apply(DesktopSettings(settings)) }
            await reading
        }
        defer { heeding.cancel() }
        if HoldWishes(settings) != HoldWishes() {
            // What is to wait must not start before anybody could say so.
            await desktop.waitForInitialConditions(within: .seconds(2))
        }
        await coordinator.begin()
        let listening = Task {
            for await isOnline in network.states {
                engine.heedNetworkChange()
                await coordinator.setOnline(isOnline)
            }
        }
        defer { listening.cancel() }
        let keeping = Task {
            async let attending: Void = keyring.attend()
            for await _ in keyring.openings { await coordinator.keepLogins(in: keyring) }
            await attending
        }
        defer { keeping.cancel() }
        log.notice("ready as \(Contract.busName)")

        let presence = Task {
            await bus.stay(with: manager, announcer, coordinator) { [folders] in
                LockRequest.exists(folder: folders.state)
            }
            end.send()
        }
        await withGracefulShutdownHandler {
            await end.wait()
        } onGracefulShutdown: {
            end.send()
        }
        presence.cancel()
        ServiceNotifier.send("STOPPING=1")
        await coordinator.stop()
        await bus.refuseCalls(with: ManagerError(ServiceRefusal.stopping).busError)
        // The desktop is told what becomes of what it shows; one that hangs is not waited for.
        attending.cancel()
        await promptly(within: .seconds(1)) { await attending.value }
        // A thread that hangs, in libcurl or on a disk, ends with the process.
        await promptly(within: .seconds(1)) {
            async let other: Void = filePool.shutDown()
            await pool.shutDown()
            await other
        }
        await keyring.close()
    }

    // MARK: Coming up

    private func connect() async throws(Exit) -> Connection {
        do {
            return try await Connection.open(.session)
        } catch {
            throw .noBus("\(error)")
        }
    }

    /// The lock comes before the store is touched, so that two services never share one.
    private func acquireLock(_ connection: Connection) async throws(Exit) -> StateLock {
        // One whose bus has gone makes room where it is asked to.
        var wish: LockRequest?
        defer { withExtendedLifetime(wish) {} }
        // An older service that comes back to a new bus, or is just ending, gets ten seconds.
        for _ in 0..<100 {
            do {
                if let lock = try StateLock.tryAcquire(folder: folders.state) { return lock }
            } catch {
                throw .storeFailed("\(error)")
            }
            if let owner = try? await connection.owner(of: Contract.busName) {
                throw .alreadyRunning("idownd runs already on this bus, as \(owner)")
            }
            if wish == nil { wish = try? LockRequest.tryMake(folder: folders.state) }
            try? await Task.sleep(for: .milliseconds(100))
        }
        throw .locked("another idownd holds \(folders.state)/lock and does not end")
    }

    private func openStore() throws(Exit) -> Store {
        do {
            let (store, report) = try Store.open(folder: folders.state, now: WallTime.now)
            if let recovery = report.recovery {
                log.error(
                    """
                    the list of tasks was damaged (\(recovery.reason)); it was moved to \
                    \(recovery.brokenPath), and \(recovery.carriedTasks) tasks were carried over
                    """
                )
            }
            return store
        } catch {
            throw .storeFailed("the list of tasks in \(folders.state) cannot be opened: \(error)")
        }
    }

    private func makePool() throws(Exit) -> TransferPool {
        do { return try TransferPool() } catch { throw .failed("libcurl: \(error)") }
    }

    // MARK: Going down

    private func close(_ store: Store) {
        do { try store.close() } catch { log.error("the list of tasks: \(error)") }
    }
}

/// Gives ServiceLifecycle the daemon to run, and keeps how it ended.
struct DaemonService: Service {
    let daemon: Daemon

    func run() async throws { try await daemon.run() }
}

extension LogThreshold {
    /// Takes up what the user's settings say now.
    fileprivate func heed(_ settings: Settings) {
        level = Logger.Level(rawValue: settings.logLevel) ?? .info
    }
}
