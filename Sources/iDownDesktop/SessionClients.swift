// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging

/// All that the session's bus is used for, as long as one connection to it lasts.
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
        board: ConditionBoard,
        grace: Duration,
        rest: Duration,
        log: Logger
    ) {
        self.connection = connection
        presenter = FilePresenter(
            connection,
            programs: UserPrograms(connection: connection),
            log: log
        )
        notifier = Notifier(
            connection,
            host: host,
            presenter: presenter,
            rest: rest,
            log: log
        )
        launcher = LauncherEntry(connection)
        views = JobViews(connection, host: host)
        network = PortalNetwork(connection, board: board, grace: grace)
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

    /// Takes leave of those who would take the end for a crash; after ``follow()``.
    func leave() async { await views.end() }

    /// Tells everybody; waits for nobody outside of this process.
    func take(_ news: DesktopNews, settings: DesktopSettings) async {
        if settings.notifies { await notifier.take(news) }
        await launcher.take(news)
        await views.take(news)
    }

    /// Shows how the list stands: where that may not be told, the folder with the files.
    func show(_ summary: DesktopSummary, _ news: DesktopNews, settings: DesktopSettings) async {
        if settings.notifies, await notifier.show(summary, Array(news.active.values)) { return }
        await presenter.showFolder(summary.folder)
    }

    /// Opens and shows what is to be opened and shown.
    func present(_ tasks: [DesktopTask]) async {
        let revealed = tasks.filter { $0.whenDone == .reveal }.compactMap(\.path)
        if !revealed.isEmpty { await presenter.reveal(revealed) }
        for task in tasks where task.whenDone == .open {
            if let path = task.path { await presenter.open(path) }
        }
    }
}
