// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// The real `idown watch` in a real terminal, with real keys.
@Suite(.timeLimit(.minutes(5)))
struct WatchTests {
    private let content = TestContent(seed: 122, count: 400_000)

    private func withTerminal(
        _ service: ServiceUnderTest,
        width: Int = 80,
        height: Int = 24,
        options: String = "",
        variables: String = "",
        _ body: (TmuxTerminal) async throws -> Void
    ) async throws {
        let program = try BuiltProgram("idown").path
        let folder = service.home.path
        let script = """
            ulimit -c 0; stty -g >'\(folder)/before'
            sh -c 'echo $$ >"$0/pid"; exec env \(variables) "$1" watch \(options)' '\(folder)' '\(program)'
            echo "ended with $?"; stty -g >'\(folder)/after'; echo over; cat
            """
        let terminal = try await TmuxTerminal.start(
            script,
            in: folder,
            size: (width, height),
            environment: service.environment
        )
        do {
            try await body(terminal)
            await terminal.stop()
        } catch {
            await terminal.stop()
            throw error
        }
    }

    /// A list with one download that stands still in its middle, a paused one and a failed one.
    private func withList(
        _ body: (ServiceUnderTest, ChangingHost) async throws -> Void
    ) async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            _ = try await service.addHeld(on: host, "/moving.bin")
            _ = try await service.add("http://127.0.0.1:9/resting.bin") { $0.paused = true }
            _ = try await service.add("http://127.0.0.1:9/given-up.bin") { $0.paused = true }
            try await service.client.cancel("3")
            try await body(service, host)
        }
    }

    @Test(arguments: [(80, 24), (200, 60)])
    func `the list fits its terminal, and keys steer the downloads`(
        width: Int,
        height: Int
    ) async throws {
        try await withList { service, host in
            try await withTerminal(service, width: width, height: height) { terminal in
                let screen = try await terminal.wait(for: "given-up.bin")
                #expect(screen.contains("↓ moving.bin"), "\(screen)")
                #expect(screen.contains("= resting.bin"), "\(screen)")
                #expect(screen.contains("- given-up.bin"), "\(screen)")
                #expect(screen.contains("390.6 KiB"), "\(screen)")
                #expect(screen.split(separator: "\n").allSatisfy { $0.count <= width })
                #expect(screen.contains("SOURCE") == (width == 200))
                // Green and blue are ECMA-48's 32 and 34.
                let colored = try await terminal.coloredScreen()
                #expect(colored.contains("\u{1B}[34m"), "\(colored)")

                try await terminal.press("Enter")
                try await service.waitForState("paused", of: "1")
                try await terminal.wait(for: "= moving.bin")
                try await terminal.press("Enter")
                try await service.waitForState("downloading", of: "1")
                try await terminal.wait(for: "↓ moving.bin")

                try await terminal.press("q")
                try await terminal.wait(for: "ended with 0")
            }
        }
    }

    @Test func `emoji of several parts keep every column in its place`() async throws {
        try await withService { service in
            let names = [
                "plain", "👨‍👩‍👧‍👦 family", String(repeating: "👩🏽‍💻", count: 16), "🇩🇪🇯🇵 flags", "1️⃣2️⃣ keys",
                "❤️‍🔥👩‍⚕️ hearts",
            ]
            for (place, name) in names.enumerated() {
                _ = try await service.add("http://127.0.0.1:9/\(place)") { options in
                    options.paused = true
                    options.filename = name
                }
            }
            try await withTerminal(service) { terminal in
                let screen = try await terminal.wait(for: "six rows") {
                    $0.split(separator: "\n").count { $0.hasPrefix(" = ") } == 6
                }
                let starts = screen.split(separator: "\n").compactMap { line in
                    line.hasPrefix(" = ")
                        ? line.firstRange(of: "paused").map { line[..<$0.lowerBound] } : nil
                }
                // Whatever reads a scalar by itself, or a whole sign, counts the same.
                let signs = starts.map { start in
                    start.reduce(0) { $0 + ($1.isASCII || "…❤".contains($1) ? 1 : 2) }
                }
                let scalars = starts.map { start in
                    start.unicodeScalars.reduce(0) {
                        $0 + ($1.isASCII || "…❤".unicodeScalars.contains($1) ? 1 : 2)
                    }
                }
                #expect(signs == Array(repeating: 25, count: 6), "\(screen)")
                #expect(scalars == signs, "\(screen)")
                #expect(starts.allSatisfy { $0.hasSuffix(" ") }, "\(screen)")
                #expect(screen.contains("👨 family") && screen.contains("DEJP flags"), "\(screen)")

                // A box in front has straight sides.
                try await terminal.press("Down", "i")
                let box = try await terminal.wait(for: "Name:")
                let sides = box.split(separator: "\n").filter { $0.hasSuffix("│") }.map { line in
                    line.reduce(0) { $0 + ($1.isASCII || "│…❤".contains($1) ? 1 : 2) }
                }
                #expect(sides.count > 5 && Set(sides).count == 1, "\(box)")
            }
        }
    }

    @Test func `a terminal's answers and keys with Alt are no commands`() async throws {
        try await withList { service, _ in
            try await withTerminal(service) { terminal in
                try await terminal.wait(for: "Enter pause")
                for text in [
                    "P>|XTerm(370)\u{1B}\\", "]11;rgb:0000/0000/0000\u{1B}\\", "[?1;2c", "[O", "[I",
                    "[25;80R", "p", "c", "d",
                ] {
                    try await terminal.press("-l", "\u{1B}\(text)")
                }
                // The key comes after the others.
                try await terminal.press("m")
                try await terminal.wait(for: "┌ moving.bin")
                #expect(try await service.state(of: "1") == "downloading")
            }
        }
    }

    @Test func `an arrow counts, also as the first key of all`() async throws {
        try await withList { service, _ in
            try await withTerminal(service) { terminal in
                try await terminal.wait(for: "resting.bin")
                try await terminal.press("Down", "m")
                try await terminal.wait(for: "┌ resting.bin")
                try await terminal.press("Escape", "Up", "q")
                try await terminal.wait(for: "ended with 0")
            }
        }
    }

    @Test func `what was pressed just before the end reaches the service`() async throws {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/resting.bin") { $0.paused = true }
            // The call waits for an answer, and the keys come in one packet.
            let process = try await service.processID()
            try await withTerminal(service) { terminal in
                try await terminal.wait(for: "resting.bin")
                kill(process, SIGSTOP)
                defer { kill(process, SIGCONT) }
                try await terminal.press("cyq")
                try await terminal.wait(for: "ended with 0")
            }
            try await service.waitForState("cancelled", of: "1")
        }
    }

    @Test func `search, filter, menu, selection and adding work by keys`() async throws {
        try await withList { service, host in
            try await withTerminal(service) { terminal in
                try await terminal.wait(for: "moving.bin")
                try await terminal.press("/", "r", "e", "s", "t")
                try await terminal.wait(for: "a search") {
                    $0.contains("Search: rest") && !$0.contains("given-up")
                }
                try await terminal.press("Enter", "m")
                try await terminal.wait(for: "1  Resume")
                try await terminal.press("Down", "Enter")
                try await terminal.wait(for: "delete the partial file: resting.bin?")
                try await terminal.press("y")
                try await service.waitForState("cancelled", of: "2")
                try await terminal.press("Escape")
                try await terminal.wait(for: "given-up")

                try await terminal.press("Home", "e", "Down", "Space", "Space")
                try await terminal.wait(for: "2 selected")
                try await terminal.press("d")
                try await terminal.wait(for: "2 downloads?")
                try await terminal.press("y")
                try await terminal.wait(for: "two rows to go") { !$0.contains("given-up") }
                #expect(try await service.client.listTasks().map(\.id) == ["1"])

                // Lines that are pasted are no commands, whatever stands in them.
                try await terminal.paste("http://127.0.0.1:9/d\nhttp://127.0.0.1:9/q\n")
                try await terminal.wait(for: "URL: http://127.0.0.1:9/d http://127.0.0.1:9/q")
                try await terminal.press("Enter")
                try await terminal.wait(for: "added 2 downloads")
                #expect(try await service.client.listTasks().count == 3)

                try await terminal.press("a", "w", "r", "o", "n", "g", "C-u")
                try await terminal.press("y", "Space", "z", "C-w")
                try await terminal.wait(for: "a shorter text") { $0.contains("URL: y\n") }
                try await terminal.press("C-u", "x", "Enter")
                let refused = try await terminal.wait(for: "URL") { !$0.contains("URL: x") }
                #expect(!refused.contains("added as"), "\(refused)")
                try await terminal.press("?")
                try await terminal.wait(for: "load the list again")
                try await terminal.press("x")
                try await terminal.resize(width: 130, height: 30)
                try await terminal.wait(for: "SOURCE")
                try await terminal.press("q")
                try await terminal.wait(for: "ended with 0")
            }
        }
    }

    @Test(arguments: [
        (SIGTERM, 143), (SIGINT, 130), (SIGQUIT, 131), (SIGABRT, 134), (SIGSEGV, 139),
    ])
    func `the terminal is as it was, also after a signal or a crash`(
        signal: Int32,
        status: Int
    ) async throws {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/resting.bin") { $0.paused = true }
            try await withTerminal(service, options: "--mouse") { terminal in
                try await terminal.wait(for: "resting.bin")
                #expect(try await terminal.property("alternate_on") == "1")
                #expect(try await terminal.property("mouse_any_flag") == "1")
                let process = try TestFile.text(of: "\(service.home.path)/pid")
                kill(try #require(Int32(process.dropLast())), signal)
                let screen = try await terminal.wait(for: "over")
                #expect(screen.contains("ended with \(status)"), "\(screen)")
                #expect(!screen.contains("resting.bin"), "\(screen)")
                #expect(try await terminal.property("alternate_on") == "0")
                #expect(try await terminal.property("mouse_any_flag") == "0")
                #expect(try await terminal.property("cursor_flag") == "1")
                let before = try TestFile.text(of: "\(service.home.path)/before")
                #expect(try TestFile.text(of: "\(service.home.path)/after") == before)
            }
        }
    }

    @Test func `after a stop the screen comes back, and a paste is not taken for commands`()
        async throws
    {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/resting.bin") { $0.paused = true }
            let program = try BuiltProgram("idown").path
            // The shell switches the brackets off, as one does that edits its lines.
            let script = #"printf 'stopped\033[?2004l\n'; read line; fg; echo "ended with $?"; cat"#
            let terminal = try await TmuxTerminal.start(
                "set -m; '\(program)' watch; \(script)",
                in: service.home.path,
                size: (80, 24),
                environment: service.environment
            )
            do {
                try await terminal.wait(for: "resting.bin")
                try await terminal.press("C-z")
                try await terminal.wait(for: "stopped")
                try await terminal.press("Enter")
                try await terminal.wait(for: "Enter resume")
                // What is shown of this comes after what was due to the terminal.
                _ = try await service.add("http://127.0.0.1:9/later.bin") { $0.paused = true }
                try await terminal.wait(for: "later.bin")
                try await terminal.paste("http://127.0.0.1:9/d\nhttp://127.0.0.1:9/q\n")
                try await terminal.wait(for: "URL: http://127.0.0.1:9/d http://127.0.0.1:9/q")
                try await terminal.press("Escape", "Up", "q")
                try await terminal.wait(for: "ended with 0")
            } catch {
                await terminal.stop()
                throw error
            }
            await terminal.stop()
        }
    }

    @Test func `the list comes back with the service`() async throws {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/resting.bin") { $0.paused = true }
            try await withTerminal(service) { terminal in
                try await terminal.wait(for: "resting.bin")
                try await service.kill9()
                try await terminal.wait(for: "the service has ended")
                try await service.start()
                _ = try await service.add("http://127.0.0.1:9/another.bin") { $0.paused = true }
                try await terminal.wait(for: "another.bin")
            }
        }
    }

    @Test func `without the session bus the list ends with an error`() async throws {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/resting.bin") { $0.paused = true }
            try await withTerminal(service) { terminal in
                try await terminal.wait(for: "resting.bin")
                await service.bus.kill()
                let screen = try await terminal.wait(for: "over")
                #expect(screen.contains("ended with 69"), "\(screen)")
                #expect(screen.contains("the session bus went away"), "\(screen)")
            }
        }
    }

    @Test func `the list survives the smallest terminal, and a larger one shows it again`()
        async throws
    {
        try await withList { service, _ in
            try await withTerminal(service) { terminal in
                try await terminal.wait(for: "resting.bin")
                for (width, height) in [(1, 1), (2, 1), (10, 3), (3, 40), (200, 2)] {
                    try await terminal.resize(width: width, height: height)
                    for key in [
                        // A letter right after an Esc would be Alt with that letter.
                        "m", "Escape", "Up", "e", "Space", "Escape", "Up", "?", "q", "/", "a",
                        "Escape", "Up",
                    ] {
                        try await terminal.press(key)
                    }
                }
                try await terminal.resize(width: 80, height: 24)
                try await terminal.wait(for: "resting.bin")
                // Where the cursor is depends on how many keys were read before the list was drawn.
                try await terminal.press("g")
                try await terminal.wait(for: "Enter pause")
            }
        }
    }

    @Test(arguments: ["LC_ALL=C", "LC_ALL=POSIX", "LC_ALL= LANG=", "LC_ALL= LANG=nonesuch"])
    func `names are readable where no locale was chosen`(variables: String) async throws {
        try await withService { service in
            let name = "日本語 - Reise ü.mkv"
            _ = try await service.add("http://127.0.0.1:9/x") {
                $0.paused = true
                $0.filename = name
            }
            try await withTerminal(service, variables: variables) { terminal in
                try await terminal.wait(for: name)
            }
        }
    }

    @Test func `without a terminal, or with one that is not known, it says so`() async throws {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/x") { $0.paused = true }
            let piped = try await idown("watch", in: service)
            #expect(piped.status == .exited(64), "\(piped)")
            #expect(piped.standardError.contains("idown follow"), "\(piped)")
            let unknown = try await ChildProcess.run(
                "script",
                [
                    "-qec", "TERM=nonesuch '\(try BuiltProgram("idown").path)' watch",
                    "/dev/null",
                ],
                environment: service.environment
            )
            #expect(unknown.status == .exited(1), "\(unknown)")
            #expect(unknown.standardOutput.contains("type nonesuch is not known"), "\(unknown)")
            let dumb = try await ChildProcess.run(
                "script",
                ["-qec", "TERM=dumb '\(try BuiltProgram("idown").path)' watch", "/dev/null"],
                environment: service.environment
            )
            #expect(dumb.status == .exited(1), "\(dumb)")
            #expect(dumb.standardOutput.contains("dumb cannot show"), "\(dumb)")
            // Nor escape sequences anywhere else.
            for term in ["dumb", ""] {
                let list = try await ChildProcess.run(
                    "script",
                    ["-qec", "TERM=\(term) '\(try BuiltProgram("idown").path)' list", "/dev/null"],
                    environment: service.environment
                )
                #expect(!list.standardOutput.contains("\u{1B}"), "\(list)")
            }
        }
    }
}
