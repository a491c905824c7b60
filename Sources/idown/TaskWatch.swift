// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Follows tasks to their ends, over restarts of the service.
///
/// A completed metalink gives its place to the tasks that it lists, which are followed in turn.
struct TaskWatch {
    /// What is known of one task.
    enum Standing {
        /// The task as it is or, once it has ended, as it was at its end.
        case task(TaskProperties)
        /// The task is no longer in the list.
        case removed
    }

    /// How a watch ended.
    struct Result {
        /// The tasks in the order in which they were asked for, those of a metalink in its place.
        let ends: [TaskEnd]
        /// Whether an interrupt came before all had ended.
        let isInterrupted: Bool
    }

    /// The tasks in the order in which they were asked for, each once.
    let ids: [String]
    private let client: ManagerClient
    private let events: ManagerEvents
    private let presence: ManagerPresence
    private let interrupts: Interrupts?

    /// Subscribes to signals first and adds or looks then, so that no change is missed.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - handlesInterrupts: Whether Ctrl-C ends the watch rather than the process.
    ///   - adding: Returns the IDs of the tasks.
    /// - Returns: The watch, which misses no change from here on.
    /// - Throws: What the bus or `adding` throws.
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
        // Not before: until there is something to leave behind, Ctrl-C ends the process.
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
    /// - Parameter show: Gets each task's ID and what is known of it, whenever that changes.
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
            // Signals give the URL without its query, and another program may have restarted it.
            let found: TaskProperties?
            do throws(ManagerError) {
                found = try await current(id)
            } catch {
                // The bus tells when the service has left, and asking then starts it again.
                guard error.code == .stopping else { throw error }
                return
            }
            guard let task = found else {
                // It may have been removed after its end, which is what was waited for.
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
            // Files of an old metalink may have left the list since.
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
                // Asking starts it again, and its answer is the newest state.
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
