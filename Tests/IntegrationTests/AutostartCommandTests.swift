// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

/// `idown autostart`, compared with how systemd reads the entries.
@Suite(.timeLimit(.minutes(5)))
struct AutostartCommandTests {
    private static let entry = """
        # An entry
        [Desktop Entry]
        Type=Application
        Name=idown
        Exec=true start-all --if-pending
        X-GNOME-Autostart-enabled=true

        """

    private let generator = "/usr/lib/systemd/user-generators/systemd-xdg-autostart-generator"
    private let name = "/autostart/org.idown.Manager1.desktop"

    /// Whether systemd would run an entry at login.
    private func isStarted(in home: DesktopHome) async throws -> Bool {
        let out = home.home.path + "/units"
        _ = try await home.run("rm", "-rf", out)
        #expect(mkdir(out, 0o700) == 0)
        let done = try await home.run(generator, out, out, out)
        #expect(done.succeeded, "\(done)")
        return TestFile.names(in: out).contains { $0.hasPrefix("app-org.idown") }
    }

    /// Returns the command's answer, which must agree with what systemd would do.
    private func status(in home: DesktopHome) async throws -> String {
        let said = try await home.idown("autostart", "status")
        #expect(said.succeeded, "\(said)")
        #expect(try await isStarted(in: home) == (said.standardOutput == "enabled"))
        return said.standardOutput
    }

    private func systemEntry(_ home: DesktopHome, _ text: String) throws -> String {
        mkdir(home.home.path + "/etc/autostart", 0o700)
        let path = home.home.path + "/etc" + name
        try TestFile.write(text, to: path)
        return path
    }

    @Test func `disable overrides the system's entry, and enable lets it decide again`()
        async throws
    {
        try await withDesktopHome { home in
            let system = try systemEntry(home, Self.entry)
            #expect(try await status(in: home) == "enabled")
            #expect(try await home.idown("autostart", "enable").succeeded)
            #expect(try home.text(of: home.home.config + name) == nil)
            #expect(try await home.idown("autostart", "disable").succeeded)
            #expect(try await status(in: home) == "disabled")
            #expect(try await home.idown("autostart", "enable").succeeded)
            #expect(try await status(in: home) == "enabled")
            #expect(try home.text(of: home.home.config + name) == nil)
            #expect(try home.text(of: system) == Self.entry)
        }
    }

    @Test func `status --json prints an object`() async throws {
        try await withDesktopHome { home in
            let none = try await home.idown("autostart", "status", "--json")
            #expect(
                try await evaluate("x == {'Enabled': False, 'Entry': ''}", of: none.standardOutput)
                    == "True",
                "\(none)"
            )
            #expect(none.standardError == "")
            let system = try systemEntry(home, Self.entry)
            let entry = try await home.idown("autostart", "status", "--json")
            #expect(
                try await evaluate("x['Enabled'], x['Entry']", of: entry.standardOutput)
                    == "True \(system)",
                "\(entry)"
            )
        }
    }

    @Test func `enable overrides an entry that the system hides`()
        async throws
    {
        try await withDesktopHome { home in
            _ = try systemEntry(home, Self.entry + "Hidden=true\n")
            #expect(try await status(in: home) == "disabled")
            #expect(try await home.idown("autostart", "enable").succeeded)
            #expect(try await status(in: home) == "enabled")
            #expect(try await home.idown("autostart", "disable").succeeded)
            #expect(try await status(in: home) == "disabled")
        }
    }

    @Test func `the user's own entry is changed in one line`() async throws {
        try await withDesktopHome { home in
            mkdir(home.home.config + "/autostart", 0o700)
            try TestFile.write(Self.entry, to: home.home.config + name)
            #expect(try await status(in: home) == "enabled")
            #expect(try await home.idown("autostart", "disable").succeeded)
            #expect(try await status(in: home) == "disabled")
            #expect(try home.text(of: home.home.config + name) == Self.entry + "Hidden=true\n")
            #expect(try await home.idown("autostart", "enable").succeeded)
            #expect(try await status(in: home) == "enabled")
            #expect(try home.text(of: home.home.config + name) == Self.entry + "Hidden=false\n")
        }
    }

    @Test func `without any entry, enable creates one`() async throws {
        try await withDesktopHome { home in
            #expect(try await status(in: home) == "disabled")
            #expect(try await home.idown("autostart", "disable").succeeded)
            #expect(try home.text(of: home.home.config + name) == nil)
            #expect(try await home.idown("autostart", "enable").succeeded)
            #expect(try await status(in: home) == "enabled")
            let judged = try await home.run("desktop-file-validate", home.home.config + name)
            #expect(judged.succeeded, "\(judged)")
        }
    }
}
