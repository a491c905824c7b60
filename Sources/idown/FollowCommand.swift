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
            Changed; without IDs every download that changed meanwhile is printed, with the event \
            listed.

            With --since it begins with what has changed since a serial, a number that the service \
            gives to every change: the event listed for each changed download, removed, and then \
            whole with the Serial to give the next time, and the ListId to give with it: a serial of \
            another list, such as one that was restored, is refused then. Serial 0 stands for the \
            empty list.

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

    @Option(
        name: .customLong("list-id"),
        help: ArgumentHelp("The list that the serial of --since belongs to.", valueName: "id")
    )
    var listID: String?

    @Argument(
        help: ArgumentHelp("Only these downloads, until they have ended.", valueName: "id"),
        completion: TaskCompletion.ids
    )
    var ids: [String] = []

    func validate() throws {
        guard try plainIDs() != nil else {
            throw ValidationError("give IDs such as 7, or nothing to follow all downloads")
        }
        guard listID == nil || since != nil else {
            throw ValidationError("--list-id goes with --since")
        }
        guard since == nil || (!list && ids.isEmpty) else {
            throw ValidationError("--since is for all downloads, without --list and without IDs")
        }
    }

    func run() async throws {
        try await Service.use { client in
            // This starts the service.
            let news = try await client.newsFromNow()
            let ids = try plainIDs() ?? []
            var log = EventLog(of: ids.isEmpty ? nil : Set(ids))
            if let since {
                try await client.require(.changes, to: "tell what has changed since then")
                // A list that is made anew between the two calls is refused by the second one.
                // From 0 on all of the list is told, whichever it is.
                let list =
                    if since > 0, let listID { listID } else { try await client.listID() }
                let changes = try await client.changes(since: since, of: list)
                try Self.printAll(log.begin(changes, of: list))
            } else if list || !ids.isEmpty {
                let tasks =
                    ids.isEmpty
                    ? try await client.allTasks() : try await TaskSelection(self.ids).tasks(client)
                let lines = log.begin(tasks)
                if list { try Self.printAll(lines) }
            }
            guard !log.isComplete else { return }
            for try await item in news {
                try Self.printAll(log.take(item))
                guard !log.isComplete else { return }
            }
            throw ManagerError(.disconnected, "the session bus went away")
        }
    }

    private static func printAll(_ lines: [EventJSON]) throws {
        for line in lines { try Output.jsonLine(line) }
    }

    private func plainIDs() throws -> [String]? {
        do {
            return try TaskSelection(ids).plainIDs
        } catch {
            throw ValidationError(error.description)
        }
    }
}
