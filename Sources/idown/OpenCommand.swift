// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBus

/// `idown open`: opens finished files, and adds what the desktop hands over for a clicked link.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Opens finished downloads, and adds downloads from links and metalink files.",
        discussion: """
            An ID opens the finished file with the program that the desktop uses for it.

            Anything else is a link, which becomes a download in the download folder: a URL \
            (http, https, ftp, ftps, sftp), a metalink file of this computer (.meta4, .metalink), \
            or idown:?url=URL, where URL is percent-encoded. All links of a command are added, or \
            none of them. Nothing is printed; idown add prints IDs.

            Any web page can send an idown: link. Such a link cannot choose a folder, a name or an \
            option, and no stored login or cookie is used for it.

            Without arguments the service is started, and the desktop shows how the downloads \
            stand.

            Examples:
              idown open 7
              idown open https://example.org/disk.iso
              idown open 'idown:?url=https%3A%2F%2Fexample.org%2Fdisk.iso'
              idown open ~/Documents/distribution.meta4
            """
    )

    @Argument(
        help: ArgumentHelp(
            "IDs of completed downloads, or links and metalink files.",
            valueName: "id-or-link"
        ),
        completion: TaskCompletion.completedIDs
    )
    var words: [String] = []

    /// The activation token that the desktop gave this program, so that a window may take the
    /// focus.
    private static var activationToken: String? {
        let token = getenv("XDG_ACTIVATION_TOKEN") ?? getenv("DESKTOP_STARTUP_ID")
        return token.map { String(cString: $0) }
    }

    func run() async throws {
        let ids = words.compactMap(OpenArgument.id)
        let links = try words.filter { OpenArgument.id(in: $0) == nil }.map(OpenArgument.uri)
        try await Service.use { client in
            if words.isEmpty { try await client.activate(token: Self.activationToken) }
            if !links.isEmpty { try await client.open(links) }
            try await FinishedFiles.present(ids, client) { paths throws(FinishedFiles.Refusal) in
                for path in paths { try await FinishedFiles.open(path) }
            }
        }
    }
}
