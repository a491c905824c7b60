// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown wait`: returns once downloads have ended.
struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Waits until downloads are completed, failed, cancelled or removed.",
        discussion: """
            Prints nothing where all are completed; the exit code is that of the first that is \
            not. A paused download is waited for, however long. What a selection other than IDs \
            means is found out once, at the start. Of a metalink only the list of its files is \
            waited for: these are downloads of their own, which idown wait all waits for once \
            they are there.

            Examples:
              idown wait 7 8 && notify-send done
              idown wait downloading waiting
              idown wait --progress 7
            """
    )

    @Flag(name: .shortAndLong, help: "Shows the progress on standard error.")
    var progress = false

    @OptionGroup var color: ColorOption

    @OptionGroup var selection: SelectionArguments

    func run() async throws {
        try await Service.use { client in
            let selection = try selection.selection()
            let watch = try await TaskWatch.start(over: client, handlesInterrupts: false) {
                () throws(ManagerError) in
                try await selection.tasks(client).map(\.id)
            }
            var display = ProgressDisplay(
                .talk,
                style: color.style(of: .talk),
                count: watch.ids.count,
                isQuiet: !progress
            )
            defer { display.end() }
            let standings = try await watch.run { display.show($0, $1) }.standings
            display.end()
            try TaskEnd.conclude(
                watch.ids.map { id in
                    guard case .task(let task) = standings[id] else {
                        return TaskEnd(task: nil, id: id)
                    }
                    return TaskEnd(task: task, id: id)
                }
            )
        }
    }
}
