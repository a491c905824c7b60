// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging

/// The service's manners on a desktop: it heeds the network, the battery and sleep, and shows what
/// it does where people look.
///
/// Every service that it talks to is optional, is found when it comes and forgotten when it goes.
/// Nothing of a download ever waits for any of them.
package actor Desktop {
    /// So soon after each other the desktop is told what is new.
    package static let pace: Duration = .milliseconds(500)
    /// What a service said of the computer stands for so long after it has gone: a restart is over
    /// by then.
    package static let grace: Duration = .seconds(30)
    /// A notification server that has not answered is left alone for so long.
    package static let rest: Duration = .seconds(60)
    /// Leave is taken for no longer than this.
    private static let farewell: Duration = .seconds(1)

    private let feed: DesktopFeed
    private let host: any DesktopHost
    private var settings: DesktopSettings
    private let changes: AsyncStream<DesktopSettings>
    private let change: AsyncStream<DesktopSettings>.Continuation
    private let session: BusAddress
    private let system: BusAddress
    private let pace: Duration
    private let grace: Duration
    private let rest: Duration
    /// A bus that went away is looked for this often.
    private var searchPace: Duration { pace * 4 }
    private let log: Logger
    private let board: ConditionBoard
    private let command: CompletionCommand
    private let stayAwake = StayAwake()
    private var clients: SessionClients?
    /// Whether the session's bus was looked for once, and who waits for that.
    private var hasLooked = false
    private var lookWaiters: [CheckedContinuation<Void, Never>] = []
    /// The system's bus, and what follows the services for power there.
    private var systemConnection: Connection?
    private var watchedConnection: Connection?
    private var powerWatch: Task<Void, Never>?
    private var powerAdjuster: Task<Void, Never>?
    /// What is to be opened and shown, and who is at it.
    private var presents: [DesktopTask] = []
    private var presenting: Task<Void, Never>?

    /// - Parameters:
    ///   - feed: what happens to the tasks.
    ///   - host: who hears of the computer and carries out what the user asks for.
    ///   - settings: those in force.
    ///   - session: the session's bus.
    ///   - system: the system's bus.
    ///   - pace: so soon after each other it is told what is new.
    ///   - grace: what a service said stands for so long after it has gone.
    ///   - rest: a notification server that has not answered is left alone for so long.
    ///   - log: where trouble is told.
    package init(
        feed: DesktopFeed,
        host: any DesktopHost,
        settings: DesktopSettings,
        session: BusAddress = .session,
        system: BusAddress = .system,
        pace: Duration = Desktop.pace,
        grace: Duration = Desktop.grace,
        rest: Duration = Desktop.rest,
        log: Logger
    ) {
        self.feed = feed
        self.host = host
        self.settings = settings
        self.session = session
        self.system = system
        self.pace = pace
        self.grace = grace
        self.rest = rest
        self.log = log
        board = ConditionBoard(host: host, heedsPower: settings.heedsPower)
        command = CompletionCommand(settings.whenDoneCommand, log: log)
        (changes, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        change.yield(settings)
    }

    /// From now on these settings are in force.
    package nonisolated func apply(_ settings: DesktopSettings) { change.yield(settings) }

    /// Runs until the task is cancelled.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { [self] in await attendSystem() }
            group.addTask { [self] in await attendSession() }
            group.addTask { [self] in await distribute() }
            group.addTask { [self] in await followSettings() }
        }
        await powerAdjuster?.value
        powerWatch?.cancel()
        await powerWatch?.value
    }

    private func followSettings() async {
        for await settings in changes {
            self.settings = settings
            feed.tellEnds(
                upTo: settings.whenDoneCommand == nil
                    ? DesktopFeed.mostEnded : DesktopFeed.mostEndedWithWork
            )
            await command.use(settings.whenDoneCommand)
            await stayAwake.setWanted(settings.staysAwake)
            adjustPower()
        }
    }

    /// Follows the services for power where that is wanted and there is a bus; one change after the
    /// other, so that the last is what stays.
    private func adjustPower() {
        guard powerAdjuster == nil else { return }
        powerAdjuster = Task {
            while !Task.isCancelled {
                let wanted = settings.heedsPower ? systemConnection : nil
                guard wanted !== watchedConnection else { break }
                powerWatch?.cancel()
                await powerWatch?.value
                powerWatch = nil
                watchedConnection = wanted
                guard let wanted else {
                    await board.forgetPower()
                    continue
                }
                powerWatch = Task { [board, grace] in
                    await PowerWatch(connection: wanted, board: board, grace: grace).follow()
                }
            }
            powerAdjuster = nil
        }
    }

    /// Returns once the services that are there have said what the computer is like, or after a
    /// time.
    package func firstLook(within limit: Duration) async {
        let clock = Task { [board] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            await board.endFirstLook()
        }
        await board.firstLook()
        clock.cancel()
    }

    // MARK: The buses

    private func attendSystem() async {
        while !Task.isCancelled {
            if let connection = try? await Connection.open(system) {
                await stayAwake.use(system: connection)
                systemConnection = connection
                adjustPower()
                let watch = SystemWatch(
                    connection: connection,
                    board: board,
                    host: host,
                    grace: grace
                )
                await watch.follow()
                await connection.close()
                systemConnection = nil
                adjustPower()
                await stayAwake.use(system: nil)
                guard (try? await Task.sleep(for: searchPace)) != nil else { return }
            } else {
                // Nothing that is not there at the start comes often enough to look for it.
                await board.forgetSystem()
                guard (try? await Task.sleep(for: .seconds(600))) != nil else { return }
            }
        }
    }

    private func attendSession() async {
        var address = session
        while !Task.isCancelled {
            if let connection = try? await Connection.open(address) {
                let clients = SessionClients(
                    connection,
                    host: host,
                    board: board,
                    grace: grace,
                    rest: rest,
                    log: log
                )
                self.clients = clients
                await command.use(UserPrograms(connection: connection))
                await stayAwake.use(session: connection)
                endLook()
                await clients.follow()
                await leave(clients, on: connection)
                self.clients = nil
                await command.use(UserPrograms(connection: nil))
                await stayAwake.use(session: nil)
            }
            endLook()
            address = session.ofAnyRun
            guard (try? await Task.sleep(for: searchPace)) != nil else { return }
        }
        endLook()
    }

    /// Takes leave of the session's services and closes the connection, which ends every call to
    /// one that does not answer.
    private func leave(_ clients: SessionClients, on connection: Connection) async {
        let limit = Task {
            guard (try? await Task.sleep(for: Self.farewell)) != nil else { return }
            await connection.close()
        }
        // A task of its own: a cancelled one waits for no answer.
        await Task { await clients.leave() }.value
        limit.cancel()
        await connection.close()
    }

    private func endLook() {
        hasLooked = true
        for waiter in lookWaiters { waiter.resume() }
        lookWaiters = []
    }

    // MARK: News

    private func distribute() async {
        // The call that has started the service may have brought the first news.
        if !hasLooked { await withCheckedContinuation { lookWaiters.append($0) } }
        for await _ in feed.pokes {
            let news = feed.take()
            await command.take(news)
            await stayAwake.setBusy(!news.active.isEmpty)
            if let clients {
                await clients.take(news, settings: settings)
                if news.isActivated {
                    // A file manager may take its time to start, and the news goes on.
                    Task { await clients.show(await host.summary(), news, settings: settings) }
                }
                present(news.ended.filter { $0.state == .completed && $0.whenDone != nil })
            }
            guard (try? await Task.sleep(for: pace)) != nil else { return }
        }
    }

    private func present(_ tasks: [DesktopTask]) {
        presents += tasks
        guard presenting == nil, !presents.isEmpty else { return }
        presenting = Task {
            while !presents.isEmpty, let clients {
                let tasks = presents
                presents = []
                await clients.present(tasks)
            }
            presenting = nil
        }
    }
}
