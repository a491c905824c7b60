// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown set-url`: gives a task a fresh link.
struct SetURLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-url",
        abstract: "Gives a download a fresh link in place of one that expired.",
        discussion: """
            What is on disk is kept where the file behind the new link turns out to be the same.

            Examples:
              idown set-url 7 'https://example.org/file.iso?token=new'
            """
    )

    @OptionGroup var task: TaskArgument

    @Argument(help: ArgumentHelp("The fresh link.", valueName: "url"))
    var url: String

    func run() async throws {
        try URLArgument.check([url])
        try await Service.use { client in try await client.setURL(task.id, to: url) }
    }
}
