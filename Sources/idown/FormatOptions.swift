// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// The formats of a list for programs.
struct FormatOptions: ParsableArguments {
    @Flag(help: "Print JSON; the keys are the names of the D-Bus properties.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Print a line per download: '{Id}\\t{State}\\t{Path}'.",
            discussion: """
                Fields are the names of the D-Bus properties (idown show --json 7 shows them), \
                and Name, Size, Bytes, Percent, Rate, Left and Reason. A template that ends in \\0 \
                gets no line feed, as xargs -0 needs it, and has the names as they are; elsewhere \
                U+FFFD stands for a control character.
                """,
            valueName: "template"
        )
    )
    var format: String?

    func validate() throws {
        if json, format != nil { throw ValidationError("give --json or --format, not both") }
        _ = try template()
    }

    /// Whether neither format was asked for, so that the list is for a person.
    var isForPeople: Bool { !json && format == nil }

    /// Prints the tasks in the format that was asked for.
    ///
    /// - Returns: False where none was asked for: then nothing is printed.
    func print(_ tasks: [TaskProperties]) throws -> Bool {
        if json {
            try Output.json(tasks.map { TaskJSON($0) })
            return true
        }
        guard let template = try template() else { return false }
        let reader = Terminal.output.reader
        let lines = tasks.map { template.text(of: $0, for: reader) }
        try template.endsInNUL ? Output.write(lines.joined()) : Output.data(lines: lines)
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
