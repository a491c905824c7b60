// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// The forms of a list that are not for people.
struct FormatOptions: ParsableArguments {
    @Flag(help: "Prints JSON; its keys are the names of the D-Bus properties.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Prints a line a download, such as '{Id}\\t{State}\\t{Path}'.",
            discussion: """
                In braces stand the names of the D-Bus properties, and Name, Size, Bytes, Percent, \
                Rate, Left and Reason.
                """,
            valueName: "template"
        )
    )
    var format: String?

    func validate() throws {
        if json, format != nil { throw ValidationError("--json and --format exclude each other") }
        _ = try template()
    }

    /// Whether nothing was asked for: the list is a person's to read.
    var isForPeople: Bool { !json && format == nil }

    /// Prints the tasks as was asked for.
    ///
    /// - Returns: Whether anything was asked for; else they are the caller's to show to people.
    func print(_ tasks: [TaskProperties]) throws -> Bool {
        if json {
            try Output.json(tasks.map { TaskJSON($0) })
            return true
        }
        guard let template = try template() else { return false }
        let reader = Terminal.output.reader
        try Output.data(lines: tasks.map { template.text(of: $0, for: reader) })
        return true
    }

    private func template() throws -> TaskTemplate? {
        guard let format else { return nil }
        do {
            return try TaskTemplate(format)
        } catch {
            throw ValidationError("--format: \(error)")
        }
    }
}
