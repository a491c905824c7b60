// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Follows tasks to their ends, over restarts of the service.
struct TaskWatch {
    /// How one task stands.
    enum Standing {
        /// The task as it is or, once it has ended, as it was at its end.
        case task(TaskProperties)
        /// Taken off the list.
        case removed
    }

    /// The tasks in the order in which they were asked for, each once.
    let ids: [String]
    private let client: ManagerClient
    private let events: ManagerEvents
    private let presence: ManagerPresence
    private let interrupts: Interrupts?

    /// Listens first and adds or looks then, so that nothing is missed.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - handlesInterrupts: Whether Ctrl-C ends the watch rather than the process.
    ///   - adding: Names the tasks.
    /// - Returns: The watch, which misses nothing from here on.
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

    /// Returns once all tasks have ended, or the user does not want to wait any longer.
    ///
    /// - Parameter show: Is given each task's id and how it stands, as that changes.
    /// - Throws: An error that says that nobody can be asked any more.
    /// - Returns: How they stand, and whether an interrupt came before the end.
    func run(
        show: (String, Standing) -> Void
    ) async throws(ManagerError) -> (standings: [String: Standing], isInterrupted: Bool) {
        let (news, continuation) = AsyncStream.makeStream(of: News.self)
        let sources = [
            Task { await report(to: continuation) },
            Task { await reportAbsence(to: continuation) },
            Task { await reportInterrupts(to: continuation) },
        ]
        defer { for source in sources { source.cancel() } }
        var standings: [String: Standing] = [:]
        var open = Set(ids)
        func settle(_ id: String) async throws(ManagerError) {
            // Signals tell the URL without its query, and somebody may have started it anew.
            let found: TaskProperties?
            do throws(ManagerError) {
                found = try await current(id)
            } catch {
                // It is told when the service has left, and then asking starts it anew.
                guard error.code == .stopping else { throw error }
                return
            }
            guard let task = found else {
                // It may have ended and been cleared since: its end is what was waited for.
                var last = Standing.removed
                if case .task(let ended) = standings[id], ended.hasEnded { last = .task(ended) }
                standings[id] = last
                open.remove(id)
                return show(id, last)
            }
            standings[id] = .task(task)
            if task.hasEnded { open.remove(id) }
            show(id, .task(task))
        }
        for id in ids { try await settle(id) }
        guard !open.isEmpty else { return (standings, false) }
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
                // Asking starts it again, and its answer is the newest there is.
                for id in ids where open.contains(id) { try await settle(id) }
            case .interrupted: return (standings, true)
            case .lost(let error): throw error
            }
            if open.isEmpty { return (standings, false) }
        }
        throw ManagerError(
            .disconnected,
            "the session bus went away; the downloads go on without it"
        )
    }

    /// The task as the service knows it; nil if it knows it no longer.
    ///
    /// A service that ends before it has answered is asked once more, which starts it anew.
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
        let ids = Set(ids)
        do throws(ManagerError) {
            for try await event in events where ids.contains(event.id) { news.yield(.event(event)) }
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
