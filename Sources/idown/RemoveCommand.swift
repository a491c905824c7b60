// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown remove`: takes tasks off the list.
struct RemoveCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Takes downloads off the list.",
        discussion: """
            Partial data is deleted; a finished file stays where it is, or goes to the trash.

            Examples:
              idown remove 7 8
              idown remove --trash 7
              idown remove completed cancelled
            """
    )

    @Flag(help: "Finished files go to the trash.")
    var trash = false

    @OptionGroup var selection: SelectionArguments

    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus? {
        guard trash else {
            try await client.remove(id)
            return nil
        }
        if try await client.removeTasks([id], options: options) > 0 { return nil }
        Output.complain(
            "the file of download \(id) stays, and so does the download: no trash took it"
        )
        return .fileFailure
    }

    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32 {
        try await client.removeTasks(tasks.map(\.id), options: options)
    }

    func shortfall(_ count: Int) -> (complaint: String, status: ExitStatus)? {
        guard trash else { return nil }
        let what =
            count == 1
            ? "a file stays, and so does its download: no trash took it"
            : "\(count) files stay, and so do their downloads: no trash took them"
        return (what, .fileFailure)
    }

    private var options: RemoveOptions {
        var options = RemoveOptions()
        options.trashFiles = trash ? true : nil
        return options
    }
}
