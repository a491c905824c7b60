// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// The real `idown get` in a real terminal.
@Suite(.timeLimit(.minutes(5)))
struct GetTerminalTests {
    private let content = TestContent(seed: 123, count: 400_000)

    @Test func `each file has a bar, and after Ctrl-C the service goes on downloading`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        let quick = try ChangingHost(ServedFile(content))
        defer { quick.stop() }
        try await withService { service in
            let program = try BuiltProgram("idown").path
            let urls = "\(quick.url("/done.bin")) \(host.url("/one.bin")) \(host.url("/two.bin"))"
            let terminal = try await TmuxTerminal.start(
                "trap : INT; '\(program)' get \(urls); echo \"ended with $?\"; cat",
                in: service.home.path,
                size: (80, 24),
                environment: service.environment
            )
            do {
                let screen = try await terminal.wait(for: "bars") { screen in
                    screen.contains("1 of 3 done")
                        && ["one.bin [", "two.bin ["].allSatisfy(screen.contains)
                }
                // The completed download is printed once, above the others.
                #expect(screen.split(separator: "\n").count == 4, "\(screen)")
                #expect(screen.hasPrefix("done.bin ["), "\(screen)")
                #expect(screen.contains("390.6 KiB"), "\(screen)")
                try await terminal.press("C-c")
                let ended = try await terminal.wait(for: "ended with 130")
                #expect(ended.contains("\(service.home.path)/done.bin"), "\(ended)")
                #expect(ended.contains("To wait: idown wait"), "\(ended)")
                #expect(ended.contains("To cancel: idown cancel"), "\(ended)")
                #expect(try await service.state(of: "2") == "downloading")
                #expect(try await service.state(of: "3") == "downloading")
            } catch {
                await terminal.stop()
                throw error
            }
            await terminal.stop()
        }
    }

    @Test func `in the background get does not draw over typed text`() async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let program = try BuiltProgram("idown").path
            let script = """
                set -m; '\(program)' get '\(host.url("/held.bin"))' & read line; echo "typed $line"
                read line; fg
                echo "ended with $?"; cat
                """
            let terminal = try await TmuxTerminal.start(
                script,
                in: service.home.path,
                size: (80, 24),
                environment: service.environment
            )
            do {
                try await soon("the download to be under way") {
                    try await service.client.listTasks().first?.downloadedBytes ?? 0 > 0
                }
                try await terminal.press("x", "Enter")
                let typed = try await terminal.wait(for: "typed x")
                #expect(!typed.contains("held.bin ["), "\(typed)")
                try await terminal.press("Enter")
                try await terminal.wait(for: "held.bin [")
                host.letGo()
                let ended = try await terminal.wait(for: "ended with 0")
                #expect(ended.contains("\(service.home.path)/held.bin"), "\(ended)")
            } catch {
                await terminal.stop()
                throw error
            }
            await terminal.stop()
        }
    }

    @Test func `after a stop get does not draw over what the shell wrote`() async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let program = try BuiltProgram("idown").path
            let terminal = try await TmuxTerminal.start(
                """
                ln -s '\(program)' i; set -m; ./i get \(host.url("/1")) \(host.url("/2"))
                echo "has stopped"; read line; echo "goes on"; fg; echo "ended with $?"; cat
                """,
                in: service.home.path,
                size: (80, 24),
                environment: service.environment
            )
            do {
                try await terminal.wait(for: "0 of 2 done")
                try await terminal.press("C-z")
                try await terminal.wait(for: "has stopped")
                try await terminal.press("x", "Enter")
                host.letGo()
                let ended = try await terminal.wait(for: "ended with 0")
                #expect(ended.contains("goes on\n./i get http"), "\(ended)")
            } catch {
                await terminal.stop()
                throw error
            }
            await terminal.stop()
        }
    }

    @Test func `where Ctrl-Z is discarded the bars stay in their lines`() async throws {
        let first = ServedFile.held(content, after: 100_000)
        let second = ServedFile.held(content, after: 100_000)
        let host = try FaultServer(
            script: .init { request in
                (request.path == "/1" ? first : second).answer(to: request)
            }
        )
        defer { host.stop() }
        try await withService { service in
            let program = try BuiltProgram("idown").path
            // The terminal's own program has no shell that could continue it: the system lets no
            // Ctrl-Z stop it.
            let terminal = try await TmuxTerminal.start(
                "exec '\(program)' get \(host.url("/1")) \(host.url("/2"))",
                in: service.home.path,
                size: (80, 24),
                environment: service.environment
            )
            do {
                try await terminal.wait(for: "0 of 2 done")
                try await terminal.press("C-z")
                first.hold?.until.open()
                let shown = try await terminal.wait(for: "1 of 2 done")
                #expect(!shown.contains("0 of 2 done"), "\(shown)")
            } catch {
                await terminal.stop()
                throw error
            }
            await terminal.stop()
        }
    }

    @Test func `downloads that do not move are all drawn, and their ends as well`() async throws {
        try await withService { service in
            for number in 1...3 {
                _ = try await service.add("http://127.0.0.1:9/\(number).bin") { $0.paused = true }
            }
            let program = try BuiltProgram("idown").path
            let terminal = try await TmuxTerminal.start(
                "'\(program)' wait -p 1-3; echo \"ended with $?\"; cat",
                in: service.home.path,
                size: (80, 24),
                environment: service.environment
            )
            do {
                try await terminal.wait(for: "three lines") { screen in
                    ["1.bin", "2.bin", "3.bin", "0 of 3 done"].allSatisfy(screen.contains)
                }
                try await service.client.cancel("2")
                try await terminal.wait(for: "0 of 3 done, 1 cancelled")
                _ = try await service.client.cancelTasks(["1", "3"])
                let ended = try await terminal.wait(for: "ended with 15")
                #expect(ended.contains("0 of 3 done, 3 cancelled"), "\(ended)")
            } catch {
                await terminal.stop()
                throw error
            }
            await terminal.stop()
        }
    }
}
