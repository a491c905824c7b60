// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Follows tasks to their ends, over restarts of the service.
///
/// A completed metalink gives its place to the tasks that it lists, which are followed in turn.
struct TaskWatch {
    /// The last known state of a task.
    enum Standing {
        /// The task as it is or, once it has ended, as it was at its end.
        case task(TaskProperties)
        /// The task is no longer in the list.
        case removed
    }

    /// How a watch ended.
    struct Result {
        /// The tasks in the order of the IDs, with a metalink replaced by the tasks that it lists.
        let ends: [TaskEnd]
        /// Whether the user pressed Ctrl-C before all tasks had ended.
        let isInterrupted: Bool
    }

    /// The IDs of the tasks in the order in which they were given, each once.
    let ids: [String]
    private let client: ManagerClient
    private let events: ManagerEvents
    private let presence: ManagerPresence
    private let interrupts: Interrupts?

    /// Subscribes to signals and then adds or reads the tasks, so that no change is missed.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - handlesInterrupts: Whether Ctrl-C ends the watch rather than the process.
    ///   - adding: Returns the IDs of the tasks.
    /// - Returns: The watch, which misses no change from here on.
    /// - Throws: The errors of the bus and of `adding`.
    static func start(
        over client: ManagerClient,
        handlesInterrupts: Bool,
        adding: () async throws(ManagerError) -> [String]
    ) async throws(ManagerError) -> TaskWatch {
        let events = try await client.events()
        let presence = try await client.presence()
        var ids: [String] = []
        var seen: Set<String> = []
        for id in try await adding() where seen.insert(id).inserted { ids.append(id) }
        // Until the tasks are added there is nothing to report, so Ctrl-C just ends the process.
        return TaskWatch(
            ids: ids,
            client: client,
            events: events,
            presence: presence,
            interrupts: handlesInterrupts ? await Interrupts.start() : nil
        )
    }

    /// Returns once all tasks have ended, or the user interrupts.
    ///
    /// - Parameter show: Gets a task's ID and its last known state, whenever the state changes.
    /// - Throws: An error that says that the service cannot be reached any more.
    /// - Returns: How the tasks ended.
    func run(
        show: (String, Standing) -> Void
    ) async throws(ManagerError) -> Result {
        let (news, continuation) = AsyncStream.makeStream(of: News.self)
        let sources = [
            Task { await report(to: continuation) },
            Task { await reportAbsence(to: continuation) },
            Task { await reportInterrupts(to: continuation) },
        ]
        defer { for source in sources { source.cancel() } }
        var ids = ids
        var standings: [String: Standing] = [:]
        var open = Set(ids)
        func result(isInterrupted: Bool = false) -> Result {
            let ends = ids.map { id in
                guard case .task(let task) = standings[id] else {
                    return TaskEnd(task: nil, id: id)
                }
                return TaskEnd(task: task, id: id)
            }
            return Result(ends: ends, isInterrupted: isInterrupted)
        }
        func settle(_ id: String) async throws(ManagerError) {
            // The task is read again, because signals give its URL without the query, and because
            // another program may have restarted it.
            let found: TaskProperties?
            do throws(ManagerError) {
                found = try await current(id)
            } catch {
                // When the service has left, the watch asks it again, which restarts it.
                guard error.code == .stopping else { throw error }
                return
            }
            guard let task = found else {
                // A task that was removed after its end counts with this end.
                var last = Standing.removed
                if case .task(let ended) = standings[id], ended.hasEnded { last = .task(ended) }
                standings[id] = last
                open.remove(id)
                return show(id, last)
            }
            standings[id] = .task(task)
            show(id, .task(task))
            guard task.hasEnded else { return }
            open.remove(id)
            guard task.state == .completed, !task.listedTasks.isEmpty,
                let place = ids.firstIndex(of: id)
            else { return }
            // Tasks that the metalink listed may have been removed since.
            var listed: [String] = []
            for id in task.listedTasks where !ids.contains(id) {
                guard let file = try await current(id) else { continue }
                listed.append(id)
                // A metalink does not continue what the user has paused.
                guard file.state == .paused else { continue }
                Output.talk("Download \(id) is paused; to continue it: idown resume \(id)")
            }
            guard !listed.isEmpty else { return }
            ids.replaceSubrange(place...place, with: listed)
            open.formUnion(listed)
            for id in listed { try await settle(id) }
        }
        for id in self.ids { try await settle(id) }
        guard !open.isEmpty else { return result() }
        for await item in news {
            switch item {
            case .event(let event):
                guard open.contains(event.id) else { continue }
                switch event {
                case .added(let task): standings[task.id] = .task(task)
                case .changed(let id, let state, let changed):
                    guard case .task(var task) = standings[id] else { continue }
                    task = task.applying(changed)
                    task.state = state
                    standings[id] = .task(task)
                    if task.hasEnded { try await settle(id) } else { show(id, .task(task)) }
                case .removed(let id):
                    standings[id] = .removed
                    open.remove(id)
                    show(id, .removed)
                }
            case .serviceLeft:
                // A question restarts the service, and its answer is the newest state.
                for id in ids where open.contains(id) { try await settle(id) }
            case .interrupted: return result(isInterrupted: true)
            case .lost(let error): throw error
            }
            if open.isEmpty { return result() }
        }
        throw ManagerError(
            .disconnected,
            "the session bus went away; the downloads go on without it"
        )
    }

    /// The task as the service knows it; nil if it is no longer in the list.
    ///
    /// A service that ends before it has answered is asked once more, which starts it again.
    private func current(
        _ id: String,
        isLast: Bool = false
    ) async throws(ManagerError) -> TaskProperties? {
        do throws(ManagerError) {
            return try await client.getTask(id)
        } catch {
            guard error.code != .noSuchTask else { return nil }
            guard error.code == .noReply, !isLast else { throw error }
            return try await current(id, isLast: true)
        }
    }
}

extension TaskWatch {
    private enum News: Sendable {
        case event(ManagerEvent)
        case serviceLeft
        case interrupted
        case lost(ManagerError)
    }

    private func report(to news: AsyncStream<News>.Continuation) async {
        do throws(ManagerError) {
            for try await event in events { news.yield(.event(event)) }
            news.finish()
        } catch {
            news.yield(.lost(error))
        }
    }

    private func reportAbsence(to news: AsyncStream<News>.Continuation) async {
        do throws(ManagerError) {
            for try await isThere in presence where !isThere { news.yield(.serviceLeft) }
        } catch {
            news.yield(.lost(error))
        }
    }

    private func reportInterrupts(to news: AsyncStream<News>.Continuation) async {
        guard let interrupts else { return }
        for await _ in interrupts { news.yield(.interrupted) }
    }
}
