// SPDX-License-Identifier: Apache-2.0

import DBus
import FoundationEssentials
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// The description of the settings, and the documents that are written by hand.
struct SettingTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The value of a default as a document has it.
    private func text(_ content: Setting.Content, unset: String) -> String {
        switch content {
        case .number(let number): "\(number)"
        case .flag(let flag): "\(flag)"
        case .text(let text): text ?? unset
        case .words(let words): words.isEmpty ? unset : "\(words)"
        }
    }

    private func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }

    @Test(arguments: Setting.allCases)
    func `a setting's name is a member's, and its default is a value that it may have`(
        setting: Setting
    ) throws {
        #expect(try MemberName(validating: setting.rawValue).rawValue == setting.rawValue)
        switch setting.usual {
        case .text(nil), .words([]): break
        default: #expect(setting.allows(setting.usual))
        }
    }

    @Test func `the manual has the name, the values, the default and the command of each setting`()
        throws
    {
        let page = try TestFile.text(of: Self.sources + "/desktop/man/idown-settings.5")
        let entries = page.split(separator: ".TP\n").dropFirst().map { entry in
            let lines = entry.split(separator: "\n").map { line in
                line.hasPrefix(".I ") || line.hasPrefix(".B ") ? line.dropFirst(3) : line
            }
            return lines.joined(separator: " ").replacing("\\-", with: "-")
        }
        #expect(entries.count == Setting.allCases.count)
        for setting in Setting.allCases {
            let entry = try #require(entries.first { $0.hasPrefix(setting.rawValue + " ") })
            let isNullable = text(setting.usual, unset: "null") == "null"
            let start = """
                \(setting.rawValue) \(capitalized(setting.form))\(isNullable ? " or null" : ""); \
                default \(text(setting.usual, unset: "null"))
                """
            #expect(entry.hasPrefix(start), "\(entry)")
            let name = setting.rawValue.reduce(into: "") { name, letter in
                name += letter.isUppercase && !name.isEmpty ? "-" : ""
                name += letter.lowercased()
            }
            #expect(entry.contains("; idown config (\(name)).") == !setting.isReadOnly, "\(entry)")
        }
    }

    @Test(arguments: [Setting.Place.manager, .settings])
    func `the documented XML has the values and the default of each setting`(
        place: Setting.Place
    ) throws {
        let file = place == .manager ? "Manager1" : "Settings1"
        let document = try TestFile.text(of: Self.sources + "/dbus/org.idown.\(file).xml")
        let comments = document.split(separator: "<!--").map { comment in
            comment.prefix(upTo: comment.firstRange(of: "-->")?.lowerBound ?? comment.endIndex)
                .split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        }
        for setting in Setting.allCases where setting.place == place {
            let comment = try #require(comments.first { $0.hasPrefix(setting.rawValue + ": ") })
            let usual = setting.kind == .folder ? "" : text(setting.usual, unset: "empty") + "."
            let sentence = "\(capitalized(setting.form)); default \(usual)"
            #expect(comment.contains(sentence), "\(comment)")
        }
    }

    @Test func `a settings' value goes over the bus and back`() async throws {
        try await withFakeManager { scene in
            let values: [(Setting, Setting.Content)] = [
                (.proxy, .text("")), (.proxy, .text(nil)), (.proxy, .text("http://p:1")),
                (.noProxy, .text(nil)), (.noProxy, .text("a,b")), (.cookieFile, .text("/c")),
                (.notifications, .flag(false)), (.retryFor, .number(60)),
                (.logLevel, .text("debug")), (.keepCompleted, .number(7)),
                (.browserHandOver, .flag(false)), (.browserLeastSize, .number(0)),
                (.browserTypes, .words([".tar.gz", "video/*"])),
                (.browserLeaveHosts, .words(["a.org", "b"])), (.browserLeaveHosts, .words([])),
            ]
            for (setting, content) in values {
                try await scene.client.set(setting, to: content)
                #expect(try await scene.client.value(of: setting) == content)
            }
            let all = try await scene.client.settings()
            #expect(all.map(\.setting) == Setting.allCases)
            for (setting, content) in all where !values.map(\.0).contains(setting) {
                #expect(setting == .downloadDirectory || content == setting.usual)
            }
        }
    }

    @Test(
        arguments: [
            (.maxConcurrentDownloads, .number(65)), (.retryFor, .number(1 << 32)),
            (.speedLimit, .number(1 << 63)), (.browserLeastSize, .number(1 << 63)),
            (.cookieFile, .text("here")), (.logLevel, .text("loud")), (.logLevel, .text(nil)),
            (.downloadDirectory, .text(nil)), (.browserHosts, .words(["a b"])),
            (.browserHosts, .words([""])), (.browserLeaveHosts, .words(["http://a/"])),
            (.browserLeaveHosts, .words(["a:80"])), (.browserHosts, .words(["münchen.de"])),
            (.browserHosts, .words(["a..b"])), (.browserTypes, .words(["video"])),
            (.browserTypes, .words(["*/*"])), (.browserTypes, .words(["a/b/c"])),
            (.browserLeaveTypes, .words(["."])), (.browserLeaveTypes, .words([".a b"])),
            (.browserHosts, .words(Array(repeating: "aaaaaaa.org", count: 1000))),
        ] as [(Setting, Setting.Content)]
    )
    func `a value that a setting cannot have is InvalidArgs, and names what it must be`(
        setting: Setting,
        content: Setting.Content
    ) async throws {
        try await withFakeManager { scene in
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.set(setting, to: content)
            }
            #expect(error?.code == .invalidArguments)
            #expect(error?.message == "\(setting.rawValue) must be \(setting.form).")
            if let range = setting.range {
                let ends = "from \(range.lowerBound) to \(range.upperBound)"
                #expect(error?.message.contains(ends) == true)
            }
        }
    }

    @Test(arguments: Setting.allCases.filter(\.isReadOnly))
    func `what only the user sets is read-only on the bus`(setting: Setting) async throws {
        try await withFakeManager { scene in
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.set(setting, to: setting.usual)
            }
            #expect(error?.code == .propertyReadOnly)
        }
    }

    @Test(
        arguments: [
            ("http://me:geheim@p:1", "http://me:***@p:1"), ("me:geheim@p:1", "me:***@p:1"),
            ("http://me:a@b/c@p", "http://me:***@p"), ("http://me@p:1", "http://me@p:1"),
            ("socks5h://p:1", "socks5h://p:1"), ("", ""),
        ]
    )
    func `a proxy's password is never shown`(url: String, shown: String) {
        #expect(Setting.proxy.shown(.text(url)) == .text(shown))
        #expect(Setting.downloadDirectory.shown(.text("/a:b@c")) == .text("/a:b@c"))
    }
}
