// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// What the commands have in common that apply one verb to downloads.
protocol TaskVerb: AsyncParsableCommand {
    var change: ChangeArguments { get }

    /// The verb as the live list knows it.
    static var verb: ListVerb { get }

    /// What the verb does to a download, as in "would be paused".
    static var participle: String { get }

    /// Whether the verb changes a download; a download that was not named by its ID is passed over
    /// if not.
    func changes(_ task: TaskProperties) -> Bool

    /// How the user agrees before several unfinished downloads are lost; nil for a verb that loses
    /// nothing.
    var consent: ConsentArguments? { get }

    /// Applies the verb to one task, which was named by its ID.
    ///
    /// - Returns: The code to end with where the task stays as it is without an error; the reason
    ///   has been told.
    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus?

    /// Applies the verb to the tasks of a selection that can take it, in as few calls as possible.
    ///
    /// - Returns: How many it changed.
    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32

    /// Tells why some of a selection have not changed, where that is worth telling.
    ///
    /// - Parameters:
    ///   - tasks: The selection, as it was before.
    ///   - count: How many of it have not changed.
    ///   - client: The service.
    /// - Throws: What the service answers to questions about them.
    /// - Returns: The code to end with; nil where this is no fault.
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

    func tellShortfall(
        of tasks: [TaskProperties],
        _ count: Int,
        _ client: ManagerClient
    ) async throws(ManagerError) -> ExitStatus? { nil }

    /// A download that was named by its ID and cannot take the verb is an error; a range, a state
    /// and all mean those downloads that can.
    func run() async throws {
        try await Service.use { client in
            let selection = try change.selected.selection()
            guard !change.dryRun else {
                let tasks = try await selection.tasks(client)
                return try change.preview(tasks, Self.participle, where: changes)
            }
            guard let ids = selection.plainIDs else {
                let (count, tasks) = try await apply(to: selection, client)
                Output.talk("\(count) of \(tasks.count) downloads \(Self.participle).")
                guard count < tasks.count else { return }
                let status = try await tellShortfall(of: tasks, tasks.count - count, client)
                if let status { throw status.exit }
                return
            }
            if let consent, ids.count > 1 {
                let list = try await client.allTasks()
                try consent.ask(Self.verb, about: list.filter { ids.contains($0.id) })
            }
            try await applyOneByOne(ids, client)
        }
    }

    /// A task that was removed after it was listed voids the whole call: then the list is another
    /// one, and is asked for again.
    private func apply(
        to selection: TaskSelection,
        _ client: ManagerClient
    ) async throws -> (count: Int, tasks: [TaskProperties]) {
        var triesLeft = 3
        var isAsked = false
        while true {
            let tasks = try await selection.tasks(client)
            guard !tasks.isEmpty else { return (0, []) }
            if !isAsked { try consent?.ask(Self.verb, about: tasks.filter(changes)) }
            isAsked = true
            triesLeft -= 1
            do throws(ManagerError) {
                let count = try await apply(to: tasks, client)
                return (Int(count), tasks)
            } catch {
                guard error.code == .noSuchTask, triesLeft > 0 else { throw error }
            }
        }
    }

    /// Goes on after a refusal, tells each one, and ends with the code of the first.
    private func applyOneByOne(_ ids: [String], _ client: ManagerClient) async throws {
        var first: ExitStatus?
        for id in ids {
            do throws(ManagerError) {
                let refused = try await apply(to: id, client)
                first = first ?? refused
            } catch {
                guard !error.isUnreachable else { throw error }
                Output.complain(error.named(id).description)
                first = first ?? ExitStatus(error)
            }
        }
        if let first { throw first.exit }
    }
}
