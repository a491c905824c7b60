// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

/// `idown handler`, held against what GLib and xdg-utils make of the files.
@Suite(.timeLimit(.minutes(5)))
struct HandlerCommandTests {
    /// What opens http and https links by default, as GLib has it, and as xdg-utils has it.
    private func standards(in home: DesktopHome) async throws -> (gio: [String], xdg: [String]) {
        var found: (gio: [String], xdg: [String]) = ([], [])
        for scheme in ["http", "https"] {
            let type = "x-scheme-handler/" + scheme
            let query = try await home.run("xdg-mime", "query", "default", type)
            found.xdg.append(query.standardOutput)
            let mime = try await home.run("gio", "mime", type)
            let line = mime.standardOutput.split(separator: "\n").first
            found.gio.append(String(line?.split(separator: " ").last ?? ""))
        }
        return found
    }

    private func isOffered(in home: DesktopHome) async throws -> Bool {
        let mime = try await home.run("gio", "mime", "x-scheme-handler/https")
        return mime.standardOutput.contains("org.idown.Manager1.desktop")
    }

    @Test(
        arguments: [
            nil, "",
            """
            # mine
            [Added Associations]
            text/plain=vim.desktop;

            [Default Applications]
            # the web
            x-scheme-handler/https = vivaldi-stable.desktop
            x-scheme-handler/http=gone.desktop;vivaldi-stable.desktop;
            # the end, without a line feed
            """,
            """
            [Default Applications]
            x-scheme-handler/http=gone.desktop;
            [Removed Associations]
            x-scheme-handler/https=org.idown.Manager1.desktop;firefox.desktop;
            x-scheme-handler/http=firefox.desktop;


            """,
            "[Added Associations]\nx-scheme-handler/http=vivaldi-stable.desktop;\n"
                + "x-scheme-handler/https=vivaldi-stable.desktop;\n",
        ] as [String?]
    )
    func `enabling offers idown, never by default, and disabling takes exactly that back`(
        list: String?
    ) async throws {
        try await withDesktopHome { home in
            if let list { try TestFile.write(list, to: home.associations) }
            let before = try await standards(in: home)
            #expect(
                before.gio.allSatisfy {
                    ["firefox.desktop", "vivaldi-stable.desktop"].contains($0)
                }
            )
            #expect(try await home.idown("handler", "status").standardOutput == "disabled")

            let enabled = try await home.idown("handler", "enable")
            #expect(enabled.succeeded, "\(enabled)")
            // xdg-utils reads no list behind its first entry and no blanks around the `=`: where it
            // saw something else before, it still does, or sees the choice that was written down.
            let standards = try await standards(in: home)
            #expect(standards.gio == before.gio)
            #expect([before.xdg, before.gio].contains(standards.xdg))
            #expect(try await isOffered(in: home))
            #expect(try await home.idown("handler", "status").standardOutput == "enabled")
            let after = try home.text(of: home.associations)
            for line in (list ?? "").split(separator: "\n") where line.hasPrefix("#") {
                #expect(after?.contains(line) == true)
            }
            // Once more changes nothing.
            #expect(try await home.idown("handler", "enable").succeeded)
            #expect(try home.text(of: home.associations) == after)

            #expect(try await home.idown("handler", "disable").succeeded)
            #expect(try home.text(of: home.associations) == list)
            #expect(try await self.standards(in: home) == before)
            #expect(try await !isOffered(in: home))
            #expect(try await home.idown("handler", "disable").succeeded)
            #expect(try home.text(of: home.associations) == list)
        }
    }

    @Test func `without a browser, or where idown is the default, nothing is changed`()
        async throws
    {
        try await withDesktopHome(browsers: []) { home in
            let refused = try await home.idown("handler", "enable")
            #expect(refused.status == .exited(1), "\(refused)")
            #expect(refused.standardError.contains("browser"), "\(refused)")
            #expect(try home.text(of: home.associations) == nil)
        }
        try await withDesktopHome { home in
            let list = "[Default Applications]\nx-scheme-handler/http=org.idown.Manager1.desktop\n"
            try TestFile.write(list, to: home.associations)
            #expect(try await home.idown("handler", "enable").status == .exited(1))
            #expect(try home.text(of: home.associations) == list)
        }
    }

    @Test func `programs get the status as JSON`() async throws {
        try await withDesktopHome { home in
            for isEnabled in [false, true] {
                if isEnabled { #expect(try await home.idown("handler", "enable").succeeded) }
                let status = try await home.idown("handler", "status", "--json")
                #expect(status.standardError == "")
                #expect(
                    try await evaluate(
                        "x['Enabled'], sorted(x['Standards'].items())",
                        of: status.standardOutput
                    ) == """
                        \(isEnabled ? "True" : "False") \
                        [('x-scheme-handler/http', 'firefox.desktop'), \
                        ('x-scheme-handler/https', 'firefox.desktop')]
                        """,
                    "\(status)"
                )
            }
        }
        try await withDesktopHome(browsers: []) { home in
            let status = try await home.idown("handler", "status", "--json")
            #expect(
                try await evaluate("set(x['Standards'].values())", of: status.standardOutput)
                    == "{''}",
                "\(status)"
            )
        }
    }

    @Test func `another browser follows where the default one is taken away`() async throws {
        try await withDesktopHome { home in
            let (firefox, vivaldi) = ("firefox.desktop", "vivaldi-stable.desktop")
            #expect(try await standards(in: home) == ([firefox, firefox], [firefox, firefox]))
            #expect(try await home.idown("handler", "enable").succeeded)
            #expect(unlink(home.systemApplications + "/firefox.desktop") == 0)
            try await home.updateCaches()
            #expect(try await standards(in: home) == ([vivaldi, vivaldi], [vivaldi, vivaldi]))
        }
    }

    @Test func `what others changed meanwhile stays when it is disabled`() async throws {
        try await withDesktopHome { home in
            #expect(try await home.idown("handler", "enable").succeeded)
            let chosen = try await home.run(
                "gio",
                "mime",
                "x-scheme-handler/https",
                "vivaldi-stable.desktop"
            )
            #expect(chosen.succeeded, "\(chosen)")
            #expect(try await home.run("gio", "mime", "text/plain", "firefox.desktop").succeeded)
            #expect(try await home.idown("handler", "disable").succeeded)
            #expect(try await !isOffered(in: home))
            let mime = try await home.run("gio", "mime", "x-scheme-handler/https")
            #expect(mime.standardOutput.hasPrefix("Default application"))
            #expect(mime.standardOutput.contains(": vivaldi-stable.desktop"), "\(mime)")
            let text = try home.text(of: home.associations) ?? ""
            #expect(text.contains("text/plain=firefox.desktop"), "\(text)")
            #expect(!text.contains("idown"), "\(text)")
        }
    }

    @Test func `a list that is a link stays one, and rights stay`() async throws {
        try await withDesktopHome { home in
            let real = home.home.path + "/dotfiles"
            try TestFile.write("# mine\n", to: real)
            #expect(chmod(real, 0o640) == 0)
            #expect(symlink(real, home.associations) == 0)
            #expect(try await home.idown("handler", "enable").succeeded)
            var status = stat()
            #expect(lstat(home.associations, &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFLNK)
            #expect(stat(real, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o640)
            #expect(try TestFile.text(of: real).hasPrefix("# mine\n"))
            #expect(try await home.idown("handler", "disable").succeeded)
            #expect(try TestFile.text(of: real) == "# mine\n")
        }
    }

    @Test func `a list that is no text is left alone`() async throws {
        try await withDesktopHome { home in
            try TestFile.write([0xFF, 0xFE, 0x0A], to: home.associations)
            let refused = try await home.idown("handler", "enable")
            #expect(refused.status == .exited(1), "\(refused)")
            #expect(try TestFile.bytes(of: home.associations) == [0xFF, 0xFE, 0x0A])
        }
    }
}
