// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// The downloads that a command is about: IDs, ranges, states, `all`.
struct SelectionArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "IDs (7), ranges (3-7), states (failed), or all.",
            valueName: "selection"
        ),
        completion: TaskCompletion.selections
    )
    var words: [String]

    /// Returns the selection that the words name.
    func selection() throws -> TaskSelection {
        try TaskSelection(typed: words)
    }
}

/// The downloads that a command is about, or nothing where the command has a default.
struct OptionalSelectionArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "IDs (7), ranges (3-7), states (failed), or all.",
            valueName: "selection"
        ),
        completion: TaskCompletion.selections
    )
    var words: [String] = []

    /// Returns the selection that the words name.
    func selection() throws -> TaskSelection {
        try TaskSelection(typed: words)
    }
}

/// The downloads that a command changes.
struct ChangeArguments: ParsableArguments {
    @OptionGroup var selected: SelectionArguments

    @Flag(help: "Print what would be changed, and change nothing.")
    var dryRun = false

    /// Prints the tasks that would be changed, a line each: ID, state and name between tabs.
    ///
    /// - Parameters:
    ///   - tasks: All selected tasks.
    ///   - change: The participle of the verb, as in "would be paused".
    ///   - isChanged: Whether a task would be changed.
    ///   - isRefused: Whether the service would refuse the change because of the task's state.
    /// - Throws: `ExitCode` if the output cannot be written, or if a task that was named by its ID
    ///   would be refused.
    func preview(
        _ tasks: [TaskProperties],
        _ change: String,
        where isChanged: (TaskProperties) -> Bool,
        isRefused: (TaskProperties) -> Bool
    ) throws {
        let changed = tasks.filter { isChanged($0) && !isRefused($0) }
        try Output.data(
            lines: changed.map { task in
                let name = Terminal.output.reader.line(TaskSummary(task).shortName.description)
                return "\(task.id)\t\(task.state)\t\(name)"
            }
        )
        Output.talk("\(changed.count) of \(tasks.count) downloads would be \(change).")
        try complain(about: tasks, change, isRefused: isRefused)
    }

    /// Prints which tasks were named by their IDs and cannot be changed.
    ///
    /// - Throws: `ExitCode` if there are any.
    func complain(
        about tasks: [TaskProperties],
        _ change: String,
        isRefused: (TaskProperties) -> Bool
    ) throws {
        let selection = try selected.selection()
        let refused = tasks.filter { selection.names($0) && isRefused($0) }
        for task in refused {
            Output.complain("download \(task.id) is \(task.state) and cannot be \(change) so")
        }
        if !refused.isEmpty { throw ExitStatus.invalidState.exit }
    }
}

/// The answer that is given before a command asks.
struct ConsentArguments: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    /// Asks the user at a terminal before several unfinished downloads are lost.
    ///
    /// It does not ask if standard input is not a terminal.
    ///
    /// - Parameters:
    ///   - verb: What is about to be done, `cancel` or `remove`.
    ///   - tasks: The downloads that would be changed.
    /// - Throws: `ExitCode` where the answer is not yes.
    func ask(_ verb: ListVerb, about tasks: [TaskProperties]) throws {
        let unfinished = tasks.count { $0.state != .completed && $0.state != .cancelled }
        guard !yes, unfinished > 1, Terminal.input.isTerminal else { return }
        let agrees = try Prompt.agrees(
            "\(verb == .cancel ? "Cancel" : "Remove") \(unfinished) unfinished downloads and delete"
                + " their partial files? [y/N] ",
            usual: false
        )
        guard agrees else {
            Output.talk("Nothing was changed.")
            throw ExitStatus.failed.exit
        }
    }
}

extension TaskSelection {
    /// Reads the words of a command line.
    ///
    /// - Throws: `ValidationError`, which says what to type.
    init(typed words: [String]) throws {
        do {
            try self.init(words)
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// Returns the selected tasks, each once, and asks the service for no more than it needs.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - properties: The properties that are needed; an empty array means all.
    /// - Returns: The tasks, in the order of the list or of the IDs.
    /// - Throws: The errors of the service; `NoSuchTask` where a named ID is not in the list.
    func tasks(
        _ client: ManagerClient,
        _ properties: [TaskProperty] = []
    ) async throws(ManagerError) -> [TaskProperties] {
        if let ids = plainIDs, ids.count <= Self.mostSingleCalls {
            var tasks: [TaskProperties] = []
            for id in ids where !tasks.contains(where: { $0.id == id }) {
                do throws(ManagerError) {
                    tasks.append(try await client.getTask(id))
                } catch {
                    throw error.named(id)
                }
            }
            return tasks
        }
        var query = TaskQuery()
        query.states = plainStates ?? []
        query.properties = properties
        let list = try await client.allTasks(query)
        return try picked(from: list)
    }

    /// Returns the selected tasks of a list.
    ///
    /// - Throws: `NoSuchTask` where a named ID is not in the list.
    func picked(from list: [TaskProperties]) throws(ManagerError) -> [TaskProperties] {
        do {
            return try tasks(of: list)
        } catch {
            throw ManagerError(.noSuchTask, error.description)
        }
    }

    /// Whether a task was named by its ID.
    func names(_ task: TaskProperties) -> Bool { words.contains(.id(task.id)) }

    /// Whether an error about one of the tasks can be ignored: a task that was not named by its ID
    /// may have been removed after the list was read.
    func passesOver(_ error: ManagerError, of id: String) -> Bool {
        error.code == .noSuchTask && !words.contains(.id(id))
    }

    /// More IDs than this are looked up in the whole list instead of one by one.
    private static var mostSingleCalls: Int { 20 }
}

extension ManagerError {
    /// Returns this error; an unknown task's is put into the words of the command line.
    func named(_ id: String) -> ManagerError {
        code == .noSuchTask
            ? ManagerError(.noSuchTask, TaskSelection.Missing(id: id).description) : self
    }

    /// Returns the words for this error about a task, which they name if it is one of several.
    func text(about id: String, isOneOfSeveral: Bool) -> String {
        isOneOfSeveral && code != .noSuchTask
            ? "download \(id): \(description)" : named(id).description
    }
}
