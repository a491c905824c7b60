// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown verify`: checks whether finished files are unchanged.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads finished files again and compares them with their checksums.",
        discussion: """
            Prints a line for each download: its ID, what was compared (checksum or length), and its \
            name. A file without a known checksum is compared with its length. A file that changed \
            or is gone is reported on standard error, and the exit code tells it. Of a state, a \
            range or all, downloads that are not completed are skipped.

            Examples:
              idown verify 7
              idown verify completed
              idown edit 7 --checksum sha-256=HEX && idown verify 7
            """
    )

    @OptionGroup var selection: SelectionArguments

    func run() async throws {
        let selection = try selection.selection()
        try await Service.use { client in
            try await client.require(.verify, to: "verify downloads")
            let tasks = try await selection.tasks(client)
            var first: ExitStatus?
            for task in tasks where task.state == .completed || selection.names(task) {
                var lines: [String] = []
                do throws(ManagerError) {
                    let checked = try await Self.verify(task, client)
                    lines = checked.line.map { [$0] } ?? []
                    first = first ?? checked.status
                } catch {
                    guard !selection.passesOver(error, of: task.id) else { continue }
                    guard !error.isUnreachable else { throw error }
                    Output.complain(error.text(about: task.id, isOneOfSeveral: tasks.count > 1))
                    first = first ?? ExitStatus(error)
                }
                try Output.data(lines: lines)
            }
            if let first { throw first.exit }
        }
    }

    /// Has the service check a file, and prints an error if the file has changed.
    ///
    /// - Returns: The line to print for a good file, or the exit code for another.
    private static func verify(
        _ task: TaskProperties,
        _ client: ManagerClient
    ) async throws(ManagerError) -> (line: String?, status: ExitStatus?) {
        Disk.wait(for: task.path)
        let integrity = try await client.verify(task.id)
        let checked = try await client.getTask(task.id)
        guard checked.errorCode.isEmpty else {
            Output.complain("\(task.id): \(checked.errorMessage)")
            return (nil, ExitStatus(errorCode: checked.errorCode))
        }
        let name = Terminal.output.reader.line(TaskSummary(task).shortName.description)
        // Without a digest only the length was compared.
        let way = integrity == .checksum ? integrity : .length
        return ("\(task.id)\t\(way)\t\(name)", nil)
    }
}
