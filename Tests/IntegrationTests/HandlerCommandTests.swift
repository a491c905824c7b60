// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

/// `idown handler`, compared with how GLib and xdg-utils read the files.
@Suite(.timeLimit(.minutes(5)))
struct HandlerCommandTests {
    /// The default applications for http and https links, according to GLib and to xdg-utils.
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
    func `enable offers idown but never as the default, and disable undoes exactly that`(
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
            // xdg-utils reads only the first entry of a list, and no blanks around the `=`. If it
            // saw another application before, it still does, or it sees the recorded choice.
            let standards = try await standards(in: home)
            #expect(standards.gio == before.gio)
            #expect([before.xdg, before.gio].contains(standards.xdg))
            #expect(try await isOffered(in: home))
            #expect(try await home.idown("handler", "status").standardOutput == "enabled")
            let after = try home.text(of: home.associations)
            for line in (list ?? "").split(separator: "\n") where line.hasPrefix("#") {
                #expect(after?.contains(line) == true)
            }
            // Enabling again changes nothing.
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

    @Test func `without a browser, or if idown is the default, nothing is changed`()
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

    @Test func `status --json prints an object`() async throws {
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

    @Test func `if the default browser is removed, another browser becomes the default`()
        async throws
    {
        try await withDesktopHome { home in
            let (firefox, vivaldi) = ("firefox.desktop", "vivaldi-stable.desktop")
            #expect(try await standards(in: home) == ([firefox, firefox], [firefox, firefox]))
            #expect(try await home.idown("handler", "enable").succeeded)
            #expect(unlink(home.systemApplications + "/firefox.desktop") == 0)
            try await home.updateCaches()
            #expect(try await standards(in: home) == ([vivaldi, vivaldi], [vivaldi, vivaldi]))
        }
    }

    @Test func `disable keeps what other programs changed meanwhile`() async throws {
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

    @Test func `a list that is a symbolic link stays one, and permissions stay`() async throws {
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

    @Test func `a list that is not UTF-8 text is not changed`() async throws {
        try await withDesktopHome { home in
            try TestFile.write([0xFF, 0xFE, 0x0A], to: home.associations)
            let refused = try await home.idown("handler", "enable")
            #expect(refused.status == .exited(1), "\(refused)")
            #expect(try TestFile.bytes(of: home.associations) == [0xFF, 0xFE, 0x0A])
        }
    }
}
