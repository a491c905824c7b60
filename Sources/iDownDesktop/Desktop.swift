// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging
package import iDownSettings
import iDownState

/// The desktop integration: follows the network, the battery and sleep, and shows downloads in
/// notifications, task bars and job lists.
///
/// Every desktop service is optional; it is used from when it starts until it stops. Downloads wait
/// some seconds at most for one that is there: for its first report, and for a look at a new network.
package actor Desktop {
    /// The time between two updates of what the desktop shows.
    package static let updateInterval: Duration = .milliseconds(500)
    /// How long a service's last report about the computer stays valid after the service has
    /// stopped: long enough for a restart.
    package static let grace: Duration = .seconds(30)
    /// How long no notifications are sent to a server that did not answer.
    package static let backOff: Duration = .seconds(60)

    private let feed: DesktopFeed
    private let host: any DesktopHost
    private var settings: Settings
    private let settingsChanges: AsyncStream<Settings>
    private let settingsChange: AsyncStream<Settings>.Continuation
    private let sessions: AsyncStream<Connection>
    private let newSession: AsyncStream<Connection>.Continuation
    private let system: BusAddress
    private let updateInterval: Duration
    private let grace: Duration
    private let backOff: Duration
    /// The time between two attempts to connect to a system bus that went away.
    private var reconnectInterval: Duration { updateInterval * 4 }
    private let log: Logger
    private let monitor: ConditionMonitor
    private let command: CompletionCommand
    private let idleInhibitor = IdleInhibitor()
    private var clients: SessionClients?
    /// Whether updates can be delivered: the clients of the session bus exist, or none will.
    private var canDeliver: Bool
    private var deliveryWaiters: [CheckedContinuation<Void, Never>] = []
    /// The system bus, and the connection on which ``powerWatch`` follows the power services.
    private var systemConnection: Connection?
    private var watchedConnection: Connection?
    private var powerWatch: Task<Void, Never>?
    private var powerUpdater: Task<Void, Never>?
    /// Tasks whose files must be opened or revealed, and the work that does so.
    private var filesToPresent: [DesktopTask] = []
    private var presenting: Task<Void, Never>?

    /// - Parameters:
    ///   - feed: Collects what happens to the tasks.
    ///   - host: Receives the computer's conditions and carries out what the user asks for.
    ///   - settings: The current settings.
    ///   - session: The connection to the session bus, which its owner closes; nil for none.
    ///   - system: The system bus.
    ///   - updateInterval: The time between two updates of what the desktop shows.
    ///   - grace: How long a service's last report stays valid after the service has stopped.
    ///   - backOff: How long no notifications are sent to a server that did not answer.
    ///   - log: Receives problems.
    package init(
        feed: DesktopFeed,
        host: any DesktopHost,
        settings: Settings,
        session: Connection?,
        system: BusAddress = .system,
        updateInterval: Duration = Desktop.updateInterval,
        grace: Duration = Desktop.grace,
        backOff: Duration = Desktop.backOff,
        log: Logger
    ) {
        self.feed = feed
        self.host = host
        self.settings = settings
        canDeliver = session == nil
        self.system = system
        self.updateInterval = updateInterval
        self.grace = grace
        self.backOff = backOff
        self.log = log
        monitor = ConditionMonitor(
            host: host,
            holdsOnLowBattery: settings.holdsOnLowBattery,
            hasSession: session != nil
        )
        command = CompletionCommand(settings.whenDoneCommand, log: log)
        (settingsChanges, settingsChange) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        settingsChange.yield(settings)
        (sessions, newSession) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        if let session { newSession.yield(session) }
    }

    /// Uses the services of another session bus, once the connection to the last one has ended.
    package nonisolated func use(_ session: Connection) { newSession.yield(session) }

    /// Applies changed settings.
    package nonisolated func apply(_ settings: Settings) { settingsChange.yield(settings) }

    /// Runs until the task is cancelled.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { [self] in await followSystemBus() }
            group.addTask { [self] in await followSessionBus() }
            group.addTask { [self] in await deliverNews() }
            group.addTask { [self] in await followSettings() }
        }
        await command.end()
        await powerUpdater?.value
        powerWatch?.cancel()
        await powerWatch?.value
    }

    private func followSettings() async {
        for await settings in settingsChanges {
            self.settings = settings
            feed.setMaxEnded(
                settings.whenDoneCommand.isEmpty
                    ? DesktopFeed.maxEnded : DesktopFeed.maxEndedWithAction
            )
            await command.update(settings.whenDoneCommand)
            await idleInhibitor.setEnabled(settings.staysAwake)
            updatePowerWatch()
        }
    }

    /// Starts or stops following the power services, as the settings and the system bus require.
    ///
    /// Changes are carried out one after another, so that the last one stays in force.
    private func updatePowerWatch() {
        guard powerUpdater == nil else { return }
        powerUpdater = Task {
            while !Task.isCancelled {
                let wanted = settings.holdsOnLowBattery ? systemConnection : nil
                guard wanted !== watchedConnection else { break }
                powerWatch?.cancel()
                await powerWatch?.value
                powerWatch = nil
                watchedConnection = wanted
                guard let wanted else {
                    await monitor.forgetPower()
                    continue
                }
                powerWatch = Task { [monitor, grace] in
                    await PowerWatch(connection: wanted, monitor: monitor, grace: grace).follow()
                }
            }
            powerUpdater = nil
        }
    }

    /// Returns once the running services have reported the computer's conditions, or after `limit`.
    package func waitForInitialConditions(within limit: Duration) async {
        let clock = Task { [monitor] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            await monitor.stopWaitingForInitialConditions()
        }
        await monitor.waitForInitialConditions()
        clock.cancel()
    }

    /// Returns once it is known whether a captive portal is in the way, where NetworkManager looks.
    package func waitUntilNetworkIsCertain() async { await monitor.waitUntilCertain() }

    // MARK: The buses

    private func followSystemBus() async {
        while !Task.isCancelled {
            if let connection = try? await Connection.open(system) {
                await idleInhibitor.setSystemBus(connection)
                systemConnection = connection
                updatePowerWatch()
                let watch = SystemWatch(
                    connection: connection,
                    monitor: monitor,
                    host: host,
                    grace: grace
                )
                await watch.follow()
                await connection.close()
                systemConnection = nil
                updatePowerWatch()
                await idleInhibitor.setSystemBus(nil)
                guard (try? await Task.sleep(for: reconnectInterval)) != nil else { return }
            } else {
                // A machine that has no system bus when the service starts is unlikely to get one
                // soon: look again only every 10 minutes.
                await monitor.forgetSystemServices()
                guard (try? await Task.sleep(for: .seconds(600))) != nil else { return }
            }
        }
    }

    private func followSessionBus() async {
        for await connection in sessions {
            let clients = SessionClients(
                connection,
                host: host,
                monitor: monitor,
                grace: grace,
                backOff: backOff,
                log: log
            )
            self.clients = clients
            await command.update(ProgramLauncher(connection: connection))
            await idleInhibitor.setSessionBus(connection)
            startDelivery()
            await clients.follow()
            // A new task, because this one may be cancelled, and a cancelled task gets no answers.
            await Task { await clients.end() }.value
            self.clients = nil
            await command.update(ProgramLauncher(connection: nil))
            await idleInhibitor.setSessionBus(nil)
        }
        startDelivery()
    }

    private func startDelivery() {
        canDeliver = true
        for waiter in deliveryWaiters { waiter.resume() }
        deliveryWaiters = []
    }

    // MARK: News

    private func deliverNews() async {
        // The call that started the service may already have brought news; wait for the session
        // bus.
        if !canDeliver { await withCheckedContinuation { deliveryWaiters.append($0) } }
        for await _ in feed.wakeUps {
            let news = feed.take()
            await command.receive(news)
            await idleInhibitor.setDownloading(!news.active.isEmpty)
            if let clients {
                await clients.receive(news, settings: settings)
                if let token = news.activation {
                    // Not awaited: a window may start slowly, and updates must go on.
                    Task {
                        if await clients.showWindow(token: token) { return }
                        await clients.showSummary(await host.summary(), news, settings: settings)
                    }
                }
                presentFiles(of: news.ended.filter { $0.state == .completed && $0.whenDone != nil })
            }
            guard (try? await Task.sleep(for: updateInterval)) != nil else { return }
        }
    }

    private func presentFiles(of tasks: [DesktopTask]) {
        filesToPresent += tasks
        guard presenting == nil, !filesToPresent.isEmpty else { return }
        presenting = Task {
            while !filesToPresent.isEmpty, let clients {
                let tasks = filesToPresent
                filesToPresent = []
                await clients.presentFiles(of: tasks)
            }
            presenting = nil
        }
    }
}
