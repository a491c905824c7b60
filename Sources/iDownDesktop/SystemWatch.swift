// SPDX-License-Identifier: Apache-2.0

import DBus

/// Follows the services of the system's bus: the network and sleep.
struct SystemWatch: Sendable {
    let connection: Connection
    let board: ConditionBoard
    let host: any DesktopHost
    /// What a service said stands for so long after it has gone.
    let grace: Duration

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        await withTaskGroup { group in
            group.addTask { await followNetwork() }
            group.addTask { await SleepWatch(connection, host: host).follow() }
            group.addTask { await connection.waitUntilClosed() }
            await group.waitForAll()
        }
        await board.forgetSystem()
    }

    private func followNetwork() async {
        let manager = BusService(
            connection,
            "org.freedesktop.NetworkManager",
            "/org/freedesktop/NetworkManager",
            "org.freedesktop.NetworkManager"
        )
        let isReady: @Sendable ([String: Value]) -> Bool = { $0["Startup"] != .boolean(true) }
        await manager.followProperties(grace: grace, isReady: isReady) { [board] properties in
            await board.take(networkManager: NetworkStatus(networkManager: properties))
        }
    }
}
