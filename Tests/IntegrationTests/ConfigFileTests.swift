// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownTesting

/// `idown config` with the settings that only the settings file holds.
@Suite(.timeLimit(.minutes(5)))
struct ConfigFileTests {
    private func path(_ service: ServiceUnderTest) -> String {
        service.home.config + "/idown/settings.json"
    }

    /// Runs `config edit` with a line of shell as the editor; `$1` is the file.
    private func edit(
        _ service: ServiceUnderTest,
        _ line: String
    ) async throws -> ChildProcess.Completed {
        let editor = service.home.path + "/editor"
        try TestFile.write("#!/bin/sh\n\(line)\n", to: editor)
        chmod(editor, 0o700)
        return try await idown(
            ["config", "edit"],
            in: service,
            environment: ["EDITOR": editor, "VISUAL": ""]
        )
    }

    @Test func `all settings are shown, and config edit changes those of the file`() async throws {
        try await withService { service in
            let all = try await idown("config", in: service)
            #expect(all.status == .exited(0), "\(all)")
            let names = all.standardOutput.split(separator: "\n")
                .compactMap { $0.split(separator: " ").first.map(String.init) }
            #expect(names.count == 24, "\(all)")
            #expect(names.contains("proxy") && names.contains("when-done-command"))
            let edited = try await edit(
                service,
                #"""
                printf '{"Proxy": "http://me:geheim@127.0.0.1:9", "Notifications": false,
                  "WhenDoneCommand": ["mv", "{path}", "/a b"], "LogLevel": "debug"}' >"$1"
                """#
            )
            #expect(edited.status == .exited(0), "\(edited)")
            let expected = [
                ("proxy", "http://me:***@127.0.0.1:9"), ("Notifications", "off"),
                ("stay-awake", "off"), ("retry-for", "24h"), ("log-level", "debug"),
                ("cookie-file", ""),
                ("when-done-command", #"["mv","{path}","/a b"]"#),
            ]
            for (name, value) in expected {
                let shown = try await idown("config", name, in: service)
                #expect(shown.standardOutput == value, "\(name): \(shown)")
            }
            let json = try await idown("config", "--json", in: service)
            #expect(
                try await evaluate(
                    "x['WhenDoneCommand'], x['Notifications'], x['NoProxy'], x['SpeedLimit']",
                    of: json.standardOutput
                ) == "['mv', '{path}', '/a b'] False None 0"
            )
            for name in ["when-done-command", "allow-hidden-folders"] {
                let set = try await idown("config", name, "on", in: service)
                #expect(set.status == .exited(64), "\(set)")
                #expect(set.standardError.contains("idown config edit"), "\(set)")
            }
            let slip = try await idown("config", "prxoy", in: service)
            #expect(slip.standardError.contains("did you mean proxy?"), "\(slip)")
        }
    }

    @Test func `what another program changed during config edit stays`() async throws {
        try await withService { service in
            let program = try BuiltProgram("idown").path
            let edited = try await edit(
                service,
                #"'\#(program)' config retry-for 2h; printf '{"Notifications": false}' >"$1""#
            )
            #expect(edited.status == .exited(1), "\(edited)")
            #expect(edited.standardError.contains("changed the settings meanwhile"), "\(edited)")
            #expect(try await idown("config", "retry-for", in: service).standardOutput == "2h")
            let words = edited.standardError.split { $0 == " " || $0 == "\n" }
            let copy = try #require(words.last { $0.hasSuffix("/settings.json") })
            #expect(try TestFile.text(of: String(copy)) == #"{"Notifications": false}"#)
            _ = try await ChildProcess.run("rm", ["-r", String(copy.dropLast(14))])
        }
    }

    @Test func `what was typed stays where the file cannot be written`() async throws {
        try await withService(started: false) { service in
            // A folder stands where the file is to be.
            let line = "mkdir -p '\(path(service))'; printf '{\"Notifications\": false}' >\"$1\""
            let edited = try await edit(service, line)
            #expect(edited.status == .exited(12), "\(edited)")
            let words = edited.standardError.split { $0 == " " || $0 == "\n" }
            let copy = try #require(words.last { $0.hasSuffix("/settings.json") })
            #expect(try TestFile.text(of: String(copy)) == #"{"Notifications": false}"#)
            _ = try await ChildProcess.run("rm", ["-r", String(copy.dropLast(14))])
        }
    }

    @Test(arguments: [#"rm "$1""#, #"echo >"$1""#])
    func `an editor that leaves nothing changes nothing`(line: String) async throws {
        try await withService(started: false) { service in
            let edited = try await edit(service, line)
            #expect(edited.status == .exited(0), "\(edited)")
            #expect(edited.standardError == "The settings are unchanged.\n", "\(edited)")
            let failed = try await edit(service, line + "; exit 1")
            #expect(failed.status == .exited(1), "\(failed)")
            #expect(!failed.standardError.contains("your text is in"), "\(failed)")
        }
    }

    @Test func `a folder is shown as it is, so that a shell can go there`() async throws {
        try await withService { service in
            let folder = service.home.path + "/a\u{200F}b"
            let set = try await idown("config", "download-directory", folder, in: service)
            #expect(set.status == .exited(0), "\(set)")
            let shown = try await idown("config", "download-directory", in: service)
            #expect(shown.standardOutput == folder, "\(shown)")
        }
    }

    @Test func `all that programs may change is set and shown, and is in the file`() async throws {
        try await withService { service in
            let missing = try await idown("config", "cookie-file", "c.txt", in: service)
            #expect(missing.status == .exited(64), "\(missing)")
            #expect(missing.standardError.contains("c.txt cannot be read: No such"), "\(missing)")
            let folder = try await idown("config", "cookie-file", ".", in: service)
            #expect(folder.status == .exited(64), "\(folder)")
            #expect(folder.standardError.contains("Is a directory"), "\(folder)")
            try TestFile.write(#"[{"name": "geheim"}]"#, to: service.home.path + "/c.json")
            let other = try await idown("config", "cookie-file", "c.json", in: service)
            #expect(other.status == .exited(64), "\(other)")
            #expect(other.standardError.contains("not a cookie file"), "\(other)")
            #expect(!other.standardError.contains("geheim"), "\(other)")
            try TestFile.write("", to: service.home.path + "/c.txt")
            let changes = [
                ("proxy", "http://me:geheim@127.0.0.1:9", "http://me:***@127.0.0.1:9"),
                ("no-proxy", "a.example,b.example", "a.example,b.example"),
                ("cookie-file", "c.txt", "\(service.home.path)/c.txt"),
                ("Notifications", "off", "off"), ("stay-awake", "on", "on"),
                ("retry-for", "2h", "2h"), ("use-server-time", "on", "on"),
                ("log-level", "debug", "debug"),
            ]
            for (name, value, shown) in changes {
                let set = try await idown("config", name, value, in: service)
                #expect(set.status == .exited(0) && set.standardOutput == "", "\(name): \(set)")
                let got = try await idown("config", name, in: service)
                #expect(got.standardOutput == shown, "\(name): \(got)")
                // A value can be set as it is shown, a hidden password included.
                #expect(try await idown("config", name, shown, in: service).status == .exited(0))
            }
            // As a value that is not set is shown.
            for name in ["browser-hosts", "no-proxy"] {
                #expect(try await idown("config", name, "-", in: service).status == .exited(0))
                #expect(try await idown("config", name, in: service).standardOutput == "")
            }
            _ = try await idown("config", "no-proxy", "a.example,b.example", in: service)
            let usual = try await idown("config", "download-directory", in: service)
            for folder in [service.home.path, "default"] {
                let set = try await idown("config", "download-directory", folder, in: service)
                #expect(set.status == .exited(0), "\(set)")
                let got = try await idown("config", "download-directory", in: service)
                #expect((got.standardOutput == usual.standardOutput) == (folder == "default"))
            }
            let file = try TestFile.text(of: path(service))
            #expect(
                try await evaluate(
                    """
                    x['Proxy'], x['NoProxy'], x['CookieFile'].split('/')[-1], x['Notifications'],
                    x['StayAwake'], x['RetryFor'], x['UseServerTime'], x['LogLevel'],
                    'WhenDoneCommand' in x
                    """.replacing("\n", with: " "),
                    of: file
                )
                    == "http://me:geheim@127.0.0.1:9 a.example,b.example c.txt False True 7200 True debug False"
            )
            for (name, value) in [("proxy", "none"), ("proxy", ""), ("cookie-file", "none")] {
                let set = try await idown("config", name, value, in: service)
                #expect(set.status == .exited(0), "\(name): \(set)")
            }
            let json = try await idown("config", "--json", in: service)
            #expect(
                try await evaluate("x['Proxy'], x['CookieFile']", of: json.standardOutput)
                    == "None None"
            )
        }
    }

    @Test func `config reads the settings without starting the service`() async throws {
        try await withService(started: false) { service in
            mkdir(service.home.config + "/idown", 0o700)
            try TestFile.write(#"{"Proxy": "", "SpeedLimit": 1024}"#, to: path(service))
            let shown = try await idown("config", in: service)
            #expect(shown.status == .exited(0), "\(shown)")
            let lines = shown.standardOutput.split(separator: "\n").map { line in
                line.split(separator: " ").joined(separator: " ")
            }
            #expect(lines.count == 24)
            for line in ["proxy none", "speed-limit 1k", "cookie-file -", "log-level info"] {
                #expect(lines.contains(line), "\(line): \(lines)")
            }
            #expect(lines.contains("download-directory \(service.home.downloads)"), "\(lines)")
        }
    }

    @Test func `config path prints the path without a service`() async throws {
        try await withService(started: false) { service in
            let printed = try await idown("config", "path", in: service)
            #expect(printed.standardOutput == path(service), "\(printed)")
        }
    }

    @Test func `a service in a folder of its own is found by its D-Bus service file`() async throws
    {
        try await withService(started: false) { service in
            let folder = service.home.path + "/bin"
            let services = service.home.path + "/.local/share/dbus-1/services"
            let copied = try await ChildProcess.run(
                "sh",
                [
                    "-c", #"mkdir -p "$2" "$3" && cp "$1" "$2""#, "sh",
                    try BuiltProgram("idown").path,
                ]
                    + [folder, services]
            )
            try #require(copied.succeeded, "\(copied)")
            var environment = service.environment
            environment["PATH"] = "/usr/bin:/bin"
            let lost = try await ChildProcess.run(
                folder + "/idown",
                ["config", "path"],
                environment: environment
            )
            #expect(lost.status == .exited(1), "\(lost)")
            try TestFile.write(
                "[D-BUS Service]\nName=\(Contract.busName)\nExec=\(try BuiltProgram("idownd").path)\n",
                to: services + "/\(Contract.busName).service"
            )
            let found = try await ChildProcess.run(
                folder + "/idown",
                ["config", "path"],
                environment: environment
            )
            #expect(found.standardOutput == path(service), "\(found)")
        }
    }

    @Test func `a file with a mistake never replaces the settings`() async throws {
        try await withService(started: false) { service in
            let good = #"{"LogLevel": "debug"}"#
            #expect(try await edit(service, "printf '\(good)' >\"$1\"").status == .exited(0))
            #expect(try TestFile.text(of: path(service)) == good)
            for (wrong, told) in [
                (#"{"LogLevel": "loud"}"#, "LogLevel must be"), ("{", "not a JSON object"),
                (#"{"LogLevl": "debug"}"#, "there is no setting LogLevl"),
            ] {
                let refused = try await edit(service, "printf '\(wrong)' >\"$1\"")
                #expect(refused.status == .exited(6), "\(refused)")
                #expect(refused.standardError.contains(told), "\(refused)")
                #expect(try TestFile.text(of: path(service)) == good)
            }
            for proxy in ["x y", "http://me:geheim@x y:1"] {
                let refused = try await edit(service, #"printf '{"Proxy": "\#(proxy)"}' >"$1""#)
                #expect(refused.status == .exited(6), "\(refused)")
                #expect(refused.standardError.contains("Proxy must be the URL of a proxy"))
                #expect(!refused.standardError.contains("geheim"), "\(refused)")
                #expect(try TestFile.text(of: path(service)) == good)
            }
            let same = try await edit(service, "true")
            #expect(same.status == .exited(0) && same.standardError.contains("unchanged"))
            #expect(try await edit(service, "exit 3").status == .exited(1))
            let status = try await ChildProcess.run("stat", ["-c", "%a", path(service)])
            #expect(status.standardOutput == "600")
        }
    }

    @Test func `a change tells where it has put a file with a mistake`() async throws {
        try await withService { service in
            mkdir(service.home.config + "/idown", 0o700)
            try TestFile.write(#"{"SpeedLimit": "x", "Mine": 1}"#, to: path(service))
            let set = try await idown("config", "log-level", "debug", in: service)
            let words = set.standardError.split { " ;\n".contains($0) }
            let kept = try #require(words.first { $0.contains(".broken-") }, "\(set)")
            #expect(try TestFile.text(of: String(kept)) == #"{"SpeedLimit": "x", "Mine": 1}"#)
            let again = try await idown("config", "log-level", "info", in: service)
            #expect(again.status == .exited(0) && again.standardError == "", "\(again)")
        }
    }

    @Test func `reading the settings tells about a mistake in the file`() async throws {
        try await withService(started: false) { service in
            mkdir(service.home.config + "/idown", 0o700)
            try TestFile.write(#"{"Proxy": 7}"#, to: path(service))
            let shown = try await idown("config", "log-level", in: service)
            #expect(shown.standardOutput == "info")
            #expect(shown.standardError.contains("Proxy must be"), "\(shown)")
        }
    }

    @Test func `a proxy that no download can use is told by the settings and by the log`()
        async throws
    {
        try await withService(started: false) { service in
            mkdir(service.home.config + "/idown", 0o700)
            try TestFile.write(#"{"Proxy": "http://me:geheim@x y:1"}"#, to: path(service))
            for words in [["config"], ["config", "log-level"]] {
                let shown = try await idown(words, in: service)
                #expect(shown.status == .exited(0), "\(shown)")
                let told = "downloads fail: \(path(service)): Proxy must be the URL of a proxy"
                #expect(shown.standardError.contains(told), "\(shown)")
                #expect(!"\(shown)".contains("geheim"), "\(shown)")
            }
            try await service.start()
            try await service.waitForLog("Proxy must be the URL of a proxy")
        }
    }
}
