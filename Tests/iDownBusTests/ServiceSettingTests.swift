// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus

struct ServiceSettingTests {
    @Test(arguments: ServiceSetting.allCases)
    func `a setting's name is a member's`(setting: ServiceSetting) throws {
        #expect(try MemberName(validating: setting.rawValue).rawValue == setting.rawValue)
    }
}
