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

    @Test(
        arguments: [
            ("http://me:geheim@p:1", "http://me:***@p:1"), ("me:geheim@p:1", "me:***@p:1"),
            ("http://me:a@b/c@p", "http://me:***@p"), ("http://me@p:1", "http://me@p:1"),
            ("socks5h://p:1", "socks5h://p:1"), ("", ""),
            ("http://me:\u{301}geheim@p:1", "http://me:***@p:1"),
        ]
    )
    func `a proxy's password is never shown`(url: String, shown: String) {
        #expect(Setting.proxy.shown(.text(url)) == .text(shown))
        #expect(Setting.downloadDirectory.shown(.text("/a:b@c")) == .text("/a:b@c"))
    }
}
