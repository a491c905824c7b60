// SPDX-License-Identifier: Apache-2.0

import DBus

/// Follows the battery and the power profile, while downloads are to wait for power.
struct PowerWatch: Sendable {
    let connection: Connection
    let monitor: ConditionMonitor
    /// How long a service's last report stays valid after the service has stopped.
    let grace: Duration

    private static let power: BusName = "org.freedesktop.UPower"
    /// The power profile service under its current name, and under its first one.
    private static let profiles: [(BusName, ObjectPath, InterfaceName)] = [
        (
            "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles",
            "org.freedesktop.UPower.PowerProfiles"
        ),
        ("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles", "net.hadess.PowerProfiles"),
    ]

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        await withTaskGroup { group in
            group.addTask {
                await follow(Self.power, "/org/freedesktop/UPower", "org.freedesktop.UPower") {
                    [monitor] properties in
                    await monitor.update(.power) { $0.power.update(service: properties) }
                }
            }
            group.addTask {
                let battery: ObjectPath = "/org/freedesktop/UPower/devices/DisplayDevice"
                await follow(Self.power, battery, "org.freedesktop.UPower.Device") {
                    [monitor] properties in
                    await monitor.update(.display) { $0.power.update(device: properties) }
                }
            }
            for (name, path, interface) in Self.profiles {
                group.addTask {
                    await follow(name, path, interface) { [monitor] properties in
                        let isSaving = properties["ActiveProfile"] == .string("power-saver")
                        await monitor.update(.profile) { reports in
                            reports.powerSaverServices.remove(name)
                            if isSaving { reports.powerSaverServices.insert(name) }
                        }
                    }
                }
            }
            await group.waitForAll()
        }
    }

    private func follow(
        _ name: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ report: @escaping @Sendable ([String: Value]) async -> Void
    ) async {
        let service = Proxy(optional: connection, name, path, interface)
        await service.followProperties(grace: grace, report)
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
