// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownBus
import iDownView

/// Follows tasks to their ends, over restarts of the service.
///
/// After a crash of the service the watch starts the next one. A service that was stopped stays
/// stopped, because somebody wanted that: the watch waits until another program starts it.
///
/// A completed metalink gives its place to the tasks that it lists, which are followed in turn.
struct TaskWatch {
    /// How a watch ended.
    struct Result {
        /// The tasks in the order of the IDs, with a metalink replaced by the tasks that it lists.
        let ends: [TaskEnd]
        /// Whether the user pressed Ctrl-C before all tasks had ended.
        let isInterrupted: Bool
        /// Whether the service had been stopped by then.
        let isServiceStopped: Bool
    }

    /// The tasks that a watch begins with.
    struct Beginning {
        var ids: [String]
        /// The tasks that were already read.
        var tasks: [TaskProperties] = []
    }

    /// The IDs of the tasks in the order in which they were given, each once.
    let ids: [String]
    private let tasks: [TaskProperties]
    private let client: ManagerClient
    private let news: ListNewsSequence
    private let interrupts: Interrupts?

    /// Begins to follow the news and then adds or reads the tasks, so that no change is missed.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - handlesInterrupts: Whether Ctrl-C ends the watch rather than the process.
    ///   - adding: Adds or reads the tasks.
    /// - Returns: The watch, which misses no change from here on.
    /// - Throws: The errors of the bus and of `adding`.
    static func start(
        over client: ManagerClient,
        handlesInterrupts: Bool,
        adding: () async throws(ManagerError) -> Beginning
    ) async throws(ManagerError) -> TaskWatch {
        let news = try await client.newsFromNow()
        var ids: [String] = []
        var seen: Set<String> = []
        let beginning = try await adding()
        for id in beginning.ids where seen.insert(id).inserted { ids.append(id) }
        // Until the tasks are added there is nothing to report, so Ctrl-C just ends the process.
        return TaskWatch(
            ids: ids,
            tasks: beginning.tasks,
            client: client,
            news: news,
            interrupts: handlesInterrupts ? await Interrupts.start(SIGINT) : nil
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
        var course = Course(ids: ids, client: client, items: continuation)
        defer { course.cancel() }
        for task in tasks { try await course.settle(task.id, task, &display) }
        let read = Set(tasks.map(\.id))
        try await course.settle(ids.filter { !read.contains($0) }, &display)
        guard !course.open.isEmpty else { return course.result() }
        if display.isOwed { course.drawSoon() }
        course.postSentry()
        for await item in items {
            switch item {
            case .news(let news): try await course.apply(news, &display)
            case .answered(let number, let error):
                try await course.take(error, ofSentry: number, &display)
            case .drawing:
                course.clock = nil
                display.drawAgain()
            case .interrupted: return course.result(isInterrupted: true)
            case .lost(let error): throw error
            }
            if course.open.isEmpty { return course.result() }
            if display.isOwed { course.drawSoon() }
        }
        throw ManagerError(
            .disconnected,
            "the session bus went away; the downloads go on without it"
        )
    }
}

extension ManagerClient {
    /// Returns tasks as the service knows them, in the order of their IDs; nil for those that are no
    /// longer in the list.
    ///
    /// A service that is stopping does not answer, and one that has stopped does not run: such tasks
    /// are left out, and the next service reports the changes.
    ///
    /// - Parameters:
    ///   - ids: The tasks.
    ///   - startsService: Whether to start a service that does not run.
    /// - Returns: The tasks.
    /// - Throws: The service's error for one of them.
    fileprivate func current(
        _ ids: [String],
        startsService: Bool = false
    ) async throws(ManagerError) -> [(id: String, task: TaskProperties?)] {
        let client = startsService ? self : withoutStart
        var tasks: [(id: String, task: TaskProperties?)] = []
        try await CallsAtOnce.make(about: ids) { id throws(ManagerError) in
            try await client.current(id)
        } then: { id, answer throws(ManagerError) in
            do throws(ManagerError) {
                tasks.append((id, try answer.get()))
            } catch {
                switch error.code {
                case .stopping: break
                case .noReply, .disconnected: throw error
                default: guard !startsService, error.isUnreachable else { throw error }
                }
            }
        }
        return tasks
    }

    /// The task as the service knows it; nil if it is no longer in the list.
    ///
    /// A service that ends before it has answered is asked once more, which may start it again.
    private func current(
        _ id: String,
        isLast: Bool = false
    ) async throws(ManagerError) -> TaskProperties? {
        do throws(ManagerError) {
            return try await getTask(id)
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
        /// The service, or the bus in its place, has answered the sentry with this number.
        case answered(Int, ManagerError?)
        /// It is time to draw changes that were skipped.
        case drawing
        case interrupted
        case lost(ManagerError)
    }

    /// A call that waits at the service for one task, and so learns how the service ends: a service
    /// that is stopped answers `Stopping`; for one that has crashed the bus answers.
    private struct Sentry {
        let number: Int
        let id: String
        let task: Task<Void, Never>

        init(
            number: Int,
            id: String,
            over client: ManagerClient,
            reportingTo items: AsyncStream<Item>.Continuation
        ) {
            (self.number, self.id) = (number, id)
            task = Task {
                do throws(ManagerError) {
                    _ = try await client.withoutStart.wait(for: id)
                    items.yield(.answered(number, nil))
                } catch {
                    items.yield(.answered(number, error))
                }
            }
        }
    }

    /// How far a watch has come.
    private struct Course {
        /// The tasks in the order of the IDs, with a metalink replaced by the tasks that it lists.
        private var ids: [String]
        /// The tasks that have not ended.
        private(set) var open: Set<String>
        /// Yields `.drawing` when it is time to draw; nil where nothing is to be drawn.
        var clock: Task<Void, Never>?
        /// The tasks as they are or, once they have ended, as they were at their ends; a task that
        /// was removed before its end is not in it.
        private var known: [String: TaskProperties] = [:]
        private var list = LiveList()
        private var isServiceStopped = false
        private var sentry: Sentry?
        private var sentries = 0
        private let client: ManagerClient
        private let items: AsyncStream<Item>.Continuation

        init(ids: [String], client: ManagerClient, items: AsyncStream<Item>.Continuation) {
            (self.ids, self.client, self.items) = (ids, client, items)
            open = Set(ids)
        }

        func result(isInterrupted: Bool = false) -> TaskWatch.Result {
            TaskWatch.Result(
                ends: ids.map { TaskEnd(task: known[$0], id: $0) },
                isInterrupted: isInterrupted,
                isServiceStopped: isServiceStopped
            )
        }

        func cancel() {
            clock?.cancel()
            sentry?.task.cancel()
        }

        /// Reads tasks again, because signals give their URLs without the query, and because another
        /// program may have restarted them.
        mutating func settle(
            _ ids: [String],
            _ display: inout ProgressDisplay
        ) async throws(ManagerError) {
            for (id, task) in try await client.current(ids) { try await settle(id, task, &display) }
        }

        /// Notes a task as it was read; nil for one that is no longer in the list.
        mutating func settle(
            _ id: String,
            _ task: TaskProperties?,
            _ display: inout ProgressDisplay
        ) async throws(ManagerError) {
            guard let task else {
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
            let new = task.listedTasks.filter { !ids.contains($0) }
            let listed = try await client.current(new).filter { $0.task != nil }
            for case (let id, let file?) in listed where file.state == .paused {
                // A metalink does not continue what the user has paused.
                Output.talk("Download \(id) is paused; to continue it: idown resume \(id)")
            }
            guard !listed.isEmpty else { return }
            ids.replaceSubrange(place...place, with: listed.map(\.id))
            open.formUnion(listed.map(\.id))
            for (id, task) in listed { try await settle(id, task, &display) }
        }

        /// Applies news of the list.
        mutating func apply(
            _ news: ListNews,
            _ display: inout ProgressDisplay
        ) async throws(ManagerError) {
            var ended: [String] = []
            for change in list.apply(news) {
                guard let id = (change.new ?? change.old)?.id, open.contains(id) else { continue }
                if let task = change.new { known[id] = task }
                if let task = change.new, !task.hasEnded {
                    display.show(id, task)
                } else {
                    ended.append(id)
                }
            }
            try await settle(ended, &display)
            switch news {
            case .came:
                isServiceStopped = false
                sentry?.task.cancel()
                sentry = nil
            case .whole:
                // Another list may not have them.
                let missing = ids.filter { open.contains($0) && list.tasks[$0] == nil }
                try await settle(missing, &display)
            case .anew, .page, .added, .changed, .removed, .left: break
            }
            postSentry()
        }

        /// Finds out from the answer of a sentry how the service has ended.
        mutating func take(
            _ error: ManagerError?,
            ofSentry number: Int,
            _ display: inout ProgressDisplay
        ) async throws(ManagerError) {
            // The answer of an earlier service may arrive after its successor has come.
            guard let last = sentry, last.number == number else { return }
            switch error {
            case let error? where error.code == .stopping:
                isServiceStopped = true
                display.end()
                Output.talk(
                    "The service has stopped; the downloads go on with its next start:"
                        + " idown service start"
                )
            case let error? where error.isUnreachable && error.code != .disconnected:
                let tasks = try await client.current([last.id], startsService: true)
                for (id, task) in tasks where open.contains(id) {
                    try await settle(id, task, &display)
                }
                sentry = nil
            // The news tell how the task has ended.
            case nil: sentry = nil
            case let error? where error.code == .noSuchTask: sentry = nil
            // The news end with the bus; a service that refuses the call is not asked again.
            default: break
            }
        }

        mutating func drawSoon() {
            guard clock == nil else { return }
            clock = Task { [items] in
                try? await Task.sleep(for: .seconds(DrawingPace.shortestInterval))
                items.yield(.drawing)
            }
        }

        /// Has a sentry wait for a task that has not ended.
        mutating func postSentry() {
            guard sentry.map({ !open.contains($0.id) }) ?? true, let id = open.first else { return }
            sentries += 1
            sentry = Sentry(number: sentries, id: id, over: client, reportingTo: items)
        }
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
