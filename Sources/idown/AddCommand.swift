// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `idown add`: adds downloads and prints their IDs.
struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds downloads and prints their IDs.",
        discussion: """
            The service downloads in the background into its download folder; see the folder with: \
            idown config download-directory. URLs on the command line are added together or not at \
            all. An unfinished download of the same URL into the same folder takes the options and \
            is continued instead of being added again. A local metalink file (.meta4, .metalink) \
            adds the files that it lists.

            A list (--input-file) has one URL per line, followed by its mirrors with tabs between \
            them. The options of a URL stand in indented lines below it, as in aria2's input \
            files: out=, dir=, checksum=, referer=, header=, user-agent=, split=, \
            max-connection-per-server=, max-download-limit=, pause=, priority=, retry-for=, mirror=, \
            expected-size=, when-done=, on-existing= and token=. Folders in out= are below that of \
            dir= or, without one, below the download folder. Lines that start with # are \
            comments. A list can also be the output of idown export, with or without --json. An \
            option in the list overrides the same option on the command line. From a list, \
            downloads with a bad URL or a bad option are reported, and the rest is added.

            Examples:
              idown add https://example.org/disk.iso
              idown add -d ~/Music --paused https://a.example/1.ogg https://a.example/2.ogg
              idown add -H @headers.txt https://example.org/private.zip
              idown add -i urls.txt && idown wait
              ssh other idown export | idown add -i -
            """
    )

    @OptionGroup var adding: AddingArguments

    @Option(
        name: [.customShort("i"), .long],
        help: ArgumentHelp("List of downloads; - is standard input.", valueName: "file"),
        completion: .file()
    )
    var inputFile: [String] = []

    @Flag(help: "Add without starting.")
    var paused = false

    @Flag(help: "Print the IDs as a JSON array.")
    var json = false

    @Argument(
        help: ArgumentHelp(
            "http, https, ftp, ftps and sftp URLs, and metalink files.",
            valueName: "url"
        ),
        completion: .file(extensions: ["meta4", "metalink"])
    )
    var urls: [String] = []

    func validate() throws {
        if inputFile.isEmpty, urls.isEmpty {
            throw ValidationError("give URLs, or a list of them with --input-file")
        }
        if inputFile.count > 1 {
            throw ValidationError(
                "give one --input-file; several can be joined: cat A B | idown add -i -"
            )
        }
        if !inputFile.isEmpty, let option = adding.optionOfOneFile {
            throw ValidationError(
                "\(option) is for one file; in a list it stands below its URL:"
                    + " out=, checksum=, and mirrors after the URL"
            )
        }
        if !inputFile.isEmpty, adding.token != nil {
            throw ValidationError(
                "--token is for one call; in a list it stands below its URL: token="
            )
        }
        try adding.check(urlCount: urls.count)
        try InputFile.check(adding.request.inputs + inputFile)
    }

    func run() async throws {
        let options = try adding.options(isPaused: paused)
        let cookies = try adding.request.cookies.file()
        let addition = try Addition(
            try DownloadArgument.read(urls),
            adding,
            options: options,
            cookies: cookies
        )
        let list = try inputFile.first.map {
            try ListImport(
                $0,
                defaults: options,
                cookies: cookies,
                skipsCompleted: adding.continues
            )
        }
        try await Service.use { client in
            var ids: [String] = []
            var failure: ExitStatus?
            do {
                try await addition.run(client, into: &ids)
                failure = try await list?.run(client, into: &ids)
            } catch {
                // The IDs of added downloads are printed even if a later call failed.
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
}
