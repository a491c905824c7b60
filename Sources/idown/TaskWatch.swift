// SPDX-License-Identifier: Apache-2.0

import iDownBus

/// Follows one task to its end, over restarts of the service.
struct TaskWatch {
    /// How it ended.
    enum End {
        /// Completed, failed or cancelled.
        case ended(TaskProperties)
        /// Taken off the list.
        case removed
        /// The user does not want to wait any longer.
        case interrupted
    }

    let id: String
    private let client: ManagerClient
    private let events: ManagerEvents
    private let presence: ManagerPresence
    private let interrupts: Interrupts

    /// Listens first and adds then, so that nothing is missed.
    static func start(
        over client: ManagerClient,
        adding: () async throws(ManagerError) -> String
    ) async throws(ManagerError) -> TaskWatch {
        let events = try await client.events()
        let presence = try await client.presence()
        let id = try await adding()
        // Not before: until there is something to leave behind, Ctrl-C ends the process.
        return TaskWatch(
            id: id,
            client: client,
            events: events,
            presence: presence,
            interrupts: await Interrupts.start()
        )
    }

    /// Returns at the task's end.
    func run(display: ProgressDisplay) async throws(ManagerError) -> End {
        var display = display
        defer { display.end() }
        let (news, continuation) = AsyncStream.makeStream(of: News.self)
        let sources = [
            Task { await report(to: continuation) },
            Task { await reportAbsence(to: continuation) },
            Task { await reportInterrupts(to: continuation) },
        ]
        defer { for source in sources { source.cancel() } }
        guard var task = try await current() else { return .removed }
        display.show(task)
        guard !task.hasEnded else { return .ended(task) }
        for await item in news {
            switch item {
            case .event(.added(let added)): task = added
            case .event(.changed(_, let state, let changed)):
                task = task.applying(changed)
                task.state = state
            case .event(.removed): return .removed
            case .serviceLeft:
                // Asking starts it again, and its answer is the newest there is.
                guard let found = try await current() else { return .removed }
                task = found
            case .interrupted: return .interrupted
            case .lost(let error): throw error
            }
            if task.hasEnded {
                // Signals tell the URL without its query, and somebody may have started it anew.
                guard let found = try await current() else { return .removed }
                task = found
            }
            display.show(task)
            if task.hasEnded { return .ended(task) }
        }
        throw ManagerError(.disconnected, "the session bus went away; \(id) goes on without it")
    }

    /// The task as the service knows it; nil if it knows it no longer.
    private func current() async throws(ManagerError) -> TaskProperties? {
        do throws(ManagerError) {
            return try await client.getTask(id)
        } catch {
            guard error.code == .noSuchTask else { throw error }
            return nil
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
            for try await event in events where event.id == id { news.yield(.event(event)) }
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
        for await _ in interrupts { news.yield(.interrupted) }
    }
}

extension TaskProperties {
    /// Whether nothing more happens by itself.
    fileprivate var hasEnded: Bool {
        state == .completed || state == .failed || state == .cancelled
    }
}
