// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// What the commands have in common that apply one verb to tasks.
protocol TaskVerb: AsyncParsableCommand {
    var selection: SelectionArguments { get }

    /// Applies the verb to one task, which was named by its id.
    ///
    /// - Returns: The code where the task stays as it is without an error, which has been told.
    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus?

    /// Applies the verb to those of a selection that can take it, in as few calls as may be.
    ///
    /// - Returns: How many it changed.
    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32

    /// Tells why not all of a selection have changed, where that is worth a word.
    ///
    /// - Parameters:
    ///   - tasks: The selection, as it was before.
    ///   - count: How many of it have not changed.
    ///   - client: The service.
    /// - Throws: What the service says to a question about them.
    /// - Returns: The code to end with; nil where it is no fault.
    func tellShortfall(
        of tasks: [TaskProperties],
        _ count: Int,
        _ client: ManagerClient
    ) async throws(ManagerError) -> ExitStatus?
}

extension TaskVerb {
    /// Those that cannot take a verb are passed over, and that is no fault.
    func tellShortfall(
        of tasks: [TaskProperties],
        _ count: Int,
        _ client: ManagerClient
    ) async throws(ManagerError) -> ExitStatus? { nil }

    /// Whoever names ids hears of each that cannot take the verb; whoever names a range, a state or
    /// all means those that can.
    func run() async throws {
        try await Service.use { client in
            let selection = try selection.selection()
            guard let ids = selection.plainIDs else {
                let (count, tasks) = try await apply(to: selection, client)
                Output.talk("\(count) of \(tasks.count) downloads changed.")
                guard count < tasks.count else { return }
                let status = try await tellShortfall(of: tasks, tasks.count - count, client)
                if let status { throw status.exit }
                return
            }
            try await applyOneByOne(ids, client)
        }
    }

    /// A task that was taken off the list after it was listed voids the whole call: then the list
    /// is another one, and is asked for again.
    private func apply(
        to selection: TaskSelection,
        _ client: ManagerClient
    ) async throws(ManagerError) -> (count: Int, tasks: [TaskProperties]) {
        var triesLeft = 3
        while true {
            let tasks = try await selection.tasks(client)
            guard !tasks.isEmpty else { return (0, []) }
            triesLeft -= 1
            do {
                let count = try await apply(to: tasks, client)
                return (Int(count), tasks)
            } catch  where error.code == .noSuchTask && triesLeft > 0 {
                continue
            }
        }
    }

    /// Goes on after a refusal, tells each, and ends with the code of the first.
    private func applyOneByOne(_ ids: [String], _ client: ManagerClient) async throws {
        var first: ExitStatus?
        for id in ids {
            do throws(ManagerError) {
                let refused = try await apply(to: id, client)
                first = first ?? refused
            } catch {
                guard !error.isUnreachable else { throw error }
                Output.complain(error.description)
                first = first ?? ExitStatus(error)
            }
        }
        if let first { throw first.exit }
    }
}
