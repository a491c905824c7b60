// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown edit`: changes what can be changed of tasks that are in the list.
struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes priority, speed limit, connections or URL of downloads.",
        discussion: """
            Each value is looked at before anything is changed. What runs is held to a new limit \
            at once.

            Examples:
              idown edit 7 --priority 10
              idown edit downloading --limit 500k
              idown edit 7 --connections 2
              idown edit 7 --limit off --url 'https://example.org/file.iso?token=new'
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Higher goes first; 0 is usual.", valueName: "number")
    )
    var priority: Int32?

    @Option(
        help: ArgumentHelp(
            "The most bytes a second, such as 500k or 2M; off for none.",
            valueName: "rate"
        )
    )
    var limit: RateArgument?

    @Option(
        help: ArgumentHelp(
            "The most connections at once, 1 to 16; default takes max-connections-per-download.",
            valueName: "number"
        ),
        completion: .list(["default"] + Contract.connections.map(String.init))
    )
    var connections: ConnectionsArgument?

    @Option(help: ArgumentHelp("A fresh link; of one download only.", valueName: "url"))
    var url: String?

    @OptionGroup var selection: SelectionArguments

    func validate() throws {
        guard priority != nil || limit != nil || connections != nil || url != nil else {
            throw ValidationError("give --priority, --limit, --connections or --url")
        }
        if url != nil, try selection.selection().plainIDs?.count != 1 {
            throw ValidationError("--url is for one download, named by its ID")
        }
        if let limit, !Contract.speedLimit.contains(limit.bytesPerSecond) {
            throw ValidationError("--limit is too high")
        }
        if let connections, !Contract.maxConnections.contains(connections.count) {
            throw ValidationError("--connections is 1 to 16, or default, not \(connections.count)")
        }
    }

    func run() async throws {
        if let url { try URLArgument.check([url]) }
        try await Service.use { client in
            // Asked for first: of an ID that is not there nothing is changed.
            let selection = try selection.selection()
            let tasks = try await selection.tasks(client)
            if let url, let task = tasks.first { try await client.setURL(task.id, to: url) }
            for task in tasks {
                do throws(ManagerError) {
                    try await change(task.id, client)
                } catch {
                    guard selection.passesOver(error, of: task.id) else { throw error }
                }
            }
        }
    }

    private func change(_ id: String, _ client: ManagerClient) async throws(ManagerError) {
        if let priority { try await client.setPriority(priority, of: id) }
        if let limit { try await client.setSpeedLimit(limit.bytesPerSecond, of: id) }
        if let connections { try await client.setMaxConnections(connections.count, of: id) }
    }
}
