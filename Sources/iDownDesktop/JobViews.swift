// SPDX-License-Identifier: Apache-2.0

import DBus

/// Shows each download where KDE shows what goes on, with buttons to pause and cancel it:
/// `org.kde.JobViewServerV2` and `org.kde.JobViewV3` (the interfaces of KJobWidgets).
actor JobViews {
    private struct View {
        let path: ObjectPath
        var told: [String: Value]
    }

    /// KJob::Killable and KJob::Suspendable.
    private static let capabilities: Int32 = 1 | 2
    private static let view: InterfaceName = "org.kde.JobViewV3"

    private let server: BusService
    private let host: any DesktopHost
    private var isThere = false
    /// What is to be shown, by task.
    private var wanted: [String: DesktopTask] = [:]
    /// Tasks that ran already when the news came before these: short ones are not shown at all.
    private var seen: Set<String> = []
    private var views: [String: View] = [:]
    private var ended: [DesktopTask] = []
    private var worker: Task<Void, Never>?

    init(_ connection: Connection, host: any DesktopHost) {
        server = BusService(
            connection,
            "org.kde.JobViewServer",
            "/JobViewServer",
            "org.kde.JobViewServerV2"
        )
        self.host = host
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        let buttons = BusService(server.connection, server.name, server.path, Self.view)
        await withTaskGroup { group in
            group.addTask { [self] in await server.followOwner { await self.serverIs(there: $0) } }
            group.addTask { [self] in await buttons.followSignals { await self.pressed($0) } }
        }
    }

    /// Takes note; never waits for anybody.
    func take(_ news: DesktopNews) {
        guard isThere else {
            seen = Set(news.active.keys)
            return
        }
        wanted = news.active.filter { seen.contains($0.key) || views[$0.key] != nil }
        for (id, task) in news.resting where views[id] != nil { wanted[id] = task }
        ended += news.ended.filter { views[$0.id] != nil }
        seen = Set(news.active.keys)
        work()
    }

    /// Ends all views: Plasma takes the end of whoever has some for a crash, and says so for each.
    ///
    /// To be called once, after ``follow()``.
    func end() async {
        isThere = false
        // It may be about to get one more.
        await worker?.value
        let last = Array(views.values)
        views = [:]
        await withTaskGroup { group in
            for view in last {
                group.addTask { [self] in _ = await terminate(view, of: nil) }
            }
        }
    }

    private func serverIs(there isThere: Bool) {
        self.isThere = isThere
        // A new server knows nothing of the old one's views, and the news was not followed.
        views = [:]
        wanted = [:]
        ended = []
        work()
    }

    private func work() {
        guard worker == nil, isThere else { return }
        worker = Task {
            while isThere, await step() {}
            worker = nil
        }
    }

    /// Does the next thing; false where there is none, or nobody answers.
    private func step() async -> Bool {
        if let (id, view) = views.first(where: { wanted[$0.key] == nil }) {
            views[id] = nil
            let end = ended.first { $0.id == id }
            ended.removeAll { $0.id == id }
            return await terminate(view, of: end)
        }
        if let task = wanted.values.first(where: { views[$0.id] == nil }) {
            return await request(task)
        }
        for (id, view) in views {
            guard let task = wanted[id] else { continue }
            let look = Self.look(of: task).filter { view.told[$0.key] != $0.value }
            guard !look.isEmpty else { continue }
            views[id]?.told.merge(look) { $1 }
            return await update(view.path, look)
        }
        return false
    }

    private func request(_ task: DesktopTask) async -> Bool {
        let hints: [String: Value] = ["immediate": .boolean(true)]
        let answer = try? await server.call(
            "requestView",
            [.string("org.idown.Manager1"), .int32(Self.capabilities), hints.busValue]
        )
        guard case .objectPath(let path)? = answer?.first else {
            // It has had its chance until the next news.
            return false
        }
        views[task.id] = View(path: path, told: [:])
        return true
    }

    private func update(_ path: ObjectPath, _ look: [String: Value]) async -> Bool {
        (try? await server.call("update", [look.busValue], at: path, of: Self.view)) != nil
    }

    private func terminate(_ view: View, of task: DesktopTask?) async -> Bool {
        // KJob::KilledJobError for what was taken away, KJob::UserDefinedError for failures.
        let (code, message): (UInt32, String) =
            switch task?.state {
            case .completed: (0, "")
            case .failed: (100, task?.failure ?? "")
            case .waiting, .downloading, .paused, .cancelled, nil: (1, "")
            }
        let arguments: [Value] = [
            .uint32(code), .string(NotificationText.escape(message)), [String: Value]().busValue,
        ]
        return
            (try? await server.call("terminate", arguments, at: view.path, of: Self.view)) != nil
    }

    /// The view's properties, as KUiServerV2JobTracker names them.
    static func look(of task: DesktopTask) -> [String: Value] {
        var look: [String: Value] = [
            "title": .string("Downloading"),
            // Plasma shows it as rich text.
            "infoMessage": .string(NotificationText.escape(task.title)),
            "destUrl": .string(FileURI.text(of: task.directory)),
            "processedBytes": .uint64(UInt64(clamping: task.bytes)),
            "suspended": .boolean(task.state != .downloading),
            "speed": .uint64(task.state == .downloading ? task.bytesPerSecond : 0),
        ]
        if let total = task.totalBytes, total > 0 {
            look["totalBytes"] = .uint64(UInt64(clamping: total))
            let percent = Double(min(task.bytes, total)) / Double(total) * 100
            look["percent"] = .uint32(UInt32(max(0, percent)))
        }
        return look
    }

    private func pressed(_ signal: Signal) async {
        guard let id = views.first(where: { $0.value.path == signal.path })?.key else { return }
        switch signal.member {
        case "suspendRequested": await host.carryOut(.pause, on: [id])
        case "resumeRequested": await host.carryOut(.resume, on: [id])
        case "cancelRequested": await host.carryOut(.cancel, on: [id])
        default: break
        }
    }
}
