// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging
import iDownSettings
import iDownState

/// All clients of session bus services, for as long as one connection to the bus lasts.
struct SessionClients: Sendable {
    let connection: Connection
    private let notifier: Notifier
    private let launcher: LauncherEntry
    private let views: JobViews
    private let presenter: FilePresenter
    private let network: PortalNetwork

    init(
        _ connection: Connection,
        host: any DesktopHost,
        monitor: ConditionMonitor,
        grace: Duration,
        backOff: Duration,
        log: Logger
    ) {
        self.connection = connection
        presenter = FilePresenter(
            connection,
            programs: ProgramLauncher(connection: connection),
            log: log
        )
        notifier = Notifier(
            connection,
            host: host,
            presenter: presenter,
            backOff: backOff,
            log: log
        )
        launcher = LauncherEntry(connection)
        views = JobViews(connection, host: host)
        network = PortalNetwork(connection, monitor: monitor, grace: grace)
    }

    /// Follows the services; returns when the connection ends or the task is cancelled.
    func follow() async {
        await withTaskGroup { group in
            group.addTask { await notifier.follow() }
            group.addTask { await views.follow() }
            group.addTask { await network.follow() }
            group.addTask { await connection.waitUntilClosed() }
            await group.waitForAll()
        }
    }

    /// Closes what the services show: notifications, and Plasma's job views, which it would otherwise
    /// report as crashes; call it after ``follow()`` has returned.
    func end() async {
        async let notifications: Void = notifier.end()
        await views.end()
        await notifications
    }

    /// Passes the news to all clients; waits for no other process.
    func receive(_ news: DesktopNews, settings: Settings) async {
        if settings.notifies { await notifier.receive(news) }
        await launcher.receive(news)
        await views.receive(news)
    }

    /// Shows the window; false where it is not installed.
    func showWindow(token: String) async -> Bool { await presenter.showWindow(token: token) }

    /// Shows a summary as a notification; where notifications are off or not possible, opens the
    /// download folder.
    func showSummary(_ summary: DesktopSummary, _ news: DesktopNews, settings: Settings)
        async
    {
        if settings.notifies, await notifier.showSummary(summary, Array(news.active.values)) {
            return
        }
        await presenter.showFolder(summary.folder)
    }

    /// Opens or reveals the finished files of these tasks, as each task asks for.
    func presentFiles(of tasks: [DesktopTask]) async {
        let revealed = tasks.filter { $0.whenDone == .reveal }.compactMap(\.path)
        if !revealed.isEmpty { await presenter.reveal(revealed) }
        for task in tasks where task.whenDone == .open {
            if let path = task.path { await presenter.open(path) }
        }
    }
}
