// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// Every command when the bus, the service, the terminal or the disk fails.
@Suite(.timeLimit(.minutes(5)))
struct CommandFailureTests {
    /// A call of each command that uses the service, with arguments that make it print something.
    private static let commands: [[String]] = [
        ["get", "http://127.0.0.1:9/x"],
        ["add", "http://127.0.0.1:9/x"],
        ["open", "http://127.0.0.1:9/x"],
        ["open"],
        ["open", "1"],
        ["reveal", "1"],
        ["list"],
        ["show", "1"],
        ["explain", "1"],
        ["wait", "1"],
        ["follow", "--list"],
        ["pause", "1"],
        ["resume", "1"],
        ["retry", "1"],
        ["cancel", "1"],
        ["remove", "1"],
        ["edit", "1", "--priority", "1"],
        ["start-all"],
        ["pause-all"],
        ["clear"],
        ["export", "all"],
        ["config", "speed-limit", "1M"],
        ["service", "start"],
    ]

    /// Calls that print data if the list has one download.
    private static let printing: [[String]] = [
        ["add", "http://127.0.0.1:9/x"],
        ["list"],
        ["list", "--json"],
        ["list", "--format", "{Id}"],
        ["show", "1"],
        ["explain", "1"],
        ["follow", "--list"],
        ["start-all"],
        ["pause-all"],
        ["clear"],
        ["export", "all"],
        ["export", "--json", "all"],
        ["config"],
        ["config", "--json"],
        ["doctor"],
        ["doctor", "--report"],
        ["doctor", "--json"],
        ["handler", "status"],
        ["autostart", "status"],
        ["browser", "status", "--json"],
        ["help"],
        ["--help"],
        ["list", "--help"],
        ["help", "watch"],
        ["--version"],
        ["--generate-completion-script", "bash"],
    ]

    @Test func `every command is in one of the tables`() async throws {
        let help = try await ChildProcess.run(try BuiltProgram("idown").path, ["--help"])
        let lines = help.standardOutput.split(separator: "\n")
            .drop { !$0.hasSuffix(" SUBCOMMANDS:") }.prefix { $0 != "Exit codes:" }
        let names = lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .compactMap { $0.split { " ,".contains($0) }.first.map(String.init) }
            .filter { $0 != "See" }
        #expect(names.count > 20)
        // These need a terminal or the keyring, and have their own tests.
        let known = Set((Self.commands + Self.printing).compactMap(\.first))
            .union(["watch", "login", "logout", "verify"])
        #expect(Set(names).subtracting(known) == [])
    }

    @Test(arguments: [["login", "-u", "me", "http://127.0.0.1:9/"], ["logout", "http://e.org/"]])
    func `without a bus the command says that the keyring is missing`(command: [String])
        async throws
    {
        try await withTemporaryFolder { folder in
            let ended = try await ChildProcess.run(
                try BuiltProgram("idown").path,
                command,
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder)/none"],
                input: "geheim\n"
            )
            #expect(ended.status == .exited(69), "\(ended)")
            #expect(ended.standardError.contains("keyring"), "\(ended)")
            #expect(ended.standardOutput == "")
        }
    }

    @Test(arguments: commands) func `without a bus every command says so and ends with 69`(
        command: [String]
    ) async throws {
        try await withTemporaryFolder { folder in
            let ended = try await ChildProcess.run(
                try BuiltProgram("idown").path,
                command,
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder)/none"]
            )
            #expect(ended.status == .exited(69), "\(ended)")
            #expect(ended.standardError.contains("no session bus"), "\(ended)")
            #expect(ended.standardOutput == "")
        }
    }

    @Test func `without an installed service the command says so and ends with 69`() async throws {
        try await withService(started: false) { service in
            for command in Self.commands {
                let ended = try await idown(command, in: service)
                #expect(ended.status == .exited(69), "\(command): \(ended)")
                #expect(ended.standardError.contains("idownd"), "\(command): \(ended)")
                #expect(ended.standardOutput == "", "\(command)")
            }
        }
    }

    @Test(arguments: ["x", "0", "-1", "1.5", "4294967296"])
    func `an IDOWN_TIMEOUT that is no number of seconds is refused`(value: String) async throws {
        try await withService { service in
            for command in [["list"], ["config", "log-level"], ["doctor"], ["service", "stop"]] {
                let refused = try await idown(
                    command,
                    in: service,
                    environment: ["IDOWN_TIMEOUT": value]
                )
                #expect(refused.status == .exited(64), "\(command): \(refused)")
                #expect(
                    refused.standardError
                        == "idown: IDOWN_TIMEOUT is a number of seconds from 1 to \(UInt32.max),"
                        + " not \(value)\n"
                )
            }
            let unset = try await idown(["list"], in: service, environment: ["IDOWN_TIMEOUT": ""])
            #expect(unset.status == .exited(0), "\(unset)")
        }
    }

    @Test func `a service that does not answer is given up after IDOWN_TIMEOUT`() async throws {
        try await withService { service in
            let process = try await service.processID()
            kill(process, SIGSTOP)
            defer { kill(process, SIGCONT) }
            let program = try BuiltProgram("idown").path
            let environment = service.environment.merging(["IDOWN_TIMEOUT": "1"]) { $1 }
            let folder = service.home.path
            // The commands run in parallel, because each waits for a second.
            let ends = try await within("all commands to give up") {
                try await withThrowingTaskGroup { group in
                    for command in Self.commands {
                        group.addTask {
                            (
                                command,
                                try await ChildProcess.run(
                                    program,
                                    command,
                                    environment: environment,
                                    workingDirectory: folder
                                )
                            )
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            for (command, ended) in ends {
                #expect(ended.status == .exited(69), "\(command): \(ended)")
                #expect(ended.standardError.contains("did not answer"), "\(command): \(ended)")
            }
        }
    }

    @Test func `arguments and folders that are not UTF-8 are refused`() async throws {
        try await withService { service in
            let program = try BuiltProgram("idown").path
            let odd = "$(printf 'x\\377')"
            let url = "http://127.0.0.1:9/"
            let scripts = [
                "'\(program)' add -d /tmp/\"\(odd)\" \(url)", "'\(program)' add \(url)\"\(odd)\"",
                "mkdir \"\(odd)\" && cd \"\(odd)\" && '\(program)' add -d . \(url)",
                "'\(program)' add -d '' \(url)", "'\(program)' config download-directory ''",
            ]
            for script in scripts {
                let ended = try await ChildProcess.run(
                    "sh",
                    ["-c", script],
                    environment: service.environment,
                    workingDirectory: service.home.path
                )
                #expect(ended.status == .exited(64), "\(script): \(ended)")
            }
            #expect(try await service.client.listTasks().isEmpty)
        }
    }

    @Test func `for an unknown ID every command says so and ends with 3`() async throws {
        try await withService { service in
            let commands: [[String]] = [
                ["show", "99"], ["explain", "99"], ["wait", "99"], ["follow", "99"],
                ["pause", "99"], ["resume", "99"], ["retry", "99"], ["cancel", "99"],
                ["remove", "99"], ["remove", "--trash", "99"], ["edit", "99", "--priority", "1"],
                ["edit", "99", "--limit", "1M"], ["edit", "99", "--connections", "2"],
                ["edit", "99", "--url", "http://127.0.0.1:9/"],
                ["list", "99"], ["export", "99"], ["pause", "90-99"], ["list", "3-4", "failed"],
                ["show", "99", "all"],
            ]
            for command in commands {
                let ended = try await idown(command, in: service)
                // The names of D-Bus methods mean nothing to the user.
                #expect(!ended.standardError.contains("ListTasks"), "\(command): \(ended)")
                #expect(ended.status == .exited(3), "\(command): \(ended)")
                #expect(
                    ended.standardError.contains("there is no download"),
                    "\(command): \(ended)"
                )
                #expect(ended.standardOutput == "", "\(command)")
            }
        }
    }

    @Test func `arguments that are not valid end with 64`() async throws {
        try await withService(started: false) { service in
            let commands: [[String]] = [
                ["pause", "seven"], ["pause", "7-3"], ["pause", "0"], ["pause", "-7"], ["pause"],
                ["list", "broken"], ["export", "1-"], ["follow", "failed"], ["show", ""],
                ["edit", "1"], ["edit", "1", "--limit", "fast"],
                ["edit", "1", "--connections", "17"], ["edit", "1", "--connections", "many"],
                ["edit", "1-2", "--url", "http://a/"],
                ["config", "colour"], ["config", "speed-limit", "fast"],
                ["config", "max-concurrent-downloads", "65"], ["list", "--format", "{Nothing}"],
                ["list", "--json", "--format", "{Id}"], ["list", "--sort", "taste"], ["add"],
                ["list", "--color", "sometimes"],
            ]
            for command in commands {
                let ended = try await idown(command, in: service)
                #expect(ended.status == .exited(64), "\(command): \(ended)")
                #expect(ended.standardError != "", "\(command)")
                #expect(ended.standardOutput == "", "\(command)")
            }
        }
    }

    /// Runs a line of bash for each command, which is `"$@"` in it, and checks the result.
    private func run(
        _ commands: [[String]],
        by line: String,
        expect: ([String], ChildProcess.Completed) -> Void
    ) async throws {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/1") { $0.paused = true }
            let program = try BuiltProgram("idown").path
            for command in commands {
                let ended = try await within("\(command)") {
                    try await ChildProcess.run(
                        "bash",
                        ["-c", line, "bash", program] + command,
                        environment: service.environment
                    )
                }
                expect(command, ended)
            }
        }
    }

    @Test func `if the output's disk is full, every command says so and ends with 74`() async throws
    {
        try await run(Self.printing, by: #""$@" >/dev/full"#) { command, ended in
            #expect(ended.status == .exited(74), "\(command): \(ended)")
            #expect(ended.standardError.contains("No space left"), "\(command): \(ended)")
        }
    }

    @Test func `with a closed output every command says so, writes nowhere else and ends with 74`()
        async throws
    {
        let commands = [["list", "--json"], ["config"], ["follow", "--list"]]
        try await run(commands, by: #""$@" <&- >&-"#) { command, ended in
            #expect(ended.status == .exited(74), "\(command): \(ended)")
            #expect(ended.standardError.contains("Bad file descriptor"), "\(command)")
        }
    }

    @Test func `a closed pipe ends every command without a message, with 141`() async throws {
        // The pipe's only reader ends before the command starts.
        let line = #"exec 3> >(true); wait $!; "$@" >&3 3>&-; echo $? >&2"#
        try await run(Self.printing, by: line) { command, ended in
            #expect(ended.standardError == "141\n", "\(command): \(ended)")
        }
    }
}
