// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// The tasks that a command is about: ids, ranges, states, `all`.
struct SelectionArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "IDs such as 7, ranges such as 3-7, states such as failed, or all.",
            valueName: "selection"
        ),
        completion: TaskCompletion.selections
    )
    var words: [String]

    func validate() throws {
        _ = try selection()
    }

    /// What the words select.
    func selection() throws -> TaskSelection {
        do {
            return try TaskSelection(words)
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// The selected tasks, each once.
    func tasks(_ client: ManagerClient) async throws -> [TaskProperties] {
        try await selection().tasks(client)
    }
}

extension TaskSelection {
    /// The selected tasks, each once; what need not be asked for is not.
    func tasks(_ client: ManagerClient) async throws(ManagerError) -> [TaskProperties] {
        if let ids = plainIDs, ids.count <= Self.singly {
            var tasks: [TaskProperties] = []
            for id in ids where !tasks.contains(where: { $0.id == id }) {
                tasks.append(try await client.getTask(id))
            }
            return tasks
        }
        var query = TaskQuery()
        query.states = plainStates ?? []
        let list = try await client.allTasks(query)
        do {
            return try tasks(of: list)
        } catch {
            throw ManagerError(.noSuchTask, error.description)
        }
    }

    /// Whether an error over one of the tasks is no fault: one that was not named by its id may
    /// have gone after the list was looked at.
    func passesOver(_ error: ManagerError, of id: String) -> Bool {
        error.code == .noSuchTask && !words.contains(.id(id))
    }

    /// So many tasks are asked for one by one before the whole list is.
    private static var singly: Int { 20 }
}
