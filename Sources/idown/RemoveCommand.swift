// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown remove`: takes tasks off the list.
struct RemoveCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes downloads from the list.",
        discussion: """
            The partial file of an unfinished download is deleted. A finished file stays where it \
            is; with --trash it goes to the trash.

            At a terminal it asks before it removes more than one unfinished download.

            Examples:
              idown remove 7 8
              idown remove --trash 7
              idown remove completed cancelled
              idown rm -y failed
            """,
        aliases: ["rm"]
    )

    static let verb = ListVerb.remove
    static let participle = "removed"

    @Flag(help: "Move finished files to the trash.")
    var trash = false

    @OptionGroup var change: ChangeArguments

    @OptionGroup var agreement: ConsentArguments

    var consent: ConsentArguments? { agreement }

    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus? {
        guard trash else {
            try await client.apply(.remove, to: id)
            return nil
        }
        if try await client.apply(.trash, toAll: [id]) > 0 { return nil }
        guard try await client.hasTask(id) else {
            Output.complain("download \(id) was removed by another program meanwhile")
            return .abandoned
        }
        Output.complain(
            "the file of download \(id) cannot be moved to a trash: both stay as they are"
        )
        return .fileFailure
    }

    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32 {
        try await client.apply(trash ? .trash : .remove, toAll: tasks.map(\.id))
    }

    /// Tells of tasks that are still in the list, because no trash took their files.
    ///
    /// Other programs removed the rest, which is no fault.
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
            Output.talk("Other programs removed \(count - left) of them meanwhile.")
        }
        guard left > 0 else { return nil }
        Output.complain(
            left == 1
                ? "the file of one download cannot be moved to a trash: both stay as they are"
                : "the files of \(left) downloads cannot be moved to a trash: all stay as they are"
        )
        return .fileFailure
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
