// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Testing
import iDownSettings
import iDownState
import iDownTesting

@testable import iDownData

@Suite struct SettingsFileTests {
    private let chosen = Self.settings {
        $0.maxConcurrentDownloads = 7
        $0.maxConnectionsPerDownload = 16
        $0.speedLimit = 1 << 40
        $0.keepCompleted = 30
        $0.downloadDirectory = "/mnt/big"
        $0.proxy = "socks5h://p:1"
        $0.notifies = false
        $0.retryFor = 60
        $0.logLevel = "debug"
    }

    private static func settings(_ change: (inout Settings) -> Void) -> Settings {
        var settings = Settings()
        change(&settings)
        return settings
    }

    @Test func `a draft of the user's beside the file stays`() async throws {
        try await withTemporaryFolder { folder async throws in
            let file = SettingsFile(folder: folder)
            try TestFile.write("{}", to: file.path)
            try TestFile.write("mine", to: file.path + ".new")
            try file.write(chosen, now: .someTime)
            #expect(file.read().settings == chosen)
            #expect(try TestFile.text(of: file.path + ".new") == "mine")
            #expect(TestFile.names(in: folder).sorted() == ["settings.json", "settings.json.new"])
        }
    }

    @Test func `without a file the defaults are used, and reading makes no file`() async throws {
        try await withTemporaryFolder { folder async throws in
            let reading = SettingsFile(folder: folder + "/idown").read()
            #expect(reading.settings == Settings())
            #expect(reading.settings.maxConcurrentDownloads == 3)
            #expect(!reading.settings.allowsHiddenFolders)
            #expect(reading.failure == nil && reading.unknownProxy == nil)
            #expect(try Files().status(folder + "/idown") == nil)
        }
    }

    @Test func `settings that are written are read again, from a private file`() async throws {
        try await withTemporaryFolder { folder in
            let file = SettingsFile(folder: folder + "/c/idown")
            try file.write(chosen, now: .someTime)
            #expect(file.read().settings == chosen)
            #expect(file.read().failure == nil)
            let path = folder + "/c/idown/settings.json"
            #expect(try #require(try Files().status(path)).st_mode & 0o777 == 0o600)
            let made = try #require(try Files().status(folder + "/c/idown"))
            #expect(made.st_mode & 0o777 == 0o700)
        }
    }

    @Test func `a pipe in place of the file does not block reading`() async throws {
        try await withTemporaryFolder { folder in
            try #require(mkfifo(folder + "/settings.json", 0o600) == 0)
            let reading = SettingsFile(folder: folder).read()
            #expect(reading.settings == Settings())
            #expect(reading.failure != nil && reading.unknownProxy != nil)
        }
    }

    @Test func `unknown keys are kept`() async throws {
        try await withTemporaryFolder { folder in
            try write(
                """
                {"MaxConcurrentDownloads": 5, "Later": {"a": [1, 2.5, null, true, "x"]}}
                """,
                in: folder
            )
            let file = SettingsFile(folder: folder)
            #expect(file.read().settings.maxConcurrentDownloads == 5)
            try file.write(chosen, now: .someTime)
            #expect(
                try text(in: folder) == """
                    {
                      "DownloadDirectory" : "/mnt/big",
                      "HoldOnLowBattery" : false,
                      "HoldOnMetered" : false,
                      "KeepCompleted" : 30,
                      "Later" : {
                        "a" : [
                          1,
                          2.5,
                          null,
                          true,
                          "x"
                        ]
                      },
                      "LogLevel" : "debug",
                      "MaxConcurrentDownloads" : 7,
                      "MaxConnectionsPerDownload" : 16,
                      "Notifications" : false,
                      "Proxy" : "socks5h://p:1",
                      "RetryFor" : 60,
                      "SpeedLimit" : 1099511627776
                    }

                    """
            )
        }
    }

    @Test
    func `what only the user sets is read and never written, and the rest only if it changed`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let content = """
                {"Notifications": false, "StayAwake": true, "UseServerTime": true, "RetryFor": 60,
                 "WhenDoneCommand": ["mv", "{path}"], "AllowHiddenFolders": true, "NoProxy": ""}
                """
            try write(content, in: folder)
            let settings = SettingsFile(folder: folder).read().settings
            #expect(!settings.notifies)
            #expect(settings.staysAwake)
            #expect(settings.usesServerTime)
            #expect(settings.retryFor == 60)
            #expect(settings.allowsHiddenFolders)
            #expect(settings.whenDoneCommand == ["mv", "{path}"])
            var changed = settings
            changed.whenDoneCommand = ["rm"]
            changed.allowsHiddenFolders = false
            changed.notifies = true
            changed.cookieFile = "/c"
            try SettingsFile(folder: folder).write(changed, now: .someTime)
            changed.whenDoneCommand = settings.whenDoneCommand
            changed.allowsHiddenFolders = true
            #expect(SettingsFile(folder: folder).read().settings == changed)
            let text = try text(in: folder)
            #expect(text.contains("\"NoProxy\" : \"\"") && !text.contains("\"Proxy\""))
        }
    }

    @Test func `a setting is unset by leaving its key out`() async throws {
        try await withTemporaryFolder { folder in
            try write(#"{"Proxy": "", "CookieFile": "/c", "LogLevel": null}"#, in: folder)
            let file = SettingsFile(folder: folder)
            var settings = file.read().settings
            #expect(settings.proxy == "" && settings.cookieFile == "/c")
            #expect(settings.logLevel == "info")
            settings.proxy = nil
            settings.cookieFile = nil
            try file.write(settings, now: .someTime)
            #expect(file.read().settings == settings)
            let text = try text(in: folder)
            #expect(!text.contains("Proxy") && !text.contains("CookieFile"))
        }
    }

    @Test func `the usual time of trying is that of the retry policy`() {
        #expect(Int64(Settings().retryFor) == RetryPolicy.usualRetryFor)
    }

    @Test(arguments: [
        "", "{", "[]", "null", "{\"MaxConcurrentDownloads\": 0}",
        "{\"MaxConcurrentDownloads\": 65}", "{\"MaxConcurrentDownloads\": \"3\"}",
        "{\"MaxConcurrentDownloads\": 1e300}", "{\"DownloadDirectory\": \"here\"}",
        "{\"DownloadDirectory\": 1}", "{\"AllowHiddenFolders\": 1}",
        "{\"MaxConnectionsPerDownload\": 0}", "{\"MaxConnectionsPerDownload\": 17}",
        "{\"KeepCompleted\": -1}", "{\"KeepCompleted\": 4294967296}", "{\"SpeedLimit\": -1}",
        "{\"SpeedLimit\": \"fast\"}", "{\"SpeedLimit\": 1.5}",
        "{\"HoldOnMetered\": 1}", "{\"HoldOnLowBattery\": \"yes\"}", "{\"StayAwake\": 0}",
        "{\"UseServerTime\": \"on\"}",
        "{\"RetryFor\": -1}", "{\"RetryFor\": \"1d\"}", "{\"RetryFor\": 4294967296}",
        "{\"Notifications\": null}", "{\"WhenDoneCommand\": \"rm -rf {path}\"}",
        "{\"WhenDoneCommand\": []}", "{\"WhenDoneCommand\": [\"\"]}",
        "{\"WhenDoneCommand\": [\"sh\", null]}", "{\"WhenDoneCommand\": [\"a\\u0000b\"]}",
        "{\"AllowHiddenFolders\": true, \"MaxConcurrentDownloads\": 65}",
    ])
    func `an invalid file is reported, left alone by reading, and moved aside by writing`(
        content: String
    ) async throws {
        try await withTemporaryFolder { folder in
            try write(content, in: folder)
            let file = SettingsFile(folder: folder)
            #expect(file.read().settings == Settings())
            #expect(file.read().failure != nil)
            #expect(try text(in: folder) == content)

            try file.write(chosen, now: .someTime)
            #expect(file.read().settings == chosen)
            let aside = folder + "/settings.json.broken-20260131-235959"
            #expect(try Files().read(aside, limit: 1_000) == Array(content.utf8))
        }
    }

    @Test(
        arguments: [
            (#"{"Proxy":"","Proxy":"http://p:1/"}"#, "Proxy"),
            (#"{"Proxy": "", "NoProxy": "x", "Pro\u0078y" : ""}"#, "Proxy"),
            (#"{"Later":["Later",{"Later":1}],"Later":2}"#, "Later"),
            (#"{"Later":{"a":1,"a":2},"L\"ater":"{\"Later\":","B":["B","B"],"\\":"\\"}"#, nil),
            (#"{}"#, nil),
        ] as [(String, String?)]
    )
    func `a key that is given twice is a mistake, and its value is not guessed`(
        _ content: String,
        _ key: String?
    ) async throws {
        try await withTemporaryFolder { folder in
            try write(content, in: folder)
            let reading = SettingsFile(folder: folder).read()
            let path = folder + "/settings.json"
            let failure = key.map {
                SettingsFailure.invalidValue(path: path, key: $0, expected: "given once", line: 1)
            }
            #expect(reading.failure == failure)
            #expect(reading.unknownProxy == failure)
        }
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16, .utf32])
    func `a file in another encoding than UTF-8 is a mistake that says so`(
        encoding: String.Encoding
    ) async throws {
        try await withTemporaryFolder { folder in
            let text = #"{"Proxy": "", "Proxy": "http://p:1/"}"#
            let bytes = try #require(text.data(using: encoding))
            try Files().replace(folder + "/settings.json", with: Array(bytes))
            let reading = SettingsFile(folder: folder).read()
            #expect(reading.unknownProxy == .notUTF8(path: folder + "/settings.json"))
        }
    }

    @Test func `a file that cannot be replaced is left where it is`() async throws {
        try await withTemporaryFolder { folder in
            let misspelt = #"{"Proxy": "http://p:1/", "SpeedLimits": 5}"#
            try write(misspelt, in: folder)
            #expect(throws: SettingsFailure.self) {
                try SettingsFile(folder: folder).write(chosen, now: .someTime)
            }
            #expect(try text(in: folder) == misspelt)

            let wrong = #"{"Proxy": "http://p:1/", "KeepCompleted": "x"}"#
            try write(wrong, in: folder)
            var calls = 0
            repeat {
                calls += 1
                let faults = CallFaults(failing: [calls])
                let file = SettingsFile(folder: folder, faults: faults.next)
                let isWritten = (try? file.write(chosen, now: .someTime)) != nil
                // After each call there is a file, the old one or the new one.
                let isNew = SettingsFile(folder: folder).read().settings == chosen
                #expect(try isNew || !isWritten && text(in: folder) == wrong, "call \(calls)")
                try write(wrong, in: folder)
                guard faults.calls >= calls else { break }
            } while calls < 100
            #expect(calls > 5)
        }
    }

    @Test func `replacing an invalid file keeps the current settings and unknown keys`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let right = #"{"Proxy": "http://p:1/", "StayAwake": true, "Tomorrow": [1]}"#
            try write(right, in: folder)
            let file = SettingsFile(folder: folder)
            var settings = file.read().settings
            try write(#"{"Proxy": 7, "StayAwake": true, "Tomorrow": [1]}"#, in: folder)
            settings.speedLimit = 5
            try file.write(settings, now: .someTime)
            #expect(file.read().failure == nil)
            #expect(file.read().settings == settings)
            #expect(settings.proxy == "http://p:1/" && settings.staysAwake)
            #expect(try text(in: folder).contains("Tomorrow"))
        }
    }

    @Test func `a file that is a symbolic link stays one, and its target is written`()
        async throws
    {
        try await withTemporaryFolder { folder in
            #expect(mkdir(folder + "/own", 0o700) == 0)
            #expect(mkdir(folder + "/idown", 0o700) == 0)
            let own = folder + "/own/idown.json"
            let link = folder + "/idown/settings.json"
            #expect(symlink("../own/idown.json", link) == 0)
            let file = SettingsFile(folder: folder + "/idown")
            // The target does not exist yet.
            try file.write(Self.settings { $0.speedLimit = 5 }, now: .someTime)
            #expect(try Files().target(of: link) == folder + "/idown/../own/idown.json")
            #expect(try Files().status(own) != nil)
            #expect(file.read().settings.speedLimit == 5)

            try Files().replace(own, with: Array("{".utf8))
            try file.write(chosen, now: .someTime)
            #expect(file.read().settings == chosen)
            #expect(try Files().target(of: link) != link)
            let aside = own + ".broken-20260131-235959"
            #expect(try Files().read(aside, limit: 1_000) == Array("{".utf8))
        }
    }

    // MARK: Mistakes and the last good settings

    @Test(
        arguments: [
            ("Porxy", "Proxy"), ("proxy", "Proxy"), ("PROXY", "Proxy"), ("Prxy", "Proxy"),
            ("no_proxy", "NoProxy"), ("NoProxies", nil), ("HTTPProxy", nil), ("Later", nil),
            ("", nil),
            ("LogLevl", "LogLevel"), ("SpeedLimits", "SpeedLimit"), ("Speed", nil),
        ] as [(String, String?)]
    )
    func `a key that is almost a known one is a mistake, and any other has no effect`(
        _ key: String,
        _ meant: String?
    ) async throws {
        try await withTemporaryFolder { folder in
            let content = "{\"\(key)\": null}"
            try write(content, in: folder)
            let reading = SettingsFile(folder: folder).read()
            let told = "there is no setting \(key)"
            let mistakes = SettingsFile.mistakes(
                in: Array(content.utf8),
                isProxy: { _ in true }
            )
            if let meant {
                let path = folder + "/settings.json"
                #expect(
                    reading.failure
                        == .misspeltKey(path: path, key: key, meant: meant, line: 1)
                )
                #expect(reading.notes.isEmpty)
                #expect(mistakes == ["\(told); did you mean \(meant)? (line 1)"])
            } else {
                #expect(reading.failure == nil)
                #expect(reading.notes == [told])
                #expect(mistakes == [told])
            }
        }
    }

    @Test func `a misspelt key is found among thousands of unknown ones`() {
        let keys = (0..<20_000).map { #""BrowserThing\#(10_000 + $0)": 1"# }
        let text = "{\(keys.joined(separator: ",")), \"Porxy\": 1}"
        let mistakes = SettingsFile.mistakes(in: Array(text.utf8), isProxy: { _ in true })
        #expect(mistakes.first?.contains("did you mean Proxy?") == true)
    }

    @Test(
        arguments: [
            ("// mine\n{}", 1), ("{\n\"SpeedLimit\": 1e400\n}", 2), ("{\r\n}\r\nx", 3), ("", 1),
            ("{\n\"a\": \"\\ud800\"}", 2), ("\u{FEFF}{\n\"a\": tru}", 2),
            ("{\"a\": 1\n\"b\": 2}", 2),
            ("{\"a\":\n", 2), ("{\"a\":\n\"\\", 2), ("[1]", nil),
            (String(repeating: "[\n", count: 2_000), 513),
        ] as [(String, Int?)]
    )
    func `where a text stops being JSON is told`(_ text: String, _ line: Int?) async throws {
        try await withTemporaryFolder { folder in
            try write(text, in: folder)
            let path = folder + "/settings.json"
            let reading = SettingsFile(folder: folder).read()
            #expect(reading.failure == .unreadable(path: path, line: line))
        }
    }

    @Test func `all that is wrong is told, each with its line`() async throws {
        try await withTemporaryFolder { folder in
            let text = """
                {
                  "SpeedLimit": -1,
                  "Later": {"LogLevel": 3},
                  "Prxy": "p:1", "LogLevel": "loud"
                }
                """
            try write(text, in: folder)
            let reading = SettingsFile(folder: folder).read()
            let all = [reading.failure].compactMap(\.self) + reading.furtherFailures
            #expect(
                all.map(\.description)
                    == [
                        "there is no setting Prxy; did you mean Proxy? (line 4)",
                        "SpeedLimit must be \(Setting.speedLimit.form) (line 2)",
                        "LogLevel must be \(Setting.logLevel.form) (line 4)",
                    ].map { "\(folder)/settings.json: \($0)" }
            )
            #expect(SettingsFile.mistakes(in: Array(text.utf8), isProxy: { _ in true }).count == 4)
        }
    }

    @Test func `a key is told in one line, whatever stands in it`() {
        let mistakes = SettingsFile.mistakes(
            in: Array(#"{"Pro\nxy": 1, "a\u0000b\u2028": 2}"#.utf8),
            isProxy: { _ in true }
        )
        #expect(
            mistakes == [
                "there is no setting Pro\u{FFFD}xy; did you mean Proxy? (line 1)",
                "there is no setting a\u{FFFD}b\u{FFFD}",
            ]
        )
    }

    @Test(arguments: [
        (#"{"Proxy": "http://p:1", "SpeedLimit": -1}"#, true),
        (#"{"Proxy": "http://p:1", "NoProxy": "", "LogLevl": "debug"}"#, true),
        (#"{"Proxy": "http://p:2", "SpeedLimit": -1}"#, false),
        (#"{"Proxy": "http://p:1", "NoProxy": "a", "SpeedLimit": -1}"#, false),
        (#"{"Proxy": "http://p:1", "Noproxi": "a"}"#, false),
        (#"{"Proxy": "", "SpeedLimit": -1}"#, false), (#"{"SpeedLimit": -1}"#, false),
        (#"{"Proxy": 1}"#, false), (#"{"Proxy": "http://p:1""#, false), ("", false), ("[]", false),
    ])
    func `the last good settings hold, and only their own proxy may be used`(
        wrong: String,
        isKnown: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let file = SettingsFile(folder: folder, copyFolder: folder + "/state/idown")
            try write(#"{"Proxy": "http://p:1", "StayAwake": true, "Later": 1}"#, in: folder)
            let good = file.read()
            #expect(good.failure == nil && good.unknownProxy == nil)
            try file.keep(good)
            try write(wrong, in: folder)
            for reading in [file.read(), file.read(lastGood: good.settings)] {
                #expect(reading.settings == good.settings)
                #expect(reading.failure != nil)
                #expect(reading.unknownProxy == (isKnown ? nil : reading.failure))
            }
            // A wrong file is never kept.
            try file.keep(file.read())
            #expect(file.read().settings == good.settings)
        }
    }

    @Test(arguments: [nil, "{", #"{"SpeedLimit": -1}"#, #"{"Porxy": "b"}"#] as [String?])
    func `without last good settings the defaults hold, and the proxy is unknown`(
        copy: String?
    ) async throws {
        try await withTemporaryFolder { folder in
            let file = SettingsFile(folder: folder, copyFolder: folder)
            try write(#"{"SpeedLimit": -1}"#, in: folder)
            if let copy { try TestFile.write(copy, to: folder + "/settings.last") }
            let reading = file.read()
            #expect(reading.settings == Settings())
            #expect(reading.failure != nil && reading.unknownProxy == reading.failure)
        }
    }

    @Test func `the copy is private, and written only when the file changed`() async throws {
        try await withTemporaryFolder { folder in
            let file = SettingsFile(folder: folder, copyFolder: folder + "/state/idown")
            let copy = folder + "/state/idown/settings.last"
            try write("{}", in: folder)
            try file.keep(file.read())
            let first = try #require(try Files().status(copy))
            #expect(first.st_mode & 0o777 == 0o600)
            try file.keep(file.read())
            #expect(try Files().status(copy)?.st_ino == first.st_ino)
            try file.write(chosen, now: .someTime)
            #expect(try Files().read(copy, limit: 10_000) == Files().read(file.path, limit: 10_000))
        }
    }

    @Test func `without a file the defaults are the last good settings`() async throws {
        try await withTemporaryFolder { folder in
            let file = SettingsFile(folder: folder, copyFolder: folder)
            try file.write(chosen, now: .someTime)
            #expect(unlink(file.path) == 0)
            try file.keep(file.read())
            try write(#"{"SpeedLimit": -1}"#, in: folder)
            #expect(file.read().settings == Settings())
            #expect(file.read().unknownProxy == nil)
            try write(#"{"SpeedLimit": -1, "Proxy": "http://127.0.0.1:9"}"#, in: folder)
            #expect(file.read().unknownProxy != nil)
        }
    }

    @Test(arguments: ["settings.json", ""])
    func `a link that leads nowhere is a mistake, and the last good settings hold`(
        link: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let file = SettingsFile(folder: folder + "/idown", copyFolder: folder)
            try file.write(Self.settings { $0.proxy = "http://127.0.0.1:9" }, now: .someTime)
            // As of a folder that is mounted after login.
            let path = folder + "/idown" + (link.isEmpty ? "" : "/" + link)
            #expect(rename(path, folder + "/away") == 0)
            #expect(symlink(folder + "/later", path) == 0)
            let reading = file.read()
            #expect(reading.failure == .leadsNowhere(path: file.path) && !reading.isAbsent)
            #expect(reading.unknownProxy != nil)
            #expect(reading.settings.proxy == "http://127.0.0.1:9")
            try file.keep(reading)
            #expect(file.read().settings.proxy == "http://127.0.0.1:9")
            #expect(rename(folder + "/away", folder + "/later") == 0)
            #expect(file.read().failure == nil)
        }
    }

    @Test func `a file in the place of their folder is a mistake, and the last good settings hold`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let file = SettingsFile(folder: folder + "/idown", copyFolder: folder)
            try file.write(Self.settings { $0.proxy = "http://127.0.0.1:9" }, now: .someTime)
            #expect(rename(folder + "/idown", folder + "/away") == 0)
            #expect(close(creat(folder + "/idown", 0o600)) == 0)
            let reading = file.read()
            #expect(reading.failure != nil && !reading.isAbsent)
            #expect(reading.unknownProxy != nil)
            #expect(reading.settings.proxy == "http://127.0.0.1:9")
        }
    }

    @Test func `settings are written even if their copy cannot be`() async throws {
        try await withTemporaryFolder { folder in
            #expect(mkdir(folder + "/settings.last", 0o700) == 0)
            let file = SettingsFile(folder: folder, copyFolder: folder)
            try file.write(chosen, now: .someTime)
            #expect(file.read().settings == chosen)
            #expect(throws: FileFailure.self) { try file.keep(file.read()) }
        }
    }

    @Test func `a value out of range is not written`() async throws {
        try await withTemporaryFolder { folder in
            let file = SettingsFile(folder: folder)
            try file.write(chosen, now: .someTime)
            #expect(throws: SettingsFailure.self) {
                try file.write(Self.settings { $0.maxConcurrentDownloads = 65 }, now: .someTime)
            }
            #expect(file.read().settings == chosen)
        }
    }

    @Test func `a file that would be too large to be read again is not written`() async throws {
        try await withTemporaryFolder { folder in
            let file = SettingsFile(folder: folder)
            // What idown does not know is kept, so there is hardly room for more.
            let full = #"{"Later": "\#(String(repeating: "a", count: 1_048_500))"}"#
            try write(full, in: folder)
            #expect(throws: SettingsFailure.self) { try file.write(chosen, now: .someTime) }
            #expect(try text(in: folder) == full)
            try write(full + String(repeating: " ", count: 100), in: folder)
            #expect(file.read().failure == .tooLarge(path: file.path))
        }
    }

    @Test func `whichever system call fails, the file is the old or the new one`() async throws {
        try await withTemporaryFolder { folder in
            let counting = CallFaults()
            try SettingsFile(folder: folder, faults: counting.next).write(
                Settings(),
                now: .someTime
            )
            try SettingsFile(folder: folder, faults: counting.next).write(
                Settings(),
                now: .someTime
            )
            for number in 1...counting.calls {
                try SettingsFile(folder: folder).write(Settings(), now: .someTime)
                let faults = CallFaults(failing: [number], with: ENOSPC)
                do {
                    try SettingsFile(folder: folder, faults: faults.next).write(
                        chosen,
                        now: .someTime
                    )
                    #expect(SettingsFile(folder: folder).read().settings == chosen)
                } catch {
                    let reading = SettingsFile(folder: folder).read()
                    #expect(reading.settings == Settings() || reading.settings == chosen)
                    #expect(reading.failure == nil)
                }
            }
        }
    }

    private func write(_ content: String, in folder: String) throws {
        try Files().replace(folder + "/settings.json", with: Array(content.utf8))
    }

    private func text(in folder: String) throws -> String {
        let content = try Files().read(folder + "/settings.json", limit: 1 << 20)
        return String(decoding: try #require(content), as: UTF8.self)
    }
}
