// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown open`: what the desktop calls for a clicked link.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Adds downloads from links, as the desktop does.",
        discussion: """
            Takes http, https, ftp, ftps and sftp URLs, and links of the form idown:?url=URL, where \
            URL is wholly \
            percent-encoded. Any web page can fire such a link, so nothing in it chooses a folder, \
            a name or an option. Of several links all are added or none; without any the service \
            is only started.

            Examples:
              idown open 'idown:?url=https%3A%2F%2Fexample.org%2Fdisk.iso'
              idown open https://example.org/disk.iso
            """
    )

    @Flag(help: "Prints the IDs as a JSON array.")
    var json = false

    @Argument(help: ArgumentHelp("Links.", valueName: "uri"))
    var uris: [String] = []

    func run() async throws {
        let urls = try resolvedURLs()
        try await Service.use { client in
            guard !urls.isEmpty else {
                _ = try await client.version()
                return
            }
            let ids = try await client.addURLs(urls)
            if json { try Output.json(ids) } else { try Output.data(lines: ids) }
        }
    }

    private func resolvedURLs() throws -> [String] {
        do {
            return try uris.map { try OpenedURI($0).url }
        } catch let refusal as OpenedURI.Refusal {
            Output.complain(refusal.description)
            throw ExitStatus.refusedURL.exit
        }
    }
}
