// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownSettings
import iDownView

struct SettingNameTests {
    @Test(arguments: Setting.allCases)
    func `a setting is found by its own name and by its name on the bus`(setting: Setting) {
        #expect(SettingName.setting(SettingName.text(setting)) == setting)
        #expect(SettingName.setting(setting.rawValue) == setting)
        let mayBeUnset = [.file, .proxy, .hosts].contains(setting.kind)
        #expect((SettingName.content("", of: setting) == .text(nil)) == mayBeUnset)
        // A value can be set as it is shown.
        let shown = SettingName.text(of: setting.usual, setting)
        if !setting.isReadOnly, setting.kind != .folder {
            #expect(SettingName.content(shown, of: setting) == setting.usual)
        }
        for word in SettingName.words(of: setting) {
            #expect(SettingName.content(word, of: setting) != nil, "\(word)")
        }
    }

    @Test func `values are read and written with their units`() {
        let values: [(Setting, String, Setting.Content, String)] = [
            (.maxConcurrentDownloads, "64", .number(64), "64"),
            (.speedLimit, "1.5GiB/s", .number(3 << 29), "1536M"),
            (.speedLimit, "off", .number(0), "off"),
            (.keepCompleted, "2w", .number(14), "14d"),
            (.keepCompleted, "forever", .number(0), "forever"),
            (.retryFor, "2h", .number(7200), "2h"),
            (.holdOnMetered, "yes", .flag(true), "on"),
            (.holdOnLowBattery, "off", .flag(false), "off"),
            (.downloadDirectory, "/a b", .text("/a b"), "/a b"),
            (.downloadDirectory, "/a\u{200F}b", .text("/a\u{200F}b"), "/a\u{200F}b"),
            (.proxy, "none", .text(""), "none"), (.proxy, "None", .text(""), "none"),
            (.proxy, "http://p:1", .text("http://p:1"), "http://p:1"),
            (.cookieFile, "none", .text(nil), ""),
            (.noProxy, "a,b", .text("a,b"), "a,b"),
            (.logLevel, "Debug", .text("debug"), "debug"),
            (.browserLeastSize, "1500k", .number(1500 << 10), "1500k"),
            (.browserLeastSize, "0", .number(0), "0"),
            (.browserLeaveHosts, "a.org, [::1]", .words(["a.org", "[::1]"]), "a.org,[::1]"),
            (.browserTypes, "video/*,.iso", .words(["video/*", ".iso"]), "video/*,.iso"),
            (.browserTypes, "none", .words([]), ""),
        ]
        for (setting, text, content, shown) in values {
            #expect(SettingName.content(text, of: setting) == content)
            #expect(SettingName.text(of: content, setting) == shown)
        }
        #expect(
            SettingName.text(of: .words(["mv", "/a b"]), .whenDoneCommand) == #"["mv","/a b"]"#
        )
        #expect(SettingName.content("65", of: .maxConcurrentDownloads) == nil)
        #expect(SettingName.content("0", of: .maxConnectionsPerDownload) == nil)
        #expect(SettingName.content("maybe", of: .holdOnMetered) == nil)
        #expect(SettingName.content("loud", of: .logLevel) == nil)
        #expect(SettingName.content("here", of: .cookieFile) == nil)
        #expect(SettingName.content("a.org,", of: .browserHosts) == nil)
        #expect(SettingName.content("video", of: .browserTypes) == nil)
    }

    @Test func `a list that is too long is told with its length, any other text with its form`() {
        let end = String(repeating: "h", count: 42)
        let hosts = (100..<357).map { "\($0)\(end)" }.joined(separator: ",")
        #expect(SettingName.content(hosts, of: .browserLeaveHosts) == nil)
        #expect(
            SettingName.mistake(in: hosts, for: .browserLeaveHosts)
                == "must be shorter: its 257 entries have more than 12 KiB"
        )
        for setting in [Setting.browserLeaveHosts, .noProxy, .logLevel] {
            let form = "is \(SettingName.range(of: setting))"
            #expect(SettingName.mistake(in: "a b", for: setting) == form)
        }
    }

    @Test func `the report on the settings file gives its values as they are`() throws {
        let report = try #require(
            SettingsFileReport(
                """
                path\t/s.json
                note\tthere is no setting Later
                hold\tsettings
                Proxy\tnull
                WhenDoneCommand\tnull
                NoProxy\t"a,b"
                Notifications\tfalse
                RetryFor\t60
                Later\t1
                """
            )
        )
        #expect(report.path == "/s.json" && report.holdsDownloads && report.mistakes.isEmpty)
        #expect(report.notes == ["there is no setting Later"])
        #expect(
            report.values == [
                .proxy: .text(nil), .whenDoneCommand: .words([]), .noProxy: .text("a,b"),
                .notifications: .flag(false), .retryFor: .number(60),
            ]
        )
    }
}
