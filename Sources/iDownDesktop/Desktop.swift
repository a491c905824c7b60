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

    private let feed: DesktopFeed
    private let host: any DesktopHost
    private let settings: DesktopSettings
    private let session: BusAddress
    private let system: BusAddress
    private let pace: Duration
    /// A bus that went away is looked for this often.
    private var searchPace: Duration { pace * 4 }
    private let log: Logger
    private let board: ConditionBoard
    private let command: CompletionCommand?
    private let stayAwake: StayAwake?
    private var clients: SessionClients?
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
    ///   - log: where trouble is told.
    package init(
        feed: DesktopFeed,
        host: any DesktopHost,
        settings: DesktopSettings,
        session: BusAddress = .session,
        system: BusAddress = .system,
        pace: Duration = Desktop.pace,
        log: Logger
    ) {
        self.feed = feed
        self.host = host
        self.settings = settings
        self.session = session
        self.system = system
        self.pace = pace
        self.log = log
        board = ConditionBoard(host: host)
        command = settings.whenDoneCommand.map { CompletionCommand($0, log: log) }
        stayAwake = settings.staysAwake ? StayAwake() : nil
    }

    /// Runs until the task is cancelled.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { [self] in await attendSystem() }
            group.addTask { [self] in await attendSession() }
            group.addTask { [self] in await distribute() }
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
                await stayAwake?.use(system: connection)
                await withClosing(connection) {
                    await SystemWatch(connection: connection, board: board, host: host).follow()
                }
                await stayAwake?.use(system: nil)
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
                    settings: settings,
                    host: host,
                    board: board,
                    log: log
                )
                self.clients = clients
                await command?.use(UserPrograms(connection: connection))
                await stayAwake?.use(session: connection)
                await withClosing(connection) { await clients.follow() }
                self.clients = nil
                await command?.use(UserPrograms(connection: nil))
                await stayAwake?.use(session: nil)
            }
            address = session.ofAnyRun
            guard (try? await Task.sleep(for: searchPace)) != nil else { return }
        }
    }

    private func withClosing(_ connection: Connection, _ body: () async -> Void) async {
        await body()
        await connection.close()
    }

    // MARK: News

    private func distribute() async {
        for await _ in feed.pokes {
            let news = feed.take()
            await command?.take(news)
            await stayAwake?.setBusy(!news.active.isEmpty)
            if let clients {
                await clients.take(news)
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
