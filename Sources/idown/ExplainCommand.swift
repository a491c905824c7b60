// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown explain`: why tasks do not move.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Tells why downloads do not move.",
        discussion: """
            Prints a line a reason, such as "queue: 3 of 3 running" or "retry in 12 s (HTTP 503)", \
            and nothing for what moves or is completed. Of several downloads each line begins \
            with the ID and a tab.

            Examples:
              idown explain 7
              idown explain waiting failed
            """
    )

    @Flag(help: "Prints a JSON object: the reasons by IDs.")
    var json = false

    @OptionGroup var selection: SelectionArguments

    func run() async throws {
        try await Service.use { client in
            let selection = try selection.selection()
            let ids: [String]
            if let plain = selection.plainIDs {
                ids = plain.map { TaskPath.id(meantBy: $0) }
            } else {
                ids = try await selection.tasks(client).map(\.id)
            }
            var reasons: [String: [String]] = [:]
            for id in ids {
                do throws(ManagerError) {
                    reasons[id] = try await client.explain(id)
                } catch {
                    guard selection.passesOver(error, of: id) else { throw error }
                }
            }
            guard !json else { return try Output.json(reasons) }
            let isAlone = ids.count == 1
            try Output.data(
                lines: ids.flatMap { id in
                    (reasons[id] ?? []).map { reason in
                        let text = CellText(reason).description
                        return isAlone ? text : "\(id)\t\(text)"
                    }
                }
            )
        }
    }
}
