// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Synchronization
import Testing
import iDownBus
import iDownTesting

/// `idown open ID` and `idown reveal ID` with a desktop that only takes notes.
@Suite(.timeLimit(.minutes(3))) struct FinishedFileTests {
    /// Where the stand-in for xdg-open writes down what it was asked to open.
    private struct Desktop {
        let service: ServiceUnderTest
        var folder: String { service.home.path + "/desktop" }
        var notes: String { service.home.path + "/notes" }

        /// The variables of a command that sees this desktop.
        var variables: [String: String] {
            [
                "DISPLAY": ":77",
                "WAYLAND_DISPLAY": "",
                "PATH":
                    "\(folder):\(getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")",
            ]
        }

        /// Puts an xdg-open in place, which ends with a command of the shell.
        func install(ending: String = "exit 0") throws {
            mkdir(folder, 0o700)
            // The sixth field of proc_pid_stat(5) is the session.
            try TestFile.write(
                """
                #!/bin/sh
                read -r _ _ _ _ _ session _ </proc/$$/stat
                [ "$session" = $$ ] && where="own session" || where="session of the caller"
                [ -t 0 ] && where="$where, terminal"
                printf '%s\\n' "$1" "$where" >>'\(notes)'
                echo noise; echo noise >&2
                \(ending)

                """,
                to: folder + "/xdg-open"
            )
            chmod(folder + "/xdg-open", 0o700)
        }

        func idown(
            _ words: String...,
            variables changes: [String: String] = [:]
        ) async throws -> ChildProcess.Completed {
            let variables = variables.merging(changes) { $1 }
            return try await IntegrationTests.idown(words, in: service, environment: variables)
        }

        /// Makes a folder with nothing of a desktop in it, but with what starts a test's programs.
        func emptyPath() throws -> String {
            let folder = service.home.path + "/nothing"
            mkdir(folder, 0o700)
            let paths = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
            for path in paths.split(separator: ":") {
                for program in ["setpriv", "env"] where access("\(path)/\(program)", X_OK) == 0 {
                    symlink("\(path)/\(program)", "\(folder)/\(program)")
                }
            }
            return folder
        }

        /// What was opened, line by line.
        var opened: [String] {
            ((try? TestFile.text(of: notes)) ?? "").split(separator: "\n").map(String.init)
        }
    }

    /// Runs `body` with two completed downloads, 1 and 2, and a paused one, 3.
    private func withDesktop(
        _ body: (Desktop) async throws -> Void
    ) async throws {
        let server = try FaultServer.serving(ServedFile(TestContent(seed: 31, count: 1_000)))
        defer { server.stop() }
        try await withService { service in
            let desktop = Desktop(service: service)
            try desktop.install()
            for name in ["one file.txt", "two.txt"] {
                let id = try await service.add(server.url("/a")) { $0.filename = name }
                try await service.waitForState("completed", of: id)
            }
            _ = try await service.add("http://127.0.0.1:9/resting") { $0.paused = true }
            try await body(desktop)
        }
    }

    @Test func `an ID opens its file with a program that is nobody's child, and links are added`()
        async throws
    {
        try await withDesktop { desktop in
            let service = desktop.service
            let one = service.home.download("one file.txt")
            let opened = try await desktop.idown("open", "1")
            #expect(opened.status == .exited(0), "\(opened)")
            #expect(opened.standardOutput == "" && opened.standardError == "", "\(opened)")
            #expect(desktop.opened == [one, "own session"])

            let path = "/org/idown/Manager1/task/2"
            let mixed = try await desktop.idown("open", path, "http://127.0.0.1:9/new", "1")
            #expect(mixed.status == .exited(0), "\(mixed)")
            let two = service.home.download("two.txt")
            #expect(
                desktop.opened
                    == [one, "own session", two, "own session", one, "own session"]
            )
            #expect(try await service.client.listTasks().map(\.id) == ["1", "2", "3", "4"])
        }
    }

    @Test func `what cannot be opened says what to do, and the rest is opened`() async throws {
        try await withDesktop { desktop in
            let one = desktop.service.home.download("one file.txt")
            for verb in ["open", "reveal"] {
                let paused = try await desktop.idown(verb, "3")
                #expect(paused.status == .exited(4), "\(paused)")
                #expect(paused.standardError.contains("idown resume 3"), "\(paused)")
                let missing = try await desktop.idown(verb, "99")
                #expect(missing.status == .exited(3), "\(missing)")
                let bare = try await desktop.idown(verb, "1", variables: ["DISPLAY": ""])
                #expect(bare.status == .exited(1), "\(bare)")
                #expect(bare.standardError.contains(one), "\(bare)")
                let path = ["PATH": try desktop.emptyPath()]
                let naked = try await desktop.idown(verb, "1", variables: path)
                #expect(naked.status == .exited(1), "\(naked)")
                #expect(naked.standardError.contains("xdg-open is not installed"), "\(naked)")
                #expect(naked.standardError.contains(one), "\(naked)")
            }
            #expect(desktop.opened == [])
            try desktop.install(ending: "exit 3")
            let refused = try await desktop.idown("open", "1")
            #expect(refused.status == .exited(1), "\(refused)")
            #expect(refused.standardError.contains("no program"), "\(refused)")
            #expect(refused.standardError.contains(one), "\(refused)")

            try desktop.install()
            unlink(one)
            let gone = try await desktop.idown("open", "3", "1", "2")
            #expect(gone.status == .exited(4), "\(gone)")
            #expect(gone.standardError.contains("is gone: \(one)"), "\(gone)")
            #expect(desktop.opened.contains(desktop.service.home.download("two.txt")))
            for verb in ["open", "reveal"] {
                let gone = try await desktop.idown(verb, "1")
                #expect(gone.status == .exited(12), "\(gone)")
                #expect(gone.standardError.contains("idown retry 1"), "\(gone)")
            }
            let renamed = try await desktop.idown("edit", "1", "-o", "new name")
            #expect(renamed.status == .exited(4), "\(renamed)")
            #expect(renamed.standardError.contains("because it is gone"), "\(renamed)")
            #expect(!renamed.standardError.contains("stays"), "\(renamed)")
            // A shell's Tab key offers the completed ones alone.
            for verb in ["open", "reveal"] {
                let offers = try await desktop.idown(
                    "---completion",
                    verb,
                    "--",
                    "positional@0",
                    "2",
                    "0",
                    "idown",
                    verb,
                    ""
                )
                #expect(offers.standardOutput.contains("2  two"), "\(offers)")
                #expect(!offers.standardOutput.contains("resting"), "\(offers)")
            }
            let word = try await desktop.idown("reveal", "failed")
            #expect(word.status == .exited(64), "\(word)")
        }
    }

    @Test func `a program that goes on is not waited for`() async throws {
        try await withDesktop { desktop in
            let process = desktop.service.home.path + "/process"
            try desktop.install(ending: "echo $$ >'\(process)'; exec sleep 1000")
            let opened = try await desktop.idown("open", "1")
            #expect(opened.status == .exited(0), "\(opened)")
            let id = try #require(Int32(try TestFile.text(of: process).filter(\.isNumber)))
            #expect(kill(id, 0) == 0)
            kill(id, SIGKILL)
        }
    }

    @Test func `a file manager shows the files together; without one the folder is opened`()
        async throws
    {
        try await withDesktop { desktop in
            let service = desktop.service
            let bare = try await desktop.idown("reveal", "1", "2")
            #expect(bare.status == .exited(0), "\(bare)")
            #expect(desktop.opened == [service.home.downloads, "own session"])

            let shown = Mutex<[[String]]>([])
            try await service.connection.export(
                [
                    Interface(
                        "org.freedesktop.FileManager1",
                        [
                            .method("ShowItems", in: ["uris", "token"]) {
                                (_: Call, uris: [String], _: String) -> Void in
                                shown.withLock { $0.append(uris) }
                            }
                        ]
                    )
                ],
                at: "/org/freedesktop/FileManager1"
            )
            _ = try await service.connection.requestName("org.freedesktop.FileManager1")
            let revealed = try await desktop.idown("reveal", "1", "2")
            #expect(revealed.status == .exited(0), "\(revealed)")
            let folder = "file://\(service.home.downloads)"
            #expect(shown.withLock { $0 } == [["\(folder)/one%20file.txt", "\(folder)/two.txt"]])
            #expect(desktop.opened.count == 2)
        }
    }

    @Test func `the live list opens and shows finished files by keys`() async throws {
        try await withDesktop { desktop in
            let service = desktop.service
            var environment = service.environment.merging(desktop.variables) { $1 }
            environment["SHELL"] = "/bin/sh"
            let terminal = try await TmuxTerminal.start(
                "'\(try BuiltProgram("idown").path)' watch; echo \"ended with $?\"; cat",
                in: service.home.path,
                size: (80, 24),
                environment: environment
            )
            do {
                try await terminal.wait(for: "one file.txt")
                try await terminal.press("Enter")
                try await soon("the file to be opened") { desktop.opened.count == 2 }
                #expect(desktop.opened == [service.home.download("one file.txt"), "own session"])
                try await terminal.press("w")
                try await soon("the folder to be opened") { desktop.opened.count == 4 }
                #expect(desktop.opened[2] == service.home.downloads)
                unlink(service.home.download("two.txt"))
                try await terminal.press("Down", "m", "1")
                let screen = try await terminal.wait(for: "is gone")
                #expect(!screen.contains("noise"), "\(screen)")
                try await terminal.press("q")
                try await terminal.wait(for: "ended with 0")
            } catch {
                await terminal.stop()
                throw error
            }
            await terminal.stop()
        }
    }
}
