// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Follows tasks to their ends, over restarts of the service.
///
/// A completed metalink gives its place to the tasks that it lists, which are followed in turn.
struct TaskWatch {
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
    private let news: ListNewsSequence
    private let interrupts: Interrupts?

    /// Begins to hear the news and then adds or reads the tasks, so that no change is missed.
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
        let news = try await client.newsFromNow()
        var ids: [String] = []
        var seen: Set<String> = []
        for id in try await adding() where seen.insert(id).inserted { ids.append(id) }
        // Until the tasks are added there is nothing to report, so Ctrl-C just ends the process.
        return TaskWatch(
            ids: ids,
            client: client,
            news: news,
            interrupts: handlesInterrupts ? await Interrupts.start() : nil
        )
    }

    /// Returns once all tasks have ended, or the user interrupts.
    ///
    /// - Parameter display: Shows each change.
    /// - Throws: An error that says that the service cannot be reached any more.
    /// - Returns: How the tasks ended.
    func run(
        showing display: inout ProgressDisplay
    ) async throws(ManagerError) -> Result {
        let (items, continuation) = AsyncStream.makeStream(of: Item.self)
        let sources = [
            Task { await reportNews(to: continuation) },
            Task { await reportInterrupts(to: continuation) },
        ]
        defer { for source in sources { source.cancel() } }
        var ids = ids
        var list = LiveList()
        // The tasks as they are or, once they have ended, as they were at their ends; a task that
        // was removed before its end is not in it.
        var known: [String: TaskProperties] = [:]
        var open = Set(ids)
        func result(isInterrupted: Bool = false) -> Result {
            Result(
                ends: ids.map { TaskEnd(task: known[$0], id: $0) },
                isInterrupted: isInterrupted
            )
        }
        func settle(_ id: String) async throws(ManagerError) {
            // The task is read again, because signals give its URL without the query, and because
            // another program may have restarted it.
            let found: TaskProperties?
            do throws(ManagerError) {
                found = try await current(id)
            } catch {
                // The next service tells what has changed.
                guard error.code == .stopping else { throw error }
                return
            }
            guard let task = found else {
                // A task that was removed after its end counts with this end.
                if known[id]?.hasEnded != true { known[id] = nil }
                open.remove(id)
                return display.show(id, known[id])
            }
            list.apply(.page([task]))
            known[id] = task
            display.show(id, task)
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
        var clock: Task<Void, Never>?
        defer { clock?.cancel() }
        func drawSoon() {
            guard display.isOwed, clock == nil else { return }
            clock = Task {
                try? await Task.sleep(for: .seconds(DrawingPace.shortestInterval))
                continuation.yield(.drawing)
            }
        }
        drawSoon()
        for await item in items {
            switch item {
            case .news(let news):
                for change in list.apply(news) {
                    guard let id = (change.new ?? change.old)?.id, open.contains(id) else {
                        continue
                    }
                    if let task = change.new { known[id] = task }
                    if let task = change.new, !task.hasEnded {
                        display.show(id, task)
                    } else {
                        try await settle(id)
                    }
                }
                switch news {
                case .left:
                    // A question starts the service again.
                    if let id = ids.first(where: open.contains) { try await settle(id) }
                case .whole:
                    // Another list may not have them.
                    for id in ids where open.contains(id) && list.tasks[id] == nil {
                        try await settle(id)
                    }
                case .anew, .page, .added, .event, .changed, .removed, .came: break
                }
            case .drawing:
                clock = nil
                display.drawAgain()
            case .interrupted: return result(isInterrupted: true)
            case .lost(let error): throw error
            }
            if open.isEmpty { return result() }
            drawSoon()
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
    private enum Item: Sendable {
        case news(ListNews)
        /// It is time to draw what came too fast.
        case drawing
        case interrupted
        case lost(ManagerError)
    }

    private func reportNews(to items: AsyncStream<Item>.Continuation) async {
        do throws(ManagerError) {
            for try await item in news { items.yield(.news(item)) }
            items.finish()
        } catch {
            items.yield(.lost(error))
        }
    }

    private func reportInterrupts(to items: AsyncStream<Item>.Continuation) async {
        guard let interrupts else { return }
        for await _ in interrupts { items.yield(.interrupted) }
    }
}
