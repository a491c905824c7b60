// SPDX-License-Identifier: Apache-2.0

import DBus

/// What UPower says of the battery (its D-Bus reference, `org.freedesktop.UPower` and `.Device`).
struct PowerStatus: Hashable, Sendable {
    /// Below this many percent a battery is low whose service has no opinion of its own.
    static let lowPercentage = 20.0

    var isOnBattery = false
    var isLow = false

    /// Takes the properties of the service.
    mutating func take(service properties: [String: Value]) {
        isOnBattery = properties["OnBattery"] == .boolean(true)
    }

    /// Takes the properties of the display device, which stands for all batteries.
    mutating func take(device properties: [String: Value]) {
        switch properties["WarningLevel"] {
        // Low, critical, action.
        case .uint32(3...5): isLow = true
        // None, or of a UPS: discharging.
        case .uint32(1), .uint32(2): isLow = false
        default:
            guard case .double(let percentage) = properties["Percentage"],
                properties["IsPresent"] != .boolean(false)
            else {
                isLow = false
                return
            }
            isLow = percentage < Self.lowPercentage
        }
    }

    var isBatteryLow: Bool { isOnBattery && isLow }
}
