// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown get`: adds a download, shows how it goes, and waits for its end.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Downloads a file and waits for it.",
        discussion: """
            Shows the progress on standard error and prints the path of the finished file. Ctrl-C \
            ends only this command: the download goes on in the service.

            Examples:
              idown get https://example.org/disk.iso
              idown get -d . -o disk.iso https://example.org/download?id=7
              idown get --limit 2M https://example.org/disk.iso
              file=$(idown get https://example.org/disk.iso) && sha256sum "$file"
            """
    )

    @OptionGroup var adding: AddingArguments

    @Flag(help: "Prints the finished download as a JSON object, as idown show does.")
    var json = false

    @Argument(help: "An http or https URL.")
    var url: String

    func run() async throws {
        try URLArgument.check([url])
        let options = try adding.options()
        try await Service.use { client in
            let watch = try await TaskWatch.start(over: client) { () throws(ManagerError) in
                try await client.addURL(url, options: options)
            }
            switch try await watch.run(display: ProgressDisplay(.talk)) {
            case .ended(let task): try finish(task)
            case .removed: try fail("the download was removed", .abandoned)
            case .interrupted:
                let id = watch.id
                Output.talk("The download goes on as \(id). Follow it: idown show \(id)")
                Output.talk("Cancel it: idown cancel \(id)")
                throw ExitStatus.interrupted.exit
            }
        }
    }

    private func finish(_ task: TaskProperties) throws {
        if json { try Output.json(TaskJSON(task)) }
        switch task.state {
        case .completed:
            if !json { try Output.data(task.path) }
        case .cancelled:
            try fail("the download was cancelled; idown resume \(task.id) starts it", .abandoned)
        default:
            try fail(
                "\(task.errorCode): \(task.errorMessage); idown retry \(task.id) tries again",
                ExitStatus(errorCode: task.errorCode)
            )
        }
    }

    private func fail(_ text: String, _ status: ExitStatus) throws -> Never {
        Output.complain(text)
        throw status.exit
    }
}
