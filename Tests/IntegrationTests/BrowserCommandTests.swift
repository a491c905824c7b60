// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Testing
import iDownTesting

/// `idown browser` in a home that has profiles of Chromium and Firefox.
@Suite(.timeLimit(.minutes(1)))
struct BrowserCommandTests {
    /// What Chromium and Firefox read of a manifest.
    private struct Manifest: Decodable {
        let name: String
        let path: String
        let type: String
        var allowed_origins: [String]?
        var allowed_extensions: [String]?
    }

    private struct Report: Decodable {
        let Browser: String
        let Kind: String
        let Host: String
    }

    private static let chromium =
        ".config/chromium/NativeMessagingHosts/org.idown.browser.json"
    private static let firefox = ".mozilla/native-messaging-hosts/org.idown.browser.json"

    private func idown(_ words: String..., home: String) async throws -> ChildProcess.Completed {
        try await ChildProcess.run(
            try BuiltProgram("idown").path,
            words,
            environment: ["HOME": home, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": ""]
        )
    }

    private func withProfiles(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { home in
            for folder in [".config/chromium", ".mozilla/firefox"] {
                let parent = folder.prefix { $0 != "/" }
                #expect(mkdir("\(home)/\(parent)", 0o755) == 0)
                #expect(mkdir("\(home)/\(folder)", 0o755) == 0)
            }
            try await body(home)
        }
    }

    private func hosts(in home: String) async throws -> [String: String] {
        let status = try await idown("browser", "status", "--json", home: home)
        #expect(status.status == .exited(0), "\(status)")
        let data = Data(status.standardOutput.utf8)
        let reports = try JSONDecoder().decode([Report].self, from: data)
        return Dictionary(
            reports.filter { $0.Kind == "system" }.map { ($0.Browser, $0.Host) },
            uniquingKeysWith: { $1 }
        )
    }

    @Test func `enable lets both extensions start this idown, and disable removes just that`()
        async throws
    {
        try await withProfiles { home in
            let theirs = "\(home)/.mozilla/native-messaging-hosts/org.other.json"
            #expect(try await hosts(in: home)["Firefox"] == "")
            let enabled = try await idown("browser", "enable", home: home)
            #expect(enabled.status == .exited(0), "\(enabled)")
            try TestFile.write("{}", to: theirs)
            for path in [Self.chromium, Self.firefox] {
                let text = try TestFile.text(of: "\(home)/\(path)")
                let manifest = try JSONDecoder().decode(Manifest.self, from: Data(text.utf8))
                #expect(manifest.name == "org.idown.browser" && manifest.type == "stdio")
                let isChromium = path == Self.chromium
                #expect((manifest.allowed_origins ?? []).count == (isChromium ? 1 : 0))
                #expect((manifest.allowed_extensions ?? []).count == (isChromium ? 0 : 1))
                // Browsers start it with this path alone.
                let started = try await ChildProcess.run(manifest.path, ["--version"])
                #expect(started.status == .exited(0), "\(started)")
            }
            let found = try await hosts(in: home)
            #expect(found["Chromium"] == "\(home)/\(Self.chromium)")
            #expect(found["Firefox"] == "\(home)/\(Self.firefox)")

            let disabled = try await idown("browser", "disable", home: home)
            #expect(disabled.status == .exited(0), "\(disabled)")
            #expect(access("\(home)/\(Self.chromium)", F_OK) == -1)
            #expect(access("\(home)/\(Self.firefox)", F_OK) == -1)
            #expect(access(theirs, F_OK) == 0)
        }
    }

    @Test func `a manifest of a program that is gone, or for others, is missing, and is mended`()
        async throws
    {
        try await withProfiles { home in
            _ = try await idown("browser", "enable", home: home)
            let path = "\(home)/\(Self.firefox)"
            let text = try TestFile.text(of: path)
            let program = try BuiltProgram("idown").path
            for (old, new) in [(program, "/gone/idown"), ("browser@idown.org", "other@a.org")] {
                let broken = text.replacing(old, with: new)
                try #require(broken != text)
                try TestFile.write(broken, to: path)
                #expect(try await hosts(in: home)["Firefox"] == "")
                _ = try await idown("browser", "enable", home: home)
                #expect(try TestFile.text(of: path) == text)
            }
        }
    }

    @Test func `a folder that cannot be written is told, and nothing is half there`() async throws {
        try await withProfiles { home in
            // A file where a folder is needed stops root, too.
            try TestFile.write("", to: "\(home)/.config/chromium/NativeMessagingHosts")
            let enabled = try await idown("browser", "enable", home: home)
            #expect(enabled.status == .exited(1), "\(enabled)")
            #expect(enabled.standardError.contains("NativeMessagingHosts"), "\(enabled)")
            let written = "written: \(home)/\(Self.firefox)"
            #expect(enabled.standardError.contains(written), "\(enabled)")
            #expect(try await hosts(in: home)["Chromium"] == "")
        }
    }

    @Test func `a browser that takes extensions from a shop only is told the folder to load`()
        async throws
    {
        try await withTemporaryFolder { home in
            let profile = "\(home)/config/google-chrome/Default"
            let folder = "\(home)/share/webext/idown"
            for path in [profile, folder] {
                try FileManager.default.createDirectory(
                    atPath: path,
                    withIntermediateDirectories: true
                )
            }
            func browser(_ words: String...) async throws -> String {
                try await ChildProcess.run(
                    try BuiltProgram("idown").path,
                    ["browser"] + words,
                    environment: [
                        "HOME": home, "XDG_CONFIG_HOME": "\(home)/config",
                        "XDG_DATA_DIRS": "\(home)/share",
                    ]
                ).standardOutput
            }
            #expect(try await browser("status").contains("load the folder \(folder)\n"))
            try TestFile.write("{}", to: "\(folder)/manifest.json")
            let manifest = try await browser("manifest", "chromium", "/idown")
            let id = try #require(manifest.firstMatch(of: /chrome-extension:\/\/([a-p]+)/)).1
            try TestFile.write(
                // Among those of others, in a file of a usual size.
                #"{"extensions":{"settings":{"a":3,"b":{"path":3},"\#(id)":{"path":"\#(folder)"}}},"#
                    + #""c":"\#(String(repeating: "x", count: 2 << 20))"}"#,
                to: "\(profile)/Secure Preferences"
            )
            #expect(try await !browser("status").contains("is missing"))
        }
    }
}
