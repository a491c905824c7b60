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

/// The parts of the service: connects them, runs them, and shuts them down.
struct RunningService: Sendable {
    private let log: Logger
    private let folders: StandardFolders
    private let connection: Connection
    private let watch: SettingsWatch
    private let folderWatch: SettingsWatch
    /// The settings at the start.
    private let settings: Settings
    private let newSettings: AsyncStream<Settings>
    private let drivers: TransferDrivers
    private let keyring: Keyring
    private let engine: Engine
    private let coordinator: Coordinator
    private let announcer: BusAnnouncer
    private let feed: DesktopFeed
    private let manager: ManagerService
    /// Finished once the service should end.
    private let end: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    /// Reads the settings and the list; no client can call the parts yet.
    init(
        _ store: Store,
        _ connection: Connection,
        _ folders: StandardFolders,
        log: Logger
    ) async throws(Exit) {
        (self.connection, self.folders, self.log) = (connection, folders, log)
        for folder in [folders.configHome, folders.config] { mkdir(folder, 0o700) }
        // Watched before it is read, so that no change is missed in between.
        let file = SettingsFile(folders)
        watch = SettingsWatch(file.path)
        folderWatch = SettingsWatch(folders.userDirectories)
        let keeper = SettingsKeeper(file, log: log)
        settings = keeper.now.settings
        StandardErrorLog.apply(settings)
        do {
            drivers = try TransferDrivers()
        } catch {
            throw .failed("cannot start libcurl: \(error)")
        }
        keyring = Keyring(list: folders.state)
        await keyring.use(connection)
        let engine = Engine(
            drivers: drivers,
            network: NetworkConfiguration(settings, folders),
            logins: keyring,
            userAgent: "idown/\(Contract.version)",
            executor: TransferThread(connection.executor)
        )
        engine.apply(settings)
        coordinator = Coordinator(
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

        announcer = BusAnnouncer(connection: connection, log: log)
        let feed = DesktopFeed(
            maxEnded: settings.whenDoneCommand.isEmpty
                ? DesktopFeed.maxEnded : DesktopFeed.maxEndedWithAction
        )
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let (newSettings, changedSettings) = AsyncStream.makeStream(
            of: Settings.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        manager = ManagerService(
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
        (self.engine, self.feed, self.newSettings) = (engine, feed, newSettings)
        self.end = (ends, end)
    }

    /// Serves clients until the service should end, and then ends its parts.
    func run(on bus: SessionBus) async throws(Exit) {
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
        let followers = follow(network, desktop)
        defer { for follower in followers { follower.cancel() } }
        let start = Task { await begin(desktop) }
        let busConnection = Task {
            await bus.keepConnected(manager, announcer, coordinator, list: folders.state) {
                desktop.use($0)
                await keyring.use($0)
            }
            end.continuation.finish()
        }
        await withGracefulShutdownHandler {
            for await _ in end.stream {}
        } onGracefulShutdown: {
            end.continuation.finish()
        }
        start.cancel()
        busConnection.cancel()
        await stop(bus, desktopRun)
    }

    /// Passes on what changes outside of the service, until the tasks are cancelled.
    private func follow(_ network: KernelNetwork, _ desktop: Desktop) -> [Task<Void, Never>] {
        [
            Task {
                await manager.readSettings(ifUnread: true)
                for await _ in watch.changes { await manager.readSettings() }
            },
            Task { for await _ in folderWatch.changes { await manager.readFolders() } },
            Task { for await settings in newSettings { desktop.apply(settings) } },
            Task { for await _ in keyring.unlocks { await coordinator.keepLogins(in: keyring) } },
            Task {
                var wasOnline = true
                for await isOnline in network.states {
                    engine.networkChanged()
                    // The kernel has a route before NetworkManager has looked for a portal.
                    if isOnline, !wasOnline { await waitForPortal(desktop) }
                    wasOnline = isOnline
                    await coordinator.setOnline(isOnline)
                }
            },
        ]
    }

    /// Lets downloads start, once it is known what they are to wait for.
    ///
    /// Those that are to wait for power, or that a captive portal would answer, must not start before
    /// the first reports.
    private func begin(_ desktop: Desktop) async {
        await desktop.waitForInitialConditions(within: .seconds(2))
        if KernelNetwork.isOnline { await waitForPortal(desktop) }
        guard !Task.isCancelled else { return }
        await coordinator.begin()
        log.notice("ready as \(Contract.busName)")
    }

    private func waitForPortal(_ desktop: Desktop) async {
        await withTimeLimit(.seconds(5)) { await desktop.waitUntilNetworkIsCertain() }
    }

    private func stop(_ bus: SessionBus, _ desktopRun: Task<Void, Never>) async {
        ServiceNotifier.send("STOPPING=1")
        await coordinator.stop()
        // Waits for one second only, because a disk may hang.
        await withTimeLimit(.seconds(1)) { await manager.endChanges() }
        await bus.refuseCalls(with: ManagerError(ServiceRefusal.stopping).busError)
        // Lets the desktop integration close what it shows; it is not waited for if it hangs.
        desktopRun.cancel()
        await withTimeLimit(.seconds(1)) { await desktopRun.value }
        // A thread that hangs in libcurl or on a disk ends with the process.
        await withTimeLimit(.seconds(1)) { await drivers.shutDown() }
        await keyring.close()
    }
}
