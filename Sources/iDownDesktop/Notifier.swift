// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging
import iDownState

/// Notifies the user of added, completed and failed downloads: Desktop Notifications Specification
/// 1.2.
///
/// One notification of each kind is open; a newer one replaces it, so that a hundred files that
/// finish together are one notification. A server that does not answer gets no notifications for a
/// while, or until another server takes its place.
actor Notifier {
    private struct Shown {
        let number: UInt32
        let group: NotificationGroup
    }

    private struct Click: Sendable {
        let number: UInt32
        let key: String
        let token: String
    }

    /// How many clicks may wait for the answer to a `Notify`; no user clicks faster.
    private static let maxClicks = 64

    private let server: Proxy
    private let host: any DesktopHost
    private let presenter: FilePresenter
    private let log: Logger
    /// How long no notifications are sent to a server that did not answer.
    private let backOff: Duration
    private var pending: [NotificationKind: NotificationGroup] = [:]
    private var shown: [NotificationKind: Shown] = [:]
    /// The open summary notification, and the folder that its buttons open.
    private var list: (number: UInt32, folder: String)?
    private var clicks: [Click] = []
    /// The activation token of the last click, by notification; it lets a program that the click
    /// starts take the focus.
    private var tokens: [UInt32: String] = [:]
    private var capabilities: Set<String>?
    /// How often the server has started or stopped.
    private var ownerChanges = 0
    private var backOffEnd: ContinuousClock.Instant = .now
    /// Starts the worker at the end of the back-off.
    private var backOffTimer: Task<Void, Never>?
    private var worker: Task<Void, Never>?
    /// How many calls that show the summary are under way: a click may arrive before the answer
    /// with the number of its notification, and waits for it.
    private var summariesUnderWay = 0

    /// - Parameters:
    ///   - connection: The connection to the session bus.
    ///   - host: Carries out what the user asks for.
    ///   - presenter: Opens and shows files.
    ///   - backOff: How long no notifications are sent to a server that did not answer.
    ///   - log: Receives problems.
    init(
        _ connection: Connection,
        host: any DesktopHost,
        presenter: FilePresenter,
        backOff: Duration,
        log: Logger
    ) {
        server = Proxy(
            optional: connection,
            "org.freedesktop.Notifications",
            "/org/freedesktop/Notifications",
            "org.freedesktop.Notifications"
        )
        self.host = host
        self.presenter = presenter
        self.backOff = backOff
        self.log = log
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        await server.follow { [self] event in
            switch event {
            case .owner(let owner): await serverChanged(isRunning: owner != nil)
            case .signal(let signal): await received(signal)
            }
        }
        backOffTimer?.cancel()
    }

    /// Closes all notifications: once this program has ended, their buttons would do nothing.
    func end() async {
        let numbers = shown.values.map(\.number) + (list.map { [$0.number] } ?? [])
        (shown, list) = ([:], nil)
        for number in numbers { try? await server.call("CloseNotification", number) }
    }

    /// Queues notifications for the news; returns without waiting for the server.
    func receive(_ news: DesktopNews) {
        let ends = Set(news.ended.map(\.id))
        for task in news.handedOver where !ends.contains(task.id) {
            pending[.added, default: .init()].add(task)
        }
        if let task = news.introduced { pending[.introduced] = NotificationGroup([task]) }
        if let (task, new) = news.freshLink {
            pending[.freshLink] = NotificationGroup([task, new])
        }
        for task in news.ended {
            pending[task.state == .completed ? .completed : .failed, default: .init()].add(task)
        }
        for (kind, group) in news.unlisted { pending[kind, default: .init()].add(group) }
        startWorker()
    }

    /// Shows a summary of the unfinished downloads, in place of an open one.
    ///
    /// - Returns: Whether a server shows it.
    func showSummary(_ summary: DesktopSummary, _ active: [DesktopTask]) async -> Bool {
        guard !isBackingOff, await server.isAvailable else { return false }
        summariesUnderWay += 1
        defer {
            summariesUnderWay -= 1
            startWorker()
        }
        let changesBefore = ownerChanges
        do throws(BusError) {
            let text = NotificationText(
                summary,
                active: active.sorted { $0.title < $1.title },
                capabilities: try await serverCapabilities(),
                canShowList: presenter.canShowList
            )
            let number = try await show(text, "transfer", replacing: list?.number ?? 0)
            list = (number, summary.folder)
            return true
        } catch {
            await noteFailure(error, ownerChangesBefore: changesBefore)
            return false
        }
    }

    private func serverChanged(isRunning: Bool) {
        list = nil
        shown = [:]
        tokens = [:]
        capabilities = nil
        ownerChanges += 1
        backOffEnd = .now
        backOffTimer?.cancel()
        if isRunning { startWorker() }
    }

    private var isBackingOff: Bool { ContinuousClock.now < backOffEnd }

    /// Handles a call that failed: a server that did not answer gets no notifications for a while.
    ///
    /// - Parameters:
    ///   - error: The error of the call.
    ///   - changesBefore: ``ownerChanges`` before the call; if a new server has started since, the
    ///     missing answer was not its own.
    private func noteFailure(_ error: BusError, ownerChangesBefore changesBefore: Int) async {
        log.debug("a notification was not shown: \(error)")
        // Nor is a program started again and again that ends before it takes the name.
        let isRunning = await server.isRunning
        if isRunning, !error.isNoReply || changesBefore != ownerChanges { return }
        let end = ContinuousClock.now + backOff
        backOffEnd = end
        backOffTimer?.cancel()
        backOffTimer = Task {
            guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { return }
            startWorker()
        }
    }

    private func startWorker() {
        guard worker == nil, !(pending.isEmpty && clicks.isEmpty) else { return }
        worker = Task {
            while true {
                if !clicks.isEmpty, summariesUnderWay == 0 {
                    await handle(clicks.removeFirst())
                } else if !isBackingOff,
                    let kind = NotificationKind.allCases.first(where: { pending[$0] != nil }),
                    let group = pending.removeValue(forKey: kind)
                {
                    await notify(kind, group)
                } else {
                    break
                }
            }
            worker = nil
        }
    }

    // MARK: Showing

    private func notify(_ kind: NotificationKind, _ news: NotificationGroup) async {
        guard await server.isAvailable else { return }
        let changesBefore = ownerChanges
        let capabilities: Set<String>
        do throws(BusError) {
            capabilities = try await serverCapabilities()
        } catch {
            if error.isNoReply {
                // Nothing was shown: these tasks are notified together with newer ones.
                var group = news
                if let newer = pending[kind] { group.add(newer) }
                pending[kind] = kind == .freshLink ? pending[kind] ?? news : group
            }
            return await noteFailure(error, ownerChangesBefore: changesBefore)
        }
        do throws(BusError) {
            var group = news
            var replaced: UInt32 = 0
            if kind == .freshLink {
                // A question is useless without buttons, and a click must not answer a newer
                // question.
                guard capabilities.contains("actions") else { return }
                if let open = shown.removeValue(forKey: kind) {
                    try await server.call("CloseNotification", open.number)
                }
            } else if let open = shown[kind] {
                replaced = open.number
                group = open.group
                group.add(news)
            } else if let added = shown[.added],
                added.group.ids.isSubset(of: news.ids)
            {
                // The notification of a task's end replaces that of its addition.
                replaced = added.number
                shown[.added] = nil
            }
            // A server that answers too late still shows it in this place.
            if replaced != 0 { shown[kind] = Shown(number: replaced, group: group) }
            let text = NotificationText(kind, group, capabilities: capabilities)
            let number = try await show(text, kind.category, replacing: replaced)
            shown[kind] = Shown(number: number, group: group)
            try await closeOutdated(by: group, of: kind)
        } catch {
            // Not notified again, because the server may show it now or later.
            await noteFailure(error, ownerChangesBefore: changesBefore)
        }
    }

    /// Closes notifications of other kinds that only report older states of these tasks.
    private func closeOutdated(
        by group: NotificationGroup,
        of kind: NotificationKind
    ) async throws(BusError) {
        let ids = group.ids
        for (other, open) in shown where other != kind {
            let theirs = open.group.ids
            let isOutdated =
                switch (kind, other) {
                case (.added, _), (.introduced, _), (.freshLink, _), (_, .introduced): false
                // A completed task needs no fresh link.
                case (.completed, .freshLink): !ids.isDisjoint(with: theirs)
                case (_, .freshLink): false
                case (.completed, _), (.failed, _): ids.isSuperset(of: theirs)
                }
            guard isOutdated else { continue }
            shown[other] = nil
            try await server.call("CloseNotification", open.number)
        }
    }

    private func serverCapabilities() async throws(BusError) -> Set<String> {
        if let capabilities { return capabilities }
        let words = try await server.call(
            "GetCapabilities",
            returning: [String].self,
            startsService: true
        )
        let capabilities = Set(words)
        self.capabilities = capabilities
        return capabilities
    }

    /// Shows a notification in the place of another one, and returns its number.
    private func show(
        _ text: NotificationText,
        _ category: String,
        replacing replaced: UInt32
    ) async throws(BusError) -> UInt32 {
        let hints: [String: Value] = [
            "desktop-entry": .string("org.idown.Manager1"),
            "category": .string(category),
            "urgency": .byte(category == "transfer" ? 0 : 1),
        ]
        return try await server.call(
            "Notify",
            "idown",
            replaced,
            "org.idown.Manager1",
            text.summary,
            text.body,
            text.actions,
            hints,
            // The server decides how long it is shown.
            Int32(-1),
            returning: UInt32.self,
            startsService: true
        )
    }

    // MARK: Listening

    private func received(_ signal: SignalMessage) {
        guard clicks.count < Self.maxClicks,
            case .uint32(let number) = signal.arguments.first
        else { return }
        switch (signal.member, signal.arguments.dropFirst().first) {
        case ("ActivationToken", .string(let token)):
            tokens = [number: token]
        case ("ActionInvoked", .string(let key)):
            let token = tokens.removeValue(forKey: number) ?? ""
            clicks.append(Click(number: number, key: key, token: token))
            startWorker()
        case ("NotificationClosed", _):
            // Queued like a click, so that a click just before the closing is handled first.
            clicks.append(Click(number: number, key: "", token: ""))
            startWorker()
        default:
            break
        }
    }

    private func handle(_ click: Click) async {
        if let list, list.number == click.number {
            return await handle(click, folder: list.folder)
        }
        guard let (kind, shown) = shown.first(where: { $0.value.number == click.number }) else {
            return
        }
        let tasks = shown.group.tasks
        switch (kind, click.key) {
        case (_, ""):
            self.shown[kind] = nil
        case (.completed, "open"),
            (.completed, "default") where shown.group.count == 1:
            if let path = tasks.first?.path {
                present { await $0.open(path, token: click.token) }
            }
        case (.completed, "reveal"), (.completed, "default"):
            present { await $0.reveal(tasks.compactMap(\.path), token: click.token) }
        case (.failed, "retry"):
            self.shown[kind] = nil
            await host.carryOut(.retry, on: tasks.map(\.id) + shown.group.more)
        case (.introduced, "leave-site"):
            self.shown[kind] = nil
            if let site = tasks.first?.site { await host.leaveToBrowsers(site) }
        case (.introduced, "leave-all"):
            self.shown[kind] = nil
            await host.leaveToBrowsers(nil)
        case (.freshLink, "continue"):
            self.shown[kind] = nil
            guard tasks.count == 2 else { return }
            // Not awaited: it takes as long as a server may take to answer.
            Task { [host] in await host.carryOn(tasks[0].id, with: tasks[1].id) }
        case (.freshLink, "new"):
            self.shown[kind] = nil
        case (.added, _), (.completed, _), (.failed, _), (.introduced, _), (.freshLink, _):
            break
        }
    }

    /// Opens or reveals files in a task of its own, so that notifications do not wait for a slow
    /// file manager.
    private func present(_ work: @escaping @Sendable (FilePresenter) async -> Void) {
        Task { [presenter] in await work(presenter) }
    }

    private func handle(_ click: Click, folder: String) async {
        switch click.key {
        case "": list = nil
        case "default", "list": present { await $0.showList(folder: folder, token: click.token) }
        case "folder": present { await $0.showFolder(folder, token: click.token) }
        case "pause-all": await host.carryOutOnAll(.pause)
        case "start-all": await host.carryOutOnAll(.resume)
        default: break
        }
    }
}

extension NotificationKind {
    /// The category's name in the specification.
    fileprivate var category: String {
        switch self {
        case .added: "transfer"
        case .completed: "transfer.complete"
        case .failed: "transfer.error"
        // The specification has none for a question: it lets programs name their own.
        case .introduced, .freshLink: "x-idown.question"
        }
    }
}
