// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Processes
import iDownBus
import iDownView

/// `idown service`: the download service itself.
struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Starts, stops and inspects the download service.",
        discussion: """
            The service starts by itself when it is needed. When it stops, every download is saved; \
            unfinished downloads continue with the next start.

            Examples:
              idown service status
              idown service restart
              idown service logs --follow
            """,
        subcommands: [Start.self, Stop.self, Restart.self, Status.self, Logs.self]
    )

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start",
            abstract: "Starts the service, which resumes unfinished downloads."
        )

        func run() async throws {
            try await Service.use { client in try await ServiceCommand.start(client) }
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "Saves all downloads and stops the service."
        )

        func run() async throws {
            try await Service.use { client in
                guard try await ServiceCommand.stop(client) else {
                    return Output.talk("The service was not running.")
                }
                Output.talk("The service has stopped.")
            }
        }
    }

    struct Restart: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restart",
            abstract: "Stops the service if it runs, and starts it."
        )

        func run() async throws {
            try await Service.use { client in
                _ = try await ServiceCommand.stop(client)
                try await ServiceCommand.start(client)
            }
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Tells whether the service runs, without starting it.",
            discussion: """
                Prints running or stopped, and ends with 0 or 69; with 7 if the service runs and \
                does not answer.
                """
        )

        @Flag(help: "Print a JSON object: Running, and Version and Process while it runs.")
        var json = false

        func run() async throws {
            var isTold = false
            do {
                try await Service.use(startsService: false, isOptional: true) { client in
                    let process = try await client.processID()
                    isTold = true
                    try await tell(process, client)
                }
            } catch {
                // A service without a bus cannot be reached.
                if !isTold { try print(Report(isRunning: false, version: nil, process: nil)) }
                throw error
            }
        }

        private func tell(_ process: UInt32?, _ client: ManagerClient) async throws {
            guard let process else {
                try print(Report(isRunning: false, version: nil, process: nil))
                throw ExitStatus.unreachable.exit
            }
            var version: String?
            var counts = ""
            var failure: ManagerError?
            do throws(ManagerError) {
                version = try await client.version()
                let waiting = try await client.waitingCount()
                let active = try await client.activeCount()
                counts = "\(active) downloading, \(waiting) waiting"
            } catch {
                failure = error
            }
            try print(Report(isRunning: true, version: version, process: process))
            if let failure {
                Output.complain(failure.description)
                throw ExitStatus.serviceFailed.exit
            }
            guard !json, let version else { return }
            Output.talk("idownd \(CellText(version)), process \(process)")
            Output.talk(counts)
        }

        private func print(_ report: Report) throws {
            guard !json else { return try Output.json(report) }
            try Output.data(report.isRunning ? "running" : "stopped")
        }
    }

    struct Logs: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "logs",
            abstract: "Shows the service's log.",
            discussion: """
                The log is in systemd's journal. Without systemd, idownd writes its log to the \
                standard error of the program that started it.
                """
        )

        @Flag(name: .shortAndLong, help: "Go on showing new lines.")
        var follow = false

        @Option(
            name: [.customShort("n"), .long],
            help: ArgumentHelp("Show this many of the last lines.", valueName: "number")
        )
        var lines: UInt32 = 50

        func run() throws {
            guard let journal = ProgramPath.find("journalctl") else {
                Output.complain(
                    "there is no journalctl here: the log is on the standard error of the program"
                        + " that started idownd"
                )
                throw ExitStatus.failed.exit
            }
            let words = [journal, "--user", "--unit", "idownd.service", "--lines"]
            if !follow, ServiceProgram.output(of: words + ["1", "--quiet"]) == "" {
                return Output.talk(
                    "The journal has no line of idownd. Where systemd does not start it, the log is"
                        + " on the standard error of the program that does."
                )
            }
            // Whoever ends this command ends what shows the log.
            OtherProgram.replaceThis(by: words + ["\(lines)"] + (follow ? ["--follow"] : []))
            throw ExitStatus.failed.exit
        }
    }

    /// The status for programs.
    private struct Report: Encodable {
        let isRunning: Bool
        let version: String?
        let process: UInt32?

        enum CodingKeys: String, CodingKey {
            case isRunning = "Running"
            case version = "Version"
            case process = "Process"
        }
    }

    private static func start(_ client: ManagerClient) async throws {
        Output.talk("The service runs: idownd \(CellText(try await client.version()))")
    }

    /// Ends the service and waits until it has left the bus.
    ///
    /// - Returns: Whether it was running.
    /// - Throws: `ManagerError`; `ExitCode` after telling that the service does not end.
    private static func stop(_ client: ManagerClient) async throws -> Bool {
        let presence = try await client.presence()
        guard let process = try await client.processID() else { return false }
        do throws(ManagerError) {
            try await client.quit()
        } catch {
            // Another program may have ended it first.
            guard error.code == .stopping || error.code == .noReply else { throw error }
        }
        guard try await client.isRunning() else { return true }
        guard await presence.brings(within: Service.patience, where: { isThere in !isThere }) else {
            Output.complain(
                "the service does not end; it loses nothing by: kill -KILL \(process)"
            )
            throw ExitStatus.unreachable.exit
        }
        return true
    }
}
