// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// The completions in real shells at a terminal, and the manual pages.
@Suite(.timeLimit(.minutes(5)))
struct CompletionTests {
    private static let sources = #filePath.split(separator: "/").dropLast(3)
        .map { "/\($0)" }.joined()

    /// Runs `desktop/manual`, which writes all pages and completions.
    private func documents(in folder: String) async throws -> String {
        let program = try BuiltProgram("idown").path
        let programs = program.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        let made = try await ChildProcess.run(
            "\(Self.sources)/desktop/manual",
            [programs, "\(folder)/documents"]
        )
        try #require(made.succeeded, "\(made)")
        return "\(folder)/documents"
    }

    /// The arguments of each shell, which then reads the completions but no file of the user.
    private static let shells: [(name: String, command: String)] = [
        ("bash", "printf '. \"$D/bash/idown\"\\n' >\"$D/rc\"; bash --rcfile \"$D/rc\" -i"),
        (
            "zsh",
            """
            mkdir "$D/home"; printf 'fpath=($D/zsh $fpath); autoload -U compinit; \
            compinit -u -D; bindkey -e\\n' >"$D/home/.zshrc"; ZDOTDIR="$D/home" zsh -d -i
            """
        ),
        ("fish", "fish --no-config -i -C 'source $D/fish/idown.fish'"),
    ]

    @Test(arguments: shells.map(\.name), ["show", "ls", "rm"])
    func `a shell completes ids with their names`(shell: String, verb: String) async throws {
        try await completing("idown \(verb) ", in: shell) { service, terminal in
            try await terminal.wait(for: "ids and names") {
                $0.contains("first.iso") && $0.contains("second.iso") && $0.contains("failed")
                    && $0.contains("c$(touch made)`touch made`.iso")
            }
            #expect(!TestFile.names(in: service.home.path).contains("made"))
        }
    }

    @Test(arguments: shells.map(\.name))
    func `a shell completes the states of an option`(shell: String) async throws {
        try await completing("idown list --state ", in: shell) { _, terminal in
            try await terminal.wait(for: "states") {
                $0.contains("downloading") && $0.contains("cancelled")
            }
        }
    }

    @Test(arguments: shells.map(\.name))
    func `a shell completes the values of a setting`(shell: String) async throws {
        try await completing("idown config log-level ", in: shell) { _, terminal in
            try await terminal.wait(for: "levels") {
                $0.contains("warning") && $0.contains("notice")
            }
        }
    }

    /// Types a line and two tabs into a shell, beside a service with three downloads.
    private func completing(
        _ line: String,
        in shell: String,
        _ body: (ServiceUnderTest, TmuxTerminal) async throws -> Void
    ) async throws {
        let command = try #require(Self.shells.first { $0.name == shell }?.command)
        try await withService { service in
            // The last name is one that a malicious web page might choose.
            for name in ["first.iso", "second.iso", "c%24%28touch%20made%29%60touch%20made%60.iso"]
            {
                _ = try await service.add("http://127.0.0.1:9/\(name)") { $0.paused = true }
            }
            let documents = try await documents(in: service.home.path)
            let program = try BuiltProgram("idown").path
            var environment = service.environment
            environment["D"] = documents
            environment["PS1"] = "> "
            let folder = program.split(separator: "/").dropLast().map { "/\($0)" }.joined()
            environment["PATH"] = "\(folder):\(environment["PATH"] ?? "/usr/bin:/bin")"
            let terminal = try await TmuxTerminal.start(
                command,
                in: service.home.path,
                size: (100, 40),
                environment: environment
            )
            do {
                try await terminal.wait(for: "a prompt") { !$0.allSatisfy(\.isWhitespace) }
                try await terminal.press(line, "Tab", "Tab")
                try await body(service, terminal)
            } catch {
                await terminal.stop()
                throw error
            }
            await terminal.stop()
        }
    }

    @Test func `every command has a manual page that troff accepts`() async throws {
        try await withTemporaryFolder { folder in
            let documents = try await documents(in: folder)
            let pages = ["man1", "man5", "man7"].flatMap { section in
                TestFile.names(in: "\(documents)/man/\(section)").map { "\(section)/\($0)" }
            }
            for page in [
                "man1/idown.1", "man1/idown-get.1", "man1/idown-watch.1", "man1/idown-config.1",
                "man1/idownd.1", "man5/idown-settings.5", "man7/idown.7",
            ] {
                #expect(pages.contains(page), "\(pages)")
            }
            for page in pages {
                let path = "\(documents)/man/\(page)"
                let shown = try await ChildProcess.run(
                    "groff",
                    ["-ww", "-man", "-Tutf8", "-K", "utf8", "-P-cbou", path]
                )
                #expect(
                    shown.succeeded && shown.standardError == "",
                    "\(page): \(shown.standardError)"
                )
                let lines = shown.standardOutput.split(separator: "\n").map(String.init)
                let name = try #require(lines.drop { $0 != "NAME" }.dropFirst().first, "\(page)")
                let phrase = try #require(name.split(separator: " - ", maxSplits: 1).last)
                #expect(phrase.first?.isLowercase == true && phrase.last != ".", "\(name)")
                #expect(lines.contains("SEE ALSO"), "\(page)")
                if page.hasPrefix("man1/") {
                    #expect(lines.contains("EXIT STATUS"), "\(page)")
                }
                let text = shown.standardOutput
                #expect(!text.contains("@date@") && !text.contains("@version@"), "\(page)")
            }
        }
    }

    @Test func `the page of the settings marks the settings that idown config changes`() throws {
        let page = try TestFile.text(of: "\(Self.sources)/desktop/man/idown-settings.5")
        let entries = page.split(separator: ".TP\n").dropFirst()
        let marked = entries.filter { $0.contains("\n.I idown config\n") }
        let keys = marked.compactMap { $0.split(separator: "\n").first?.dropFirst(3) }
        #expect(
            keys.map(String.init).sorted()
                == Setting.allCases.filter { !$0.isReadOnly }.map(\.rawValue).sorted()
        )
    }
}
