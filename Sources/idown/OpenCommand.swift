// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown open`: what the desktop calls for a clicked link.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Adds downloads from links and metalink files, as the desktop does.",
        discussion: """
            Takes http, https, ftp, ftps and sftp URLs, metalink files of this machine (.meta4, \
            .metalink), and links of the form idown:?url=URL, where URL is wholly \
            percent-encoded. Any web page can fire such a link, so nothing in it chooses a folder, \
            a name or an option, and no stored login or cookie is used for it. All that is given \
            is added or nothing; without anything the service is only started. Nothing is \
            printed: idown add prints IDs.

            Examples:
              idown open 'idown:?url=https%3A%2F%2Fexample.org%2Fdisk.iso'
              idown open https://example.org/disk.iso
              idown open ~/Documents/distribution.meta4
            """
    )

    @Argument(help: ArgumentHelp("Links, URLs and metalink files.", valueName: "uri"))
    var uris: [String] = []

    func run() async throws {
        let uris = try uris.map(OpenArgument.uri)
        try await Service.use { client in
            if uris.isEmpty { try await client.activate() } else { try await client.open(uris) }
        }
    }
}
