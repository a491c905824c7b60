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
        guard try await client.hasTask(id) else {
            Output.complain("somebody else removed download \(id) meanwhile")
            return .abandoned
        }
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

    /// What is still in the list could not go; the rest somebody else has removed, and that is no
    /// fault.
    func tellShortfall(
        of tasks: [TaskProperties],
        _ count: Int,
        _ client: ManagerClient
    ) async throws(ManagerError) -> ExitStatus? {
        guard trash else { return nil }
        let list = try await client.allTasks()
        let present = Set(list.map(\.id))
        let left = tasks.count { present.contains($0.id) }
        if left < count {
            Output.talk("Somebody else removed \(count - left) of them meanwhile.")
        }
        guard left > 0 else { return nil }
        Output.complain(
            left == 1
                ? "a file stays, and so does its download: no trash took it"
                : "\(left) files stay, and so do their downloads: no trash took them"
        )
        return .fileFailure
    }

    private var options: RemoveOptions {
        var options = RemoveOptions()
        options.trashFiles = trash ? true : nil
        return options
    }
}

extension ManagerClient {
    /// Whether a task is in the list.
    func hasTask(_ id: String) async throws(ManagerError) -> Bool {
        do throws(ManagerError) {
            _ = try await getTask(id)
            return true
        } catch {
            guard error.code == .noSuchTask else { throw error }
            return false
        }
    }
}
