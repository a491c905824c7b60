// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown follow`: each change as a line of JSON.
struct FollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Prints each change of the downloads as a line of JSON.",
        discussion: """
            The key Event is added, changed, removed, or service when the service comes or goes; \
            with --list the downloads that are there already come first, as listed. A change \
            holds what is new in Changed, under the names of the D-Bus properties. URLs stand \
            without what follows a ?, but for those that are listed. It goes on until it is \
            interrupted; with IDs, until these have ended. An end of theirs that came while the \
            service restarted is told once it is back, with nothing in Changed.

            Examples:
              idown follow
              idown follow --list | jq -c 'select(.Event == "changed") | [.Id, .State]'
              idown follow 7
            """
    )

    @Flag(help: "Begins with the downloads that are there.")
    var list = false

    @Argument(
        help: ArgumentHelp("Only these, until they have ended.", valueName: "id"),
        completion: TaskCompletion.ids
    )
    var ids: [String] = []

    func validate() throws {
        guard try plainIDs() != nil else {
            throw ValidationError("only IDs such as 7 can be followed, or everything")
        }
    }

    func run() async throws {
        try await Service.use { client in
            let events = try await client.events()
            let presence = try await client.presence()
            var open = Set(try plainIDs() ?? [])
            let followsAll = open.isEmpty
            // Asking also starts the service.
            let tasks =
                followsAll
                ? (list ? try await client.allTasks() : [])
                : try await TaskSelection(ids).tasks(client)
            if followsAll, !list { _ = try await client.version() }
            for task in tasks {
                if list { try Output.jsonLine(EventJSON.listed(task)) }
                if task.hasEnded { open.remove(task.id) }
            }
            guard followsAll || !open.isEmpty else { return }
            for try await line in Self.lines(events, presence) {
                switch line {
                case .event(let event):
                    guard followsAll || open.contains(event.id) else { continue }
                    try Output.jsonLine(line)
                    if event.isEnd { open.remove(event.id) }
                case .service(let isRunning):
                    try Output.jsonLine(line)
                    guard isRunning else { continue }
                    // What ends as the service comes back nobody may have been told.
                    for id in open.sorted() {
                        guard let end = await Self.end(of: id, client) else { continue }
                        try Output.jsonLine(EventJSON.event(end))
                        open.remove(id)
                    }
                case .listed:
                    try Output.jsonLine(line)
                }
                guard followsAll || !open.isEmpty else { return }
            }
            throw ManagerError(.disconnected, "the session bus went away")
        }
    }

    /// The change that a task's end would have been told as; nil as long as it goes on, and where
    /// the service has gone again: it will tell when it is back.
    private static func end(
        of id: String,
        _ client: ManagerClient
    ) async -> ManagerEvent? {
        do throws(ManagerError) {
            let task = try await client.getTask(id)
            return task.hasEnded ? .changed(id: id, state: task.state, changed: [:]) : nil
        } catch {
            return error.code == .noSuchTask ? .removed(id: id) : nil
        }
    }

    private func plainIDs() throws -> [String]? {
        do {
            return try TaskSelection(ids).plainIDs
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// Events and comings and goings as one sequence, which owns the tasks that feed it.
    private static func lines(
        _ events: ManagerEvents,
        _ presence: ManagerPresence
    ) -> AsyncThrowingStream<EventJSON, any Error> {
        AsyncThrowingStream { continuation in
            let sources = [
                Task {
                    do {
                        for try await event in events { continuation.yield(.event(event)) }
                        continuation.finish()
                    } catch {
                        continuation.finish(throwing: error)
                    }
                },
                Task {
                    do {
                        for try await isThere in presence {
                            continuation.yield(.service(isRunning: isThere))
                        }
                    } catch {
                        continuation.finish(throwing: error)
                    }
                },
            ]
            continuation.onTermination = { _ in for source in sources { source.cancel() } }
        }
    }
}

extension ManagerEvent {
    /// Whether nothing more happens to the task by itself.
    fileprivate var isEnd: Bool {
        switch self {
        case .added: false
        case .changed(_, let state, _):
            state == .completed || state == .failed || state == .cancelled
        case .removed: true
        }
    }
}
