// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown add`: hands URLs over and prints their ids.
struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds downloads and prints their IDs.",
        discussion: """
            The service downloads in the background; follow it with: idown list. Of several URLs \
            all are added or none. An unfinished download of the same URL into the same folder \
            goes on instead of being added again.

            Examples:
              idown add https://example.org/disk.iso
              idown add -d ~/Music --paused https://example.org/1.ogg https://example.org/2.ogg
              idown add --header "Authorization: Bearer $TOKEN" https://example.org/private.zip
            """
    )

    @OptionGroup var adding: AddingArguments

    @Flag(help: "Adds without starting.")
    var paused = false

    @Flag(help: "Prints the IDs as a JSON array.")
    var json = false

    @Argument(help: ArgumentHelp("http, https, ftp, ftps and sftp URLs.", valueName: "url"))
    var urls: [String]

    func validate() throws {
        if urls.count > 1, let option = adding.optionOfOneFile {
            throw ValidationError("\(option) is for one URL, and \(urls.count) are given")
        }
    }

    func run() async throws {
        try URLArgument.check(urls)
        let options = try adding.options(isPaused: paused)
        try await Service.use { client in
            let ids = try await add(options, client)
            if json { try Output.json(ids) } else { try Output.data(lines: ids) }
        }
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
