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
            Without a selection it waits for the downloads that are waiting or downloading when it \
            begins; downloads that failed before, and those added later, do not count. A selection \
            is read once, when the command begins. A paused download is waited for only if it is \
            selected. For a metalink it also waits for the files that the metalink lists. If the \
            service is stopped, the command waits for its next start.

            The exit code is that of the first download that was not completed.

            Examples:
              idown wait 7 8 && notify-send done
              idown add -i urls.txt && idown wait
              idown wait --progress
            """
    )

    @Flag(name: .shortAndLong, help: "Show the progress on standard error.")
    var progress = false

    @OptionGroup var color: ColorOption

    @OptionGroup var selected: OptionalSelectionArguments

    func run() async throws {
        let selection = try selected.selection()
        try await Service.use { client in
            let watch = try await TaskWatch.start(over: client, handlesInterrupts: false) {
                () throws(ManagerError) in
                let tasks =
                    selection.words.isEmpty
                    ? try await Self.moving(client) : try await selection.tasks(client)
                let paused = tasks.count { $0.state == .paused }
                if paused > 0 {
                    Output.talk("Waiting for \(paused) paused; to continue: idown resume paused")
                }
                return TaskWatch.Beginning(ids: tasks.map(\.id), tasks: tasks)
            }
            var display = ProgressDisplay(
                .talk,
                style: color.style(of: .talk),
                count: watch.ids.count,
                isQuiet: !progress
            )
            defer { display.end() }
            let ends = try await watch.run(showing: &display).ends
            display.end()
            try TaskEnd.conclude(ends)
        }
    }

    /// Returns the downloads that go on by themselves; prints how many paused ones are left out.
    private static func moving(_ client: ManagerClient) async throws(ManagerError)
        -> [TaskProperties]
    {
        var query = TaskQuery()
        query.states = [.waiting, .downloading, .paused]
        let tasks = try await client.allTasks(query)
        let paused = tasks.count { $0.state == .paused }
        if paused > 0 {
            Output.talk("Not waiting for \(paused) paused; name them to wait: idown wait paused")
        }
        return tasks.filter { $0.state != .paused }
    }
}
