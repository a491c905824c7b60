// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownState
import iDownView

/// Shows downloads in KDE Plasma's list of jobs, with buttons to pause and cancel them:
/// `org.kde.JobViewServerV2` and `org.kde.JobViewV3` (the interfaces of KJobWidgets).
actor JobViews {
    private struct View {
        let path: ObjectPath
        var sent: [String: Value]
    }

    /// KJob::Killable (1) and KJob::Suspendable (2).
    private static let capabilities: Int32 = 1 | 2
    private static let view: InterfaceName = "org.kde.JobViewV3"

    private let server: Proxy
    private let buttons: Proxy
    private let host: any DesktopHost
    private var isServerRunning = false
    /// The tasks that should have a view, by id.
    private var desired: [String: DesktopTask] = [:]
    /// The tasks that were active at the last update.
    ///
    /// Only a task that is active in two updates gets a view, so that short downloads do not flash
    /// up.
    private var previouslyActive: Set<String> = []
    private var views: [String: View] = [:]
    private var ended: [DesktopTask] = []
    private var worker: Task<Void, Never>?

    init(_ connection: Connection, host: any DesktopHost) {
        server = Proxy(
            optional: connection,
            "org.kde.JobViewServer",
            "/JobViewServer",
            "org.kde.JobViewServerV2"
        )
        buttons = server.at(nil, Self.view)
        self.host = host
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        await buttons.follow { [self] event in
            switch event {
            case .owner(let owner): await serverChanged(isRunning: owner != nil)
            case .signal(let signal): await pressed(signal)
            }
        }
    }

    /// Takes the news and updates the views in the background.
    func receive(_ news: DesktopNews) {
        guard isServerRunning else {
            previouslyActive = Set(news.active.keys)
            return
        }
        desired = news.active.filter { previouslyActive.contains($0.key) || views[$0.key] != nil }
        for (id, task) in news.inactive where views[id] != nil { desired[id] = task }
        ended += news.ended.filter { views[$0.id] != nil }
        previouslyActive = Set(news.active.keys)
        startWorker()
    }

    /// Ends all views; without this, Plasma reports each view of a process that ends as a crash.
    ///
    /// Call it once, after ``follow()`` has returned.
    func end() async {
        isServerRunning = false
        // The worker may be about to get one more view.
        await worker?.value
        let last = Array(views.values)
        views = [:]
        await withTaskGroup { group in
            for view in last {
                group.addTask { [self] in _ = await terminate(view, of: nil) }
            }
        }
    }

    private func serverChanged(isRunning: Bool) {
        isServerRunning = isRunning
        // A new server does not know the old server's views, and without a server no news was
        // taken.
        views = [:]
        desired = [:]
        ended = []
        startWorker()
    }

    private func startWorker() {
        guard worker == nil, isServerRunning else { return }
        worker = Task {
            while isServerRunning, await step() {}
            worker = nil
        }
    }

    /// Makes the next call to the server; returns false where nothing is to be done, or a call
    /// failed.
    private func step() async -> Bool {
        if let (id, view) = views.first(where: { desired[$0.key] == nil }) {
            views[id] = nil
            let end = ended.first { $0.id == id }
            ended.removeAll { $0.id == id }
            return await terminate(view, of: end)
        }
        if let task = desired.values.first(where: { views[$0.id] == nil }) {
            return await request(task)
        }
        for (id, view) in views {
            guard let task = desired[id] else { continue }
            let changed = Self.properties(of: task).filter { view.sent[$0.key] != $0.value }
            guard !changed.isEmpty else { continue }
            views[id]?.sent.merge(changed) { $1 }
            return await update(view.path, changed)
        }
        return false
    }

    private func request(_ task: DesktopTask) async -> Bool {
        let hints: [String: Value] = ["immediate": .boolean(true)]
        let path = try? await server.call(
            "requestView",
            "org.idown.Manager1",
            Self.capabilities,
            hints,
            returning: ObjectPath.self
        )
        // Without a view the next news tries again.
        guard let path else { return false }
        views[task.id] = View(path: path, sent: [:])
        return true
    }

    private func update(_ path: ObjectPath, _ properties: [String: Value]) async -> Bool {
        (try? await buttons.at(path).call("update", properties)) != nil
    }

    private func terminate(_ view: View, of task: DesktopTask?) async -> Bool {
        // 1 is KJob::KilledJobError, for tasks that were cancelled or removed; 100 is
        // KJob::UserDefinedError, for failures.
        let (code, message): (UInt32, String) =
            switch task?.state {
            case .completed: (0, "")
            case .failed: (100, task?.reason ?? "")
            case .waiting, .downloading, .paused, .cancelled, nil: (1, "")
            }
        let (text, hints) = (NotificationText.escape(message), [String: Value]())
        return (try? await buttons.at(view.path).call("terminate", code, text, hints)) != nil
    }

    /// Returns the view's properties, with the names that KUiServerV2JobTracker gives them.
    static func properties(of task: DesktopTask) -> [String: Value] {
        var properties: [String: Value] = [
            "title": .string(translated("Downloading")),
            // Escaped because Plasma shows the text as rich text.
            "infoMessage": .string(NotificationText.escape(task.title)),
            "destUrl": .string(URLText.ofFile(task.directory)),
            "processedBytes": .uint64(UInt64(clamping: task.bytes)),
            "suspended": .boolean(task.state != .downloading),
            "speed": .uint64(task.state == .downloading ? task.bytesPerSecond : 0),
        ]
        if let total = task.totalBytes, total > 0 {
            properties["totalBytes"] = .uint64(UInt64(clamping: total))
            properties["percent"] = task.percent.map { .uint32(UInt32($0)) }
        }
        return properties
    }

    private func pressed(_ signal: SignalMessage) async {
        guard let id = views.first(where: { $0.value.path == signal.path })?.key else { return }
        switch signal.member {
        case "suspendRequested": await host.carryOut(.pause, on: [id])
        case "resumeRequested": await host.carryOut(.resume, on: [id])
        case "cancelRequested": await host.carryOut(.cancel, on: [id])
        default: break
        }
    }
}
