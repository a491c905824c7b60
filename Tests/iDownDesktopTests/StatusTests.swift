// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@testable import iDownDesktop

/// How the services' properties are read.
@Suite struct StatusTests {
    @Test(
        arguments: [
            (["Metered": .uint32(0)], false, false), (["Metered": .uint32(1)], true, false),
            (["Metered": .uint32(2)], false, false), (["Metered": .uint32(3)], true, false),
            (["Metered": .uint32(4)], false, false), (["Metered": .string("1")], false, false),
            (["Connectivity": .uint32(1)], false, false),
            (["Connectivity": .uint32(2)], false, true),
            (["Connectivity": .uint32(3)], false, false),
            (["Connectivity": .uint32(4), "Metered": .uint32(.max)], false, false),
            // State "disconnected" is ignored, since other programs may manage the links.
            (["State": .uint32(20), "Connectivity": .uint32(1)], false, false),
        ] as [([String: Value], Bool, Bool)]
    )
    func `NetworkManager reports a metered network and a captive portal`(
        properties: [String: Value],
        isMetered: Bool,
        isCaptive: Bool
    ) {
        let status = NetworkStatus(networkManager: properties)
        #expect(status?.isCaptive == isCaptive)
        #expect(status?.isMetered == isMetered)
    }

    @Test(
        arguments: [
            (["Connectivity": .uint32(1)], true), (["Connectivity": .uint32(0)], false),
            (["Connectivity": .uint32(0), "ConnectivityCheckEnabled": .boolean(true)], true),
            (["Connectivity": .uint32(1), "ConnectivityCheckEnabled": .boolean(false)], false),
            (["Connectivity": .uint32(2)], false), (["Connectivity": .uint32(4)], false),
        ] as [([String: Value], Bool)]
    )
    func `until NetworkManager has looked, a portal may be in the way`(
        properties: [String: Value],
        isUncertain: Bool
    ) {
        #expect(NetworkStatus(networkManager: properties)?.isUncertain == isUncertain)
    }

    @Test func `without properties NetworkManager's status is nil`() {
        #expect(NetworkStatus(networkManager: [:]) == nil)
    }

    @Test(
        arguments: [
            (["WarningLevel": .uint32(1), "Percentage": .double(5)], false),
            (["WarningLevel": .uint32(3), "Percentage": .double(50)], true),
            (["WarningLevel": .uint32(4)], true), (["WarningLevel": .uint32(5)], true),
            (["WarningLevel": .uint32(0), "Percentage": .double(19)], true),
            (["Percentage": .double(20)], false), (["Percentage": .double(-.infinity)], true),
            (["Percentage": .double(.nan)], false), (["Percentage": .uint32(1)], false),
            (["Percentage": .double(0), "IsPresent": .boolean(false)], false), ([:], false),
        ] as [([String: Value], Bool)]
    )
    func `a battery is low by its warning level, or else by its percentage`(
        properties: [String: Value],
        isLow: Bool
    ) {
        var status = PowerStatus()
        status.update(device: properties)
        #expect(!status.isBatteryLow, "a battery is not low on mains power")
        status.update(service: ["OnBattery": .boolean(true)])
        #expect(status.isBatteryLow == isLow)
        status.update(service: [:])
        #expect(!status.isBatteryLow)
    }
}
