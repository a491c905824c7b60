// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// What the commands have in common that apply one verb to tasks named by their ids.
protocol TaskVerb: AsyncParsableCommand {
    var ids: TaskIDs { get }

    /// Applies the verb to one task.
    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError)
}

/// The ids that a verb is applied to.
struct TaskIDs: ParsableArguments {
    @Argument(help: ArgumentHelp("IDs of downloads, as idown list shows them.", valueName: "id"))
    var values: [String]

    func validate() throws {
        try IDArgument.check(values)
    }
}

extension TaskVerb {
    /// Goes on after a refusal, tells each, and ends with the code of the first.
    func run() async throws {
        try await Service.use { client in
            var first: ExitStatus?
            for id in ids.values {
                do throws(ManagerError) {
                    try await apply(to: id, client)
                } catch {
                    guard !error.isUnreachable else { throw error }
                    Output.complain(error.description)
                    first = first ?? ExitStatus(error)
                }
            }
            if let first { throw first.exit }
        }
    }
}
