// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// A command that applies one verb to downloads.
protocol TaskVerb: AsyncParsableCommand, Sendable {
    var change: ChangeArguments { get }

    /// The verb of the live list that does the same.
    static var verb: ListVerb { get }

    /// The participle of the verb, as in "would be paused".
    static var participle: String { get }

    /// Whether the verb can change a download; if not, a range, a state or `all` skips it.
    func changes(_ task: TaskProperties) -> Bool

    /// The options that ask the user before several unfinished downloads are lost; nil for a verb
    /// that loses nothing.
    var consent: ConsentArguments? { get }

    /// Applies the verb to one task, which was named by its ID.
    ///
    /// - Returns: The exit code if the task was not changed for a reason that was printed; nil if
    ///   it was changed.
    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus?

    /// Applies the verb to the tasks of a selection that can take it, in as few calls as possible.
    ///
    /// Only the ID, the state and the hold of the tasks are known.
    ///
    /// - Returns: How many it changed.
    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32

    /// Prints why some selected tasks were not changed, if the user should know.
    ///
    /// - Parameters:
    ///   - tasks: The selected tasks, as they were before; only ID, state and hold are known.
    ///   - count: The number of tasks that were not changed.
    ///   - client: The service.
    /// - Throws: The errors of the service when it is asked about the tasks.
    /// - Returns: The exit code; nil if this is not an error.
    func tellShortfall(
        of tasks: [TaskProperties],
        _ count: Int,
        _ client: ManagerClient
    ) async throws(ManagerError) -> ExitStatus?
}

extension TaskVerb {
    func changes(_ task: TaskProperties) -> Bool {
        ListVerb.verbs(for: task.state).contains(Self.verb)
    }

    var consent: ConsentArguments? { nil }

    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus? {
        try await client.apply(Self.verb, to: id)
        return nil
    }

    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32 {
        try await client.apply(Self.verb, toAll: tasks.map(\.id))
    }

    func tellShortfall(
        of tasks: [TaskProperties],
        _ count: Int,
        _ client: ManagerClient
    ) async throws(ManagerError) -> ExitStatus? { nil }

    /// Applies the verb to the selection.
    ///
    /// A download that was selected by its ID and cannot take the verb is an error. A range, a
    /// state or `all` skips it.
    func run() async throws {
        let selection = try change.selected.selection()
        try await Service.use { client in
            guard !change.dryRun else {
                let tasks = try await selection.tasks(client)
                return try change.preview(tasks, Self.participle, where: changes) { task in
                    Self.verb.isRefused(in: task.state)
                }
            }
            guard let ids = selection.plainIDs else {
                let (count, tasks) = try await apply(to: selection, client)
                Output.talk("\(count) of \(tasks.count) downloads \(Self.participle).")
                if count < tasks.count {
                    let status = try await tellShortfall(of: tasks, tasks.count - count, client)
                    if let status { throw status.exit }
                }
                return try change.complain(about: tasks, Self.participle) { task in
                    Self.verb.isRefused(in: task.state)
                }
            }
            if let consent, ids.count > 1 {
                let list = try await client.allTasks()
                try consent.ask(Self.verb, about: list.filter { ids.contains($0.id) })
            }
            try await applyOneByOne(ids, client)
        }
    }

    /// Reads the selected tasks and applies the verb to them.
    ///
    /// If one of them was removed meanwhile, the service refuses the whole call. Then the list is
    /// read again, for at most three tries.
    private func apply(
        to selection: TaskSelection,
        _ client: ManagerClient
    ) async throws -> (count: Int, tasks: [TaskProperties]) {
        var triesLeft = 3
        var isAsked = false
        while true {
            // All properties of 100,000 tasks would take seconds.
            let tasks = try await selection.tasks(client, [.state, .hold])
            guard !tasks.isEmpty else { return (0, []) }
            if !isAsked { try consent?.ask(Self.verb, about: tasks.filter(changes)) }
            isAsked = true
            triesLeft -= 1
            do throws(ManagerError) {
                // The service would look at the others one by one, and leave them as they are.
                let changed = tasks.filter(changes)
                let count = changed.isEmpty ? 0 : try await apply(to: changed, client)
                return (Int(count), tasks)
            } catch {
                guard error.code == .noSuchTask, triesLeft > 0 else { throw error }
            }
        }
    }

    /// Applies the verb to each ID, prints every refusal, and ends with the exit code of the first.
    private func applyOneByOne(_ ids: [String], _ client: ManagerClient) async throws {
        var first: ExitStatus?
        try await CallsAtOnce.make(about: ids) { id throws(ManagerError) in
            try await apply(to: id, client)
        } then: { id, answer in
            switch answer {
            case .success(let refused): first = first ?? refused
            case .failure(let error):
                guard !error.isUnreachable else { throw error }
                Output.complain(error.text(about: id, isOneOfSeveral: ids.count > 1))
                first = first ?? ExitStatus(error)
            }
        }
        if let first { throw first.exit }
    }
}

extension ListVerb {
    /// Whether the service refuses the verb for a task in this state; it accepts a verb that has
    /// nothing to do.
    fileprivate func isRefused(in state: TaskProperties.State) -> Bool {
        switch self {
        case .pause: [.failed, .completed, .cancelled].contains(state)
        case .resume, .cancel: state == .completed
        case .retry, .remove, .trash, .open, .reveal: false
        }
    }
}

extension ManagerClient {
    /// Applies a verb to one task; `open` and `reveal`, which the service does not have, do nothing.
    ///
    /// - Throws: `InvalidState` where the task cannot take the verb.
    func apply(_ verb: ListVerb, to id: String) async throws(ManagerError) {
        switch verb {
        case .pause: try await pause(id)
        case .resume: try await resume(id)
        case .retry: try await retry(id)
        case .cancel: try await cancel(id)
        case .remove: try await remove(id)
        case .trash: _ = try await apply(verb, toAll: [id])
        case .open, .reveal: break
        }
    }

    /// Applies a verb to those of several tasks that can take it, by one call.
    ///
    /// - Returns: How many it changed.
    func apply(_ verb: ListVerb, toAll ids: [String]) async throws(ManagerError) -> UInt32 {
        switch verb {
        case .pause: return try await pauseTasks(ids)
        case .resume, .retry: return try await startTasks(ids)
        case .cancel: return try await cancelTasks(ids)
        case .remove: return try await removeTasks(ids)
        case .trash:
            var options = RemoveOptions()
            options.trashFiles = true
            return try await removeTasks(ids, options: options)
        case .open, .reveal: return 0
        }
    }
}
