// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown add`: hands URLs over and prints their ids.
struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds downloads and prints their IDs.",
        discussion: """
            The service downloads in the background; follow it with: idown list. Of several URLs \
            on the command line all are added or none; of a list what can be added is. An \
            unfinished download of the same URL into the same folder goes on instead of being \
            added again.

            A list holds a URL a line, mirrors of it behind tabs, and its options in indented \
            lines below, as aria2's input files do: out=, dir=, checksum=, referer=, header=, \
            user-agent=, split=, max-connection-per-server=, max-download-limit=, pause=, and \
            priority=. Lines that start with # are comments. What idown export --json writes is \
            read as well. An option of the list goes before the same one of the command line. The \
            list is read wholly before anything is added; the lines that the service refuses then \
            are named.

            Examples:
              idown add https://example.org/disk.iso
              idown add -d ~/Music --paused https://example.org/1.ogg https://example.org/2.ogg
              idown add -H "Authorization: Bearer $TOKEN" https://example.org/private.zip
              idown add -i urls.txt
              ssh other idown export | idown add -i -
            """
    )

    @OptionGroup var adding: AddingArguments

    @Option(
        name: [.customShort("i"), .long],
        help: ArgumentHelp(
            "A list of downloads; - is standard input.",
            valueName: "file"
        ),
        completion: .file()
    )
    var inputFile: String?

    @Flag(help: "Adds without starting.")
    var paused = false

    @Flag(help: "Prints the IDs as a JSON array.")
    var json = false

    @Argument(help: ArgumentHelp("http, https, ftp, ftps and sftp URLs.", valueName: "url"))
    var urls: [String] = []

    func validate() throws {
        if inputFile == nil, urls.isEmpty {
            throw ValidationError("give URLs, or a list of them with --input-file")
        }
        if inputFile != nil, adding.token != nil {
            throw ValidationError(
                "--token is not for a list: there it stands below its URL, token="
            )
        }
        // With a list there may be many.
        try adding.check(urlCount: inputFile == nil ? urls.count : 2)
    }

    func run() async throws {
        try URLArgument.check(urls)
        let options = try adding.options(isPaused: paused)
        let list = try inputFile.map { try ListImport(ListFile.read($0), defaults: options) }
        try await Service.use { client in
            var ids: [String] = []
            var failure: ExitStatus?
            do {
                if !urls.isEmpty { ids = try await add(options, client) }
                failure = try await list?.run(client, into: &ids)
            } catch {
                // What was added is told, whatever came after it.
                if !ids.isEmpty { try print(ids) }
                throw error
            }
            try print(ids)
            if let failure { throw failure.exit }
        }
    }

    private func print(_ ids: [String]) throws {
        if json { try Output.json(ids) } else { try Output.data(lines: ids) }
    }

    /// A single URL goes by its own method, whose errors need not name a place.
    private func add(
        _ options: AddOptions,
        _ client: ManagerClient
    ) async throws(ManagerError) -> [String] {
        guard urls.count == 1, let url = urls.first else {
            return try await client.addURLs(urls, options: options)
        }
        return [try await client.addURL(url, options: options)]
    }
}
