// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown follow`: every change as a line of JSON.
struct FollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Prints every change of the downloads as a line of JSON.",
        discussion: """
            The key Event is added, changed or removed, or service when the service starts or \
            ends. With --list the downloads that exist come first, with the event listed. A change \
            has its new values in Changed, by the names of the D-Bus properties. URLs have no query \
            (the part from the ? on), except for listed ones. \
            Without IDs it runs until Ctrl-C; with IDs until these downloads have ended. An end \
            that happens while the service restarts is printed after the restart, with an empty \
            Changed.

            With --since it begins with what has changed since a serial, a number that the service \
            gives to every change: the event listed for each changed download, removed, and then \
            whole with the Serial to give the next time. Serial 0 stands for the empty list.

            Examples:
              idown follow
              idown follow --list | jq -c 'select(.Event == "changed") | [.Id, .State]'
              idown follow 7
              idown follow --since 0
            """
    )

    @Flag(help: "Begin with the downloads that exist.")
    var list = false

    @Option(help: ArgumentHelp("Begin with what has changed since.", valueName: "serial"))
    var since: UInt64?

    @Argument(
        help: ArgumentHelp("Only these downloads, until they have ended.", valueName: "id"),
        completion: TaskCompletion.ids
    )
    var ids: [String] = []

    func validate() throws {
        guard try plainIDs() != nil else {
            throw ValidationError("give IDs such as 7, or nothing to follow all downloads")
        }
        guard since == nil || (!list && ids.isEmpty) else {
            throw ValidationError("--since is for all downloads, without --list and without IDs")
        }
    }

    func run() async throws {
        try await Service.use { client in
            let events = try await client.events()
            let presence = try await client.presence()
            var open = Set(try plainIDs() ?? [])
            let followsAll = open.isEmpty
            // The first call starts the service.
            let tasks =
                followsAll
                ? (list ? try await client.allTasks() : [])
                : try await TaskSelection(ids).tasks(client)
            if let since {
                try await Self.catchUp(since, client)
            } else if followsAll, !list {
                _ = try await client.version()
            }
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
                    // If a task ended while the service restarted, its signal may be missing.
                    for id in open.sorted() {
                        guard let end = await Self.end(of: id, client) else { continue }
                        try Output.jsonLine(EventJSON.event(end))
                        open.remove(id)
                    }
                case .listed, .whole:
                    try Output.jsonLine(line)
                }
                guard followsAll || !open.isEmpty else { return }
            }
            throw ManagerError(.disconnected, "the session bus went away")
        }
    }

    /// Prints what has changed since a serial, and the serial of now.
    private static func catchUp(_ serial: UInt64, _ client: ManagerClient) async throws {
        let changes = try await client.changes(since: serial)
        for task in changes.tasks { try Output.jsonLine(EventJSON.listed(task)) }
        for id in changes.removed { try Output.jsonLine(EventJSON.event(.removed(id: id))) }
        try Output.jsonLine(EventJSON.whole(serial: changes.serial))
    }

    /// Returns the event for the end of a task; nil if the task has not ended.
    ///
    /// It also returns nil if the service has ended again; the next start is another chance.
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
    /// Whether the task goes on by itself no more.
    fileprivate var isEnd: Bool {
        switch self {
        case .added: false
        case .changed(_, let state, _):
            state == .completed || state == .failed || state == .cancelled
        case .removed: true
        }
    }
}
