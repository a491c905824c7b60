// SPDX-License-Identifier: Apache-2.0

import DBus

/// Follows the battery and the power profile, while downloads are to wait for power.
struct PowerWatch: Sendable {
    let connection: Connection
    let monitor: ConditionMonitor
    /// How long a service's last report stays valid after the service has stopped.
    let grace: Duration

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        await withTaskGroup { group in
            group.addTask { await followPower() }
            group.addTask { await followBattery() }
            for (name, path, interface) in Self.profiles {
                group.addTask { await followProfile(name, path, interface) }
            }
            await group.waitForAll()
        }
    }

    private func followPower() async {
        let power = Proxy(
            optional: connection,
            "org.freedesktop.UPower",
            "/org/freedesktop/UPower",
            "org.freedesktop.UPower"
        )
        await power.followProperties(grace: grace) { [monitor] properties in
            await monitor.updatePower(.power) { $0.update(service: properties) }
        }
    }

    private func followBattery() async {
        let battery = Proxy(
            optional: connection,
            "org.freedesktop.UPower",
            "/org/freedesktop/UPower/devices/DisplayDevice",
            "org.freedesktop.UPower.Device"
        )
        await battery.followProperties(grace: grace) { [monitor] properties in
            await monitor.updatePower(.display) { $0.update(device: properties) }
        }
    }

    /// The power profile service under its current name, and under its first one.
    private static let profiles: [(BusName, ObjectPath, InterfaceName)] = [
        (
            "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles",
            "org.freedesktop.UPower.PowerProfiles"
        ),
        ("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles", "net.hadess.PowerProfiles"),
    ]

    private func followProfile(
        _ name: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName
    ) async {
        let profiles = Proxy(optional: connection, name, path, interface)
        await profiles.followProperties(grace: grace) { [monitor] properties in
            await monitor.update(
                powerSaverService: name.rawValue,
                isSaving: properties["ActiveProfile"] == .string("power-saver")
            )
        }
    }
}

/// The battery's state as UPower reports it (D-Bus reference of `org.freedesktop.UPower` and
/// `.Device`).
struct PowerStatus: Hashable, Sendable {
    /// The percentage below which a battery counts as low where UPower reports no warning level.
    static let lowPercentage = 20.0

    var isOnBattery = false
    var isLow = false

    /// Takes in the properties of UPower itself.
    mutating func update(service properties: [String: Value]) {
        isOnBattery = properties["OnBattery"] == .boolean(true)
    }

    /// Takes in the properties of the display device, which represents all batteries together.
    mutating func update(device properties: [String: Value]) {
        switch properties["WarningLevel"] {
        // The levels low, critical and action.
        case .uint32(3...5): isLow = true
        // The levels none, and discharging (of a UPS).
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
