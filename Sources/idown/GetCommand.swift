// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown get`: adds downloads, shows their progress, and waits until they have ended.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Downloads files into the current folder and waits for them.",
        discussion: """
            Shows the progress on standard error and prints the paths of the finished files, in \
            the order of the URLs. URLs are added together or not at all, except metalinks; the \
            exit code is that of the first download that failed. An unfinished download of the \
            same URL into the same folder takes the options and is continued. Ctrl-C ends only \
            this command: the service goes on downloading. If the service is stopped, the command \
            waits for its next start.

            A URL without a scheme gets https://. For a metalink (.meta4, .metalink), given by its \
            URL or as a local file, it waits for the files that the metalink lists and prints \
            their paths.

            Examples:
              idown get https://example.org/disk.iso
              idown get -d ~/Images -o disk.iso 'https://example.org/download?id=7'
              idown get --limit 2M example.org/1.iso example.org/2.iso
              idown get distribution.meta4
              file=$(idown get -q https://example.org/disk.iso) && sha256sum "$file"
            """
    )

    @OptionGroup var adding: AddingArguments

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    @Flag(
        help: """
            Print the finished download as a JSON object, as idown show does; several as an array.
            """
    )
    var json = false

    @Flag(
        help: ArgumentHelp(
            "Ask the servers for name, size and type of the files, and download nothing.",
            discussion: """
                Prints a line per fact and an empty line between URLs; with --json the answers of \
                the servers as JSON, several as an array with null for a URL that failed.
                """
        )
    )
    var probe = false

    @OptionGroup var color: ColorOption

    @Argument(
        help: ArgumentHelp(
            "http, https, ftp, ftps and sftp URLs, and metalink files.",
            valueName: "url"
        ),
        completion: .file(extensions: ["meta4", "metalink"])
    )
    var urls: [String]

    func validate() throws {
        try adding.check(urlCount: urls.count)
        if probe, let option = adding.optionOfDownload {
            throw ValidationError("\(option) is for a download, and --probe only asks")
        }
    }

    func run() async throws {
        if probe { return try await probeAll() }
        let addition = try Addition(
            try DownloadArgument.read(urls),
            adding,
            options: try adding.options(folder: "."),
            cookies: try adding.request.cookies.file()
        )
        try await Service.use { client in
            let watch = try await TaskWatch.start(over: client, handlesInterrupts: true) {
                () throws(ManagerError) in
                var ids: [String] = []
                do throws(ManagerError) {
                    try await addition.run(client, into: &ids)
                } catch {
                    if !ids.isEmpty {
                        Output.complain("added before that: \(ids.joined(separator: " "))")
                    }
                    throw error
                }
                return TaskWatch.Beginning(ids: ids)
            }
            var display = ProgressDisplay(
                .talk,
                style: color.style(of: .talk),
                count: watch.ids.count,
                isQuiet: quiet
            )
            // After an error, too, the cursor must not stay in the middle of a bar.
            defer { display.end() }
            let result = try await watch.run(showing: &display)
            display.end()
            try finish(result)
        }
    }

    /// Tells what the servers say, in the order of the URLs; ends with the code of the first failure.
    private func probeAll() async throws {
        let arguments = try DownloadArgument.read(urls)
        let (options, cookies) = (try adding.options(), try adding.request.cookies.file())
        var files: [ProbedFile?] = []
        var failure: ExitStatus?
        try await Service.use { client in
            try await client.require(.probe, to: "ask servers about files")
            for argument in arguments {
                guard case .url(let url) = argument else {
                    throw ValidationError("--probe asks servers: give URLs, and no local file")
                }
                let filled = try AddingArguments.fill(options, from: cookies, for: url)
                do {
                    files.append(try await client.probe(url, options: filled))
                } catch let error as ManagerError where error.code == .requestFailed {
                    Output.complain("\(ShownURL(url)): \(error.message)")
                    failure = failure ?? ExitStatus(error)
                    files.append(nil)
                }
            }
        }
        if json {
            try urls.count == 1
                ? files.first?.map { try Output.json(ProbeText.JSON($0)) }
                : Output.json(files.map { $0.map { ProbeText.JSON($0) } })
        } else {
            try Output.data(lines: ProbeText.lines(of: files.compactMap(\.self)))
        }
        if let failure { throw failure.exit }
    }

    private func finish(_ result: TaskWatch.Result) throws {
        let tasks = result.ends.compactMap(\.task)
        if json {
            try printJSON(tasks.filter(\.hasEnded))
        } else {
            let paths = tasks.filter { $0.state == .completed }.map(\.path)
            try Output.data(
                lines: Terminal.output.isTerminal ? paths.map(LineReader.terminal.line) : paths
            )
        }
        guard result.isInterrupted else { return try TaskEnd.conclude(result.ends) }
        let left = result.ends.filter { $0.task?.hasEnded == false }.map(\.id)
        let names = left.joined(separator: " ")
        Output.talk(
            result.isServiceStopped
                ? "The service is stopped; it goes on downloading with its next start: \(names)"
                : "The service goes on downloading: \(names)"
        )
        Output.talk("To wait: idown wait \(names)   To cancel: idown cancel \(names)")
        throw ExitStatus.interrupted.exit
    }

    /// One download is an object, or nothing if there is none; several are an array.
    private func printJSON(_ tasks: [TaskProperties]) throws {
        guard urls.count == 1, tasks.count <= 1 else {
            return try Output.json(tasks.map { TaskJSON($0) })
        }
        if let task = tasks.first { try Output.json(TaskJSON(task)) }
    }
}
