// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown edit`: changes properties of downloads in the list.
struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes the priority, speed limit, connections or URL of downloads.",
        discussion: """
            All values are checked before the first one is changed. A running download follows a \
            new limit at once. With a fresh URL in place of one that expired, the download \
            continues if the file behind it is the same, and starts from the beginning if not.

            Examples:
              idown edit 7 --priority 10
              idown edit downloading --limit 500k
              idown edit 7 --connections 2
              idown edit 7 --limit off --url 'https://example.org/file.iso?token=new'
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Higher starts first; 0 is the default.", valueName: "number")
    )
    var priority: Int32?

    @Option(
        name: [.long, .customLong("limit-rate")],
        help: ArgumentHelp(
            "Maximum bytes per second: 500k, 2M, 1.5MiB/s; off for no limit.",
            valueName: "rate"
        )
    )
    var limit: RateArgument?

    @Option(
        help: ArgumentHelp(
            "Maximum number of connections, 1 to 16, or default.",
            discussion: "The default is the setting max-connections-per-download.",
            valueName: "number"
        ),
        completion: .list(["default"] + Contract.connections.map(String.init))
    )
    var connections: ConnectionsArgument?

    @Option(help: ArgumentHelp("Fresh URL; for a single download.", valueName: "url"))
    var url: String?

    @OptionGroup var change: ChangeArguments

    func validate() throws {
        guard priority != nil || limit != nil || connections != nil || url != nil else {
            throw ValidationError("give --priority, --limit, --connections or --url")
        }
        if url != nil, try change.selected.selection().plainIDs?.count != 1 {
            throw ValidationError("--url is for a single download, named by its ID")
        }
        if let limit, !Contract.speedLimit.contains(limit.bytesPerSecond) {
            throw ValidationError("--limit is too high")
        }
        if let connections, !Contract.maxConnections.contains(connections.count) {
            throw ValidationError("--connections is 1 to 16, or default, not \(connections.count)")
        }
    }

    func run() async throws {
        let url = try url.map(DownloadArgument.checkedURL)
        try await Service.use { client in
            // Read first: if an ID does not exist, nothing is changed.
            let selection = try change.selected.selection()
            let tasks = try await selection.tasks(client)
            guard !change.dryRun else { return try change.preview(tasks, "changed") { _ in true } }
            if let url, let task = tasks.first { try await client.setURL(task.id, to: url) }
            for task in tasks {
                do throws(ManagerError) {
                    try await apply(to: task.id, client)
                } catch {
                    guard selection.passesOver(error, of: task.id) else { throw error }
                }
            }
        }
    }

    private func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) {
        if let priority { try await client.setPriority(priority, of: id) }
        if let limit { try await client.setSpeedLimit(limit.bytesPerSecond, of: id) }
        if let connections { try await client.setMaxConnections(connections.count, of: id) }
    }
}
