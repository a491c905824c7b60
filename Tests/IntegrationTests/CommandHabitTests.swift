// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// What users expect of the verbs without having read the manual.
@Suite(.timeLimit(.minutes(5)))
struct CommandHabitTests {
    private let content = TestContent(seed: 132, count: 200_000)

    @Test func `list tells why a download failed, and -n is a number of rows`() async throws {
        let server = try FaultServer(
            script: .init { _ in [.head("404 Not Found", [("Content-Length", "0")])] }
        )
        defer { server.stop() }
        try await withService { service in
            let failed = try await service.add(server.url("/gone"))
            try await service.waitForState("failed", of: failed)
            _ = try await service.add("http://127.0.0.1:9/b") { $0.paused = true }
            let list = try await idown("ls", in: service)
            #expect(list.status == .exited(0), "\(list)")
            #expect(list.standardOutput.contains("WHY"), "\(list)")
            #expect(list.standardOutput.contains("404"), "\(list)")
            #expect(
                try await idown("list", "-n", "1", "--json", in: service).standardOutput
                    .contains("\"Id\" : \"1\"")
            )
            let rate = try await idown("list", "--limit", "1", in: service)
            #expect(rate.status == .exited(64), "\(rate)")
        }
    }

    @Test func `explain says that nothing holds up a running download`() async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            let explained = try await idown("explain", id, in: service)
            #expect(explained.status == .exited(0), "\(explained)")
            #expect(explained.standardOutput == "")
            #expect(explained.standardError.contains("Nothing holds up download \(id)"))
            host.letGo()
        }
    }

    @Test func `wait without a selection waits for unfinished downloads and ignores old failures`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        let gone = try FaultServer(
            script: .init { _ in [.head("404 Not Found", [("Content-Length", "0")])] }
        )
        defer { gone.stop() }
        try await withService { service in
            let failed = try await service.add(gone.url("/old"))
            try await service.waitForState("failed", of: failed)
            _ = try await service.add("http://127.0.0.1:9/paused") { $0.paused = true }
            let empty = try await idown("wait", in: service)
            #expect(empty.status == .exited(0), "\(empty)")
            #expect(empty.standardError.contains("1 paused"), "\(empty)")
            let held = try await service.addHeld(on: host)
            let waiting = try await ChildProcess.start(
                "sh",
                ["-c", #"exec "$0" wait 2>&1"#, try BuiltProgram("idown").path],
                environment: service.environment
            )
            // Downloads that are added later do not count.
            let talk = try await within("wait to begin") { await waiting.nextLine() }
            #expect(talk?.contains("1 paused") == true)
            _ = try await service.add("http://127.0.0.1:9/later") { $0.paused = true }
            host.letGo()
            let status = try await within("wait to end") { await waiting.waitForExit() }
            #expect(status == .exited(0), "\(waiting.standardError)")
            #expect(try await service.state(of: held) == "completed")
            let named = try await ChildProcess.start(
                try BuiltProgram("idown").path,
                ["wait", "paused"],
                environment: service.environment
            )
            try await soon("a word about the paused ones") {
                named.standardError.contains("Waiting for 2 paused")
            }
            await named.stop()
        }
    }

    @Test func `a dry run lists the downloads that would change, and changes nothing`() async throws
    {
        try await withService { service in
            for number in 1...3 {
                _ = try await service.add("http://127.0.0.1:9/\(number).iso") { $0.paused = true }
            }
            try await service.client.cancel("3")
            let before = try await service.client.listTasks()
            let rows = ["1\tpaused\t1.iso", "2\tpaused\t2.iso"].joined(separator: "\n")
            for verb in [
                ["cancel"], ["edit", "--priority", "3"], ["remove"], ["retry"], ["resume"],
            ] {
                let run = try await idown(verb + ["--dry-run", "paused"], in: service)
                #expect(run.status == .exited(0), "\(verb): \(run)")
                #expect(run.standardOutput == rows, "\(verb): \(run)")
                #expect(run.standardError.contains("2 of 2 downloads would be "), "\(run)")
            }
            let all = try await idown("cancel", "--dry-run", "all", in: service)
            #expect(all.standardError == "2 of 3 downloads would be cancelled.\n", "\(all)")
            #expect(try await idown("pause", "--dry-run", "all", in: service).standardOutput == "")
            #expect(try await service.client.listTasks() == before)
        }
    }

    @Test func `of several downloads an error names the one, and the others are changed`()
        async throws
    {
        try await withService { service in
            for number in 1...3 {
                _ = try await service.add("http://127.0.0.1:9/\(number)") { $0.paused = true }
            }
            for id in ["1", "2"] { try await service.client.cancel(id) }
            let paused = try await idown("pause", "1", "2", in: service)
            #expect(paused.status == .exited(4), "\(paused)")
            for id in ["1", "2"] {
                #expect(paused.standardError.contains("download \(id): "), "\(paused)")
            }
            let host = try ChangingHost(ServedFile(content))
            defer { host.stop() }
            let done = try await service.add(host.url())
            try await service.waitForState("completed", of: done)
            let edited = try await idown("edit", done, "3", "--limit", "1M", in: service)
            #expect(edited.status == .exited(4), "\(edited)")
            #expect(edited.standardError.contains("download \(done): "), "\(edited)")
            #expect(try await service.client.getTask("3").speedLimit == 1 << 20)
            // Also beside a range, which skips others.
            for words in [["pause", done, "1-3"], ["cancel", "3-3", done]] {
                let mixed = try await idown(words, in: service)
                #expect(mixed.status == .exited(4), "\(mixed)")
                #expect(mixed.standardError.contains("download \(done) is completed"), "\(mixed)")
            }
            // A dry run ends as the command itself would.
            for command in [["edit", done, "--limit", "2M"], ["pause", done], ["cancel", done]] {
                let run = try await idown(command + ["--dry-run"], in: service)
                #expect(run.status == .exited(4), "\(run)")
                #expect(run.standardError.contains("0 of 1 "), "\(run)")
                #expect(run.standardError.contains("download \(done) is completed"), "\(run)")
            }
            let harmless = try await idown(
                "edit",
                done,
                "--priority",
                "2",
                "--dry-run",
                in: service
            )
            #expect(harmless.status == .exited(0), "\(harmless)")
        }
    }

    @Test func `explain names the download unless a single ID is given`() async throws {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/1") { $0.paused = true }
            let one = try await idown("explain", "1", in: service).standardOutput
            let state = try await idown("explain", "paused", in: service).standardOutput
            #expect(!one.isEmpty && state == "1\t\(one)")
        }
    }

    @Test
    func `at a terminal cancel and remove ask before they delete several unfinished downloads`()
        async throws
    {
        try await withService { service in
            for number in 1...6 {
                _ = try await service.add("http://127.0.0.1:9/\(number)") { $0.paused = true }
            }
            let program = try BuiltProgram("idown").path
            let terminal = try await TmuxTerminal.start(
                """
                '\(program)' cancel 1; echo "one $?"
                '\(program)' cancel all; echo "no $?"; '\(program)' cancel all; echo "end $?"
                '\(program)' rm 2 3; echo "yes $?"
                '\(program)' cancel -y all; echo "all $?"; cat
                """,
                in: service.home.path,
                size: (100, 24),
                environment: service.environment
            )
            do {
                let asked = try await terminal.wait(for: "[y/N]")
                #expect(asked.contains("one 0"), "\(asked)")
                #expect(asked.contains("Cancel 5 unfinished downloads"), "\(asked)")
                try await terminal.press("Enter")
                try await terminal.wait(for: "no 1")
                #expect(try await service.client.listTasks().count { $0.state == .paused } == 5)
                try await terminal.press("C-d")
                try await terminal.wait(for: "end 1")
                try await terminal.wait(for: "Remove 2 unfinished downloads")
                try await terminal.press("y", "Enter")
                let ended = try await terminal.wait(for: "all 0")
                #expect(ended.contains("yes 0"), "\(ended)")
                let left = try await service.client.listTasks()
                #expect(left.map(\.id) == ["1", "4", "5", "6"])
                #expect(left.allSatisfy { $0.state == .cancelled })
            } catch {
                await terminal.stop()
                throw error
            }
            await terminal.stop()
        }
    }

    @Test func `a mistyped verb gets a suggestion, and a former verb names its successor`()
        async throws
    {
        try await withService(started: false) { service in
            for (typed, told) in [
                ("lst", "did you mean 'list'?"), ("pasue", "did you mean 'pause'?"),
                ("set-url", "idown edit ID --url URL"),
                ("https://a.b/c", "idown get https://a.b/c"),
                ("delete 7", "idown remove ID"), ("stop", "idown pause ID"),
                ("get -O x http://h/", "there is no option -O: use --output NAME"),
                ("get --user me http://h/", "use idown login URL"), ("list -O", "Unknown option"),
                ("explode", "idown --help"), ("service statsu", "did you mean 'status'?"),
            ] {
                let words = typed.split(separator: " ").map(String.init)
                let refused = try await idown(words, in: service)
                #expect(refused.status == .exited(64), "\(refused)")
                #expect(refused.standardError.contains(told), "\(refused)")
            }
        }
    }

    @Test func `a short option may have its value behind it`() async throws {
        try await withService { service in
            let options = [
                "--paused", "-oname", "-d.", "-HX-Key: a=1", "-Ame/1", "-ba=1; b=2",
                "-ehttps://page.example/?id=1",
            ]
            let added = try await idown(["add"] + options + ["http://127.0.0.1:9/x"], in: service)
            #expect(added.standardOutput == "1", "\(added)")
            let task = try await service.client.getTask("1")
            #expect(task.fileName == "name" && task.directory == service.home.path, "\(task)")
            #expect(task.userAgent == "me/1" && task.headerNames == ["X-Key", "Cookie"], "\(task)")
            #expect(task.referrer == "https://page.example/?id=1")
            let edited = try await idown("edit", "1", "-o=a=b", "-Ame/2=3", in: service)
            #expect(edited.status == .exited(0), "\(edited)")
            let changed = try await service.client.getTask("1")
            #expect(changed.fileName == "a=b" && changed.userAgent == "me/2=3", "\(changed)")
            // Not after the end of the options.
            let url = try await idown("add", "--paused", "--", "-oname", in: service)
            #expect(url.status == .exited(5) && url.standardError.contains("-oname"), "\(url)")
            #expect(try await idown("list", "-n1", in: service).status == .exited(0))
        }
    }

    @Test func `a long option with one dash, an empty header and an unknown option are refused`()
        async throws
    {
        try await withService { service in
            let url = "http://127.0.0.1:9/x"
            let commands: [([String], told: String)] = [
                (["add", "-output=x", url], "did you mean --output?"),
                (["get", "-directory", "x", url], "did you mean --directory?"),
                (["edit", "1", "-dry-run", "--limit", "5k"], "did you mean --dry-run?"),
                (["add", "-H", "", url], "--header is empty"),
                (["edit", "1", "--speed-limit", "5k"], "Unknown option '--speed-limit'"),
                (["pause", "seven", "--force"], "Unknown option '--force'"),
            ]
            for (words, told) in commands {
                let refused = try await idown(words, in: service)
                #expect(refused.status == .exited(64), "\(words): \(refused)")
                #expect(refused.standardError.contains(told), "\(words): \(refused)")
            }
            #expect(try await service.client.listTasks().isEmpty)
        }
    }

    @Test func `the help shows the verbs in groups and then the exit codes`() async throws {
        let help = try await ChildProcess.run(try BuiltProgram("idown").path, ["--help"])
        let text = help.standardOutput
        for group in ["DOWNLOAD", "LOOK", "CHANGE", "SET UP"] {
            #expect(text.contains("\n\(group) SUBCOMMANDS:\n"), "\(group)")
        }
        for line in ["  list, ls  ", "  remove, rm  "] { #expect(text.contains(line)) }
        let codes = try #require(text.firstRange(of: "Exit codes:"))
        let verbs = try #require(text.firstRange(of: "SET UP SUBCOMMANDS:"))
        #expect(verbs.upperBound < codes.lowerBound)
    }

    @Test func `the version is shown with the service's, without starting the service`()
        async throws
    {
        try await withService(started: false) { service in
            try service.installForActivation()
            let stopped = try await idown("--version", in: service)
            let own = "idown \(Contract.version)\nidownd \(Contract.version)"
            #expect(stopped.standardOutput == own + " (not running)", "\(stopped)")
            #expect(try await !service.client.isRunning())
            try await service.start()
            let running = try await idown("--version", in: service)
            #expect(running.standardOutput == own + " (running)", "\(running)")
        }
    }
}
