// SPDX-License-Identifier: Apache-2.0

import DBus

/// Follows the battery and the wish to save power, for as long as downloads are to heed them.
struct PowerWatch: Sendable {
    let connection: Connection
    let board: ConditionBoard
    /// What a service said stands for so long after it has gone.
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
        let power = BusService(
            connection,
            "org.freedesktop.UPower",
            "/org/freedesktop/UPower",
            "org.freedesktop.UPower"
        )
        await power.followProperties(grace: grace) { [board] properties in
            await board.change(.power) { $0.take(service: properties) }
        }
    }

    private func followBattery() async {
        let battery = BusService(
            connection,
            "org.freedesktop.UPower",
            "/org/freedesktop/UPower/devices/DisplayDevice",
            "org.freedesktop.UPower.Device"
        )
        await battery.followProperties(grace: grace) { [board] properties in
            await board.change(.display) { $0.take(device: properties) }
        }
    }

    /// The service's name of today, and the one that it had first.
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
        let profiles = BusService(connection, name, path, interface)
        await profiles.followProperties(grace: grace) { [board] properties in
            await board.take(
                saver: name.rawValue,
                isSaving: properties["ActiveProfile"] == .string("power-saver")
            )
        }
    }
}
