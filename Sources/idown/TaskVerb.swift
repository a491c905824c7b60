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
}

extension TaskVerb {
    /// Whoever names ids hears of each that cannot take the verb; whoever names a range, a state or
    /// all means those that can.
    func run() async throws {
        try await Service.use { client in
            let selection = try selection.selection()
            if let ids = selection.plainIDs {
                try await applyOneByOne(ids, client)
            } else {
                let tasks = try await selection.tasks(client)
                let count = tasks.isEmpty ? 0 : try await apply(to: tasks, client)
                Output.talk("\(count) of \(tasks.count) downloads changed.")
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
