// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging

/// Tells the user what was added, completed and failed: the Desktop Notifications Specification 1.2.
///
/// Of each kind one notification is open, which is replaced: a hundred files that finish together
/// are one line. A server that does not answer is left alone for a while, or until another one
/// takes its place.
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

    /// Clicks that wait for the answer to a `Notify`; nobody clicks faster.
    private static let mostClicks = 64

    private let server: BusService
    private let host: any DesktopHost
    private let presenter: FilePresenter
    private let log: Logger
    /// A server that has not answered is left alone for so long.
    private let rest: Duration
    private var waiting: [NotificationKind: NotificationGroup] = [:]
    private var shown: [NotificationKind: Shown] = [:]
    /// The one that tells how the list stands.
    private var list: (number: UInt32, folder: String)?
    private var clicks: [Click] = []
    /// Tokens by which a program that is started may take the focus, of the last click.
    private var tokens: [UInt32: String] = [:]
    private var capabilities: Set<String>?
    /// How often one has come or gone.
    private var changes = 0
    private var restsUntil: ContinuousClock.Instant = .now
    /// Rings at the end of the rest.
    private var alarm: Task<Void, Never>?
    private var worker: Task<Void, Never>?
    /// How often the list's notification is about to be shown: a click may be heard of before the
    /// number that it is for.
    private var showing = 0

    /// - Parameters:
    ///   - connection: to the session's bus.
    ///   - host: carries out what the user asks for.
    ///   - presenter: opens and shows files.
    ///   - rest: a server that has not answered is left alone for so long.
    ///   - log: where trouble is told.
    init(
        _ connection: Connection,
        host: any DesktopHost,
        presenter: FilePresenter,
        rest: Duration,
        log: Logger
    ) {
        server = BusService(
            connection,
            "org.freedesktop.Notifications",
            "/org/freedesktop/Notifications",
            "org.freedesktop.Notifications"
        )
        self.host = host
        self.presenter = presenter
        self.rest = rest
        self.log = log
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        await withTaskGroup { group in
            group.addTask { [self] in await server.followOwner { await self.serverIs(there: $0) } }
            group.addTask { [self] in await server.followSignals { await self.heard($0) } }
        }
        alarm?.cancel()
    }

    /// Takes note; never waits for anybody.
    func take(_ news: DesktopNews) {
        let ends = Set(news.ended.map(\.id))
        for task in news.handedOver where !ends.contains(task.id) {
            waiting[.added, default: .init()].add(task)
        }
        for task in news.ended {
            waiting[task.state == .completed ? .completed : .failed, default: .init()].add(task)
        }
        if news.moreCompleted > 0 {
            waiting[.completed, default: .init()].add(uncounted: news.moreCompleted)
        }
        if news.moreFailed > 0 {
            waiting[.failed, default: .init()].add(uncounted: news.moreFailed)
        }
        work()
    }

    /// Tells how the list stands, in the place of what was told of it before.
    ///
    /// - Returns: whether there is somebody to show it.
    func show(_ summary: DesktopSummary, _ active: [DesktopTask]) async -> Bool {
        guard !isResting, await server.isWithinReach else { return false }
        showing += 1
        defer {
            showing -= 1
            work()
        }
        let asked = changes
        do throws(BusError) {
            let text = NotificationText(
                summary,
                active: active.sorted { $0.title < $1.title },
                capabilities: try await serverCapabilities()
            )
            let answer = try await server.call(
                "Notify",
                Self.arguments(text, "transfer", replacing: list?.number ?? 0),
                startsIt: true
            )
            guard case .uint32(let number) = answer.first else { return false }
            list = (number, summary.folder)
            return true
        } catch {
            await take(error, from: asked)
            return false
        }
    }

    private func serverIs(there isThere: Bool) {
        list = nil
        shown = [:]
        tokens = [:]
        capabilities = nil
        changes += 1
        restsUntil = .now
        alarm?.cancel()
        if isThere { work() }
    }

    private var isResting: Bool { ContinuousClock.now < restsUntil }

    /// Takes note of what has kept a notification from being shown.
    ///
    /// - Parameters:
    ///   - error: the answer.
    ///   - asked: `changes` as it was at the question: no server rests for what another one did.
    private func take(_ error: BusError, from asked: Int) async {
        log.debug("a notification was not shown: \(error)")
        guard error.isNoReply else { return }
        if asked != changes, await server.isThere { return }
        let end = ContinuousClock.now + rest
        restsUntil = end
        alarm?.cancel()
        alarm = Task {
            guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { return }
            work()
        }
    }

    private func work() {
        guard worker == nil, !(waiting.isEmpty && clicks.isEmpty) else { return }
        worker = Task {
            while true {
                if !clicks.isEmpty, showing == 0 {
                    await follow(clicks.removeFirst())
                } else if !isResting,
                    let kind = NotificationKind.allCases.first(where: { waiting[$0] != nil }),
                    let group = waiting.removeValue(forKey: kind)
                {
                    await tell(kind, group)
                } else {
                    break
                }
            }
            worker = nil
        }
    }

    // MARK: Telling

    private func tell(_ kind: NotificationKind, _ news: NotificationGroup) async {
        guard await server.isWithinReach else { return }
        let asked = changes
        let capabilities: Set<String>
        do throws(BusError) {
            capabilities = try await serverCapabilities()
        } catch {
            if error.isNoReply {
                // Nothing of it was shown: it is told with what comes meanwhile.
                var group = news
                if let newer = waiting[kind] { group.add(newer) }
                waiting[kind] = group
            }
            return await take(error, from: asked)
        }
        do throws(BusError) {
            var group = news
            var replaced: UInt32 = 0
            if let open = shown[kind] {
                replaced = open.number
                group = open.group
                group.add(news)
            } else if let added = shown[.added],
                Set(added.group.tasks.map(\.id)).isSubset(of: news.tasks.map(\.id))
            {
                // What was told of its beginning is told of its end in the same place.
                replaced = added.number
                shown[.added] = nil
            }
            // Whoever answers late shows it all the same, and in this place.
            if replaced != 0 { shown[kind] = Shown(number: replaced, group: group) }
            let text = NotificationText(kind, group, capabilities: capabilities)
            let answer = try await server.call(
                "Notify",
                Self.arguments(text, kind.category, replacing: replaced),
                startsIt: true
            )
            guard case .uint32(let number) = answer.first else { return }
            shown[kind] = Shown(number: number, group: group)
            try await closeOutdated(by: group, of: kind)
        } catch {
            // It is not told again: it may be shown, now or late.
            await take(error, from: asked)
        }
    }

    /// Takes away what is told of tasks that have come further since.
    private func closeOutdated(
        by group: NotificationGroup,
        of kind: NotificationKind
    ) async throws(BusError) {
        let ids = Set(group.tasks.map(\.id))
        for (other, open) in shown where other != kind {
            guard kind != .added, ids.isSuperset(of: open.group.tasks.map(\.id)) else { continue }
            shown[other] = nil
            try await server.call("CloseNotification", [.uint32(open.number)])
        }
    }

    private func serverCapabilities() async throws(BusError) -> Set<String> {
        if let capabilities { return capabilities }
        let answer = try await server.call("GetCapabilities", startsIt: true)
        let words = answer.first.flatMap { try? [String](busValue: $0) } ?? []
        let capabilities = Set(words)
        self.capabilities = capabilities
        return capabilities
    }

    private static func arguments(
        _ text: NotificationText,
        _ category: String,
        replacing replaced: UInt32
    ) -> [Value] {
        let hints: [String: Value] = [
            "desktop-entry": .string("org.idown.Manager1"),
            "category": .string(category),
            "urgency": .byte(category == "transfer" ? 0 : 1),
        ]
        return [
            .string("idown"), .uint32(replaced), .string("org.idown.Manager1"),
            .string(text.summary), .string(text.body), text.actions.busValue, hints.busValue,
            // As long as the server thinks is right.
            .int32(-1),
        ]
    }

    // MARK: Listening

    private func heard(_ signal: Signal) {
        guard clicks.count < Self.mostClicks,
            case .uint32(let number) = signal.arguments.first
        else { return }
        switch (signal.member, signal.arguments.dropFirst().first) {
        case ("ActivationToken", .string(let token)):
            tokens = [number: token]
        case ("ActionInvoked", .string(let key)):
            let token = tokens.removeValue(forKey: number) ?? ""
            clicks.append(Click(number: number, key: key, token: token))
            work()
        case ("NotificationClosed", _):
            // A click comes before its end, and is followed all the same.
            clicks.append(Click(number: number, key: "", token: ""))
            work()
        default:
            break
        }
    }

    private func follow(_ click: Click) async {
        if let list, list.number == click.number {
            return await follow(click, folder: list.folder)
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
            await host.carryOut(.retry, on: tasks.map(\.id))
        case (.added, _), (.completed, _), (.failed, _):
            break
        }
    }

    /// Beside the notifications, which do not wait for a file manager that takes its time.
    private func present(_ work: @escaping @Sendable (FilePresenter) async -> Void) {
        Task { [presenter] in await work(presenter) }
    }

    private func follow(_ click: Click, folder: String) async {
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
    /// As the specification names it.
    fileprivate var category: String {
        switch self {
        case .added: "transfer"
        case .completed: "transfer.complete"
        case .failed: "transfer.error"
        }
    }
}
