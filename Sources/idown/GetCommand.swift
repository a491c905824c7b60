// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown get`: adds downloads, shows how they go, and waits for their ends.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Downloads files and waits for them.",
        discussion: """
            Shows the progress on standard error and prints the paths of the finished files, in \
            the order of the URLs. Of several URLs all are added or none; the exit code is that of \
            the first that failed. Ctrl-C ends only this command: the downloads go on in the \
            service.

            A metalink is through once its files are in the list: they are downloads of their \
            own. idown wait all waits for them, and idown watch shows them.

            Examples:
              idown get https://example.org/disk.iso
              idown get -d . -o disk.iso 'https://example.org/download?id=7'
              idown get --limit 2M https://example.org/1.iso https://example.org/2.iso
              file=$(idown get -q https://example.org/disk.iso) && sha256sum "$file"
            """
    )

    @OptionGroup var adding: AddingArguments

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    @Flag(
        help: """
            Prints the finished download as a JSON object, as idown show does; of several an array.
            """
    )
    var json = false

    @OptionGroup var color: ColorOption

    @Argument(help: ArgumentHelp("http, https, ftp, ftps and sftp URLs.", valueName: "url"))
    var urls: [String]

    func validate() throws {
        try adding.check(urlCount: urls.count)
    }

    func run() async throws {
        try URLArgument.check(urls)
        let options = try adding.options()
        try await Service.use { client in
            let watch = try await TaskWatch.start(over: client, handlesInterrupts: true) {
                () throws(ManagerError) in
                guard urls.count == 1, let url = urls.first else {
                    return try await client.addURLs(urls, options: options)
                }
                return [try await client.addURL(url, options: options)]
            }
            var display = ProgressDisplay(
                .talk,
                style: color.style(of: .talk),
                count: watch.ids.count,
                isQuiet: quiet
            )
            // Also after an error nothing may stand in the middle of a bar.
            defer { display.end() }
            let (standings, isInterrupted) = try await watch.run { display.show($0, $1) }
            display.end()
            try finish(watch.ids, standings, isInterrupted)
        }
    }

    private func finish(
        _ ids: [String],
        _ standings: [String: TaskWatch.Standing],
        _ isInterrupted: Bool
    ) throws {
        let ends = ids.map { id in
            guard case .task(let task) = standings[id] else { return TaskEnd(task: nil, id: id) }
            return TaskEnd(task: task, id: id)
        }
        let tasks = ends.compactMap(\.task)
        if json {
            try printJSON(tasks.filter(\.hasEnded))
        } else {
            let paths = tasks.filter { $0.state == .completed }.map(\.path)
            try Output.data(
                lines: Terminal.output.isTerminal ? paths.map(LineReader.terminal.line) : paths
            )
        }
        guard isInterrupted else { return try TaskEnd.conclude(ends) }
        let left = ends.filter { $0.task?.hasEnded == false }.map(\.id)
        let names = left.joined(separator: " ")
        Output.talk("In the background \(left.count == 1 ? "goes" : "go") on: \(names)")
        Output.talk("Follow: idown wait \(names)   Cancel: idown cancel \(names)")
        throw ExitStatus.interrupted.exit
    }

    /// An object for one URL, and nothing where there is none to tell of; an array for several.
    private func printJSON(_ tasks: [TaskProperties]) throws {
        guard urls.count == 1 else { return try Output.json(tasks.map { TaskJSON($0) }) }
        if let task = tasks.first { try Output.json(TaskJSON(task)) }
    }
}
