// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

struct SettingNameTests {
    @Test(arguments: ServiceSetting.allCases)
    func `a setting is found by its own name and by its name on the bus`(setting: ServiceSetting) {
        #expect(SettingName.setting(SettingName.text(setting)) == setting)
        #expect(SettingName.setting(setting.rawValue) == setting)
        #expect(SettingName.content("", of: setting) == nil)
    }

    @Test func `values are read and written with their units`() {
        let values: [(ServiceSetting, String, ServiceSetting.Content, String)] = [
            (.maxConcurrentDownloads, "64", .count(64), "64"),
            (.speedLimit, "1.5GiB/s", .rate(3 << 29), "1536M"),
            (.speedLimit, "off", .rate(0), "off"),
            (.keepCompleted, "2w", .count(14), "14d"),
            (.keepCompleted, "forever", .count(0), "forever"),
            (.holdOnMetered, "yes", .flag(true), "on"),
            (.holdOnLowBattery, "off", .flag(false), "off"),
            (.downloadDirectory, "/a b", .path("/a b"), "/a b"),
        ]
        for (setting, text, content, shown) in values {
            #expect(SettingName.content(text, of: setting) == content)
            #expect(SettingName.text(of: content, setting) == shown)
        }
        #expect(SettingName.content("65", of: .maxConcurrentDownloads) == nil)
        #expect(SettingName.content("0", of: .maxConnectionsPerDownload) == nil)
        #expect(SettingName.content("maybe", of: .holdOnMetered) == nil)
    }
}
