// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown reveal`: shows finished files in the file manager.
struct RevealCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reveal",
        abstract: "Shows finished downloads in their folders.",
        discussion: """
            The desktop's file manager opens the folder and selects the file. If no file manager \
            answers, xdg-open opens the folder. Several files are shown together.

            Examples:
              idown reveal 7
              idown reveal 7 9
            """
    )

    @Argument(
        help: ArgumentHelp(
            "IDs of completed downloads, as idown list shows them.",
            valueName: "id"
        ),
        completion: TaskCompletion.completedIDs
    )
    var ids: [String]

    func validate() throws {
        for id in ids where OpenArgument.id(in: id) == nil {
            throw ValidationError(
                "\(ShownURL(id)) is not an ID; IDs are numbers such as 7, see idown list"
            )
        }
    }

    func run() async throws {
        try await Service.use { client in
            try await FinishedFiles.present(ids, client) { paths throws(FinishedFiles.Refusal) in
                try await FinishedFiles.reveal(paths)
            }
        }
    }
}
