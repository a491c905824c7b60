// SPDX-License-Identifier: Apache-2.0

import DBus

/// Follows the services of the system bus: NetworkManager and logind.
struct SystemWatch: Sendable {
    let connection: Connection
    let monitor: ConditionMonitor
    let host: any DesktopHost
    /// How long a service's last report stays valid after the service has stopped.
    let grace: Duration

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        await withTaskGroup { group in
            group.addTask { await followNetwork() }
            group.addTask { await SleepWatch(connection, host: host).follow() }
            group.addTask { await connection.waitUntilClosed() }
            await group.waitForAll()
        }
        await monitor.forgetSystemServices()
    }

    private func followNetwork() async {
        let manager = Proxy(
            optional: connection,
            "org.freedesktop.NetworkManager",
            "/org/freedesktop/NetworkManager",
            "org.freedesktop.NetworkManager"
        )
        let isReady: @Sendable ([String: Value]) -> Bool = { $0["Startup"] != .boolean(true) }
        await manager.followProperties(grace: grace, isReady: isReady) { [monitor] properties in
            let status = NetworkStatus(networkManager: properties)
            await monitor.update(.network) { $0.networkManager = status }
        }
    }
}

/// The network's condition as one service reports it.
struct NetworkStatus: Hashable, Sendable {
    var isCaptive = false
    var isMetered = false
    /// Whether it is not known yet whether a captive portal is in the way.
    var isUncertain = false
}

extension NetworkStatus {
    /// Reads the properties of `org.freedesktop.NetworkManager`; nil where there are none.
    ///
    /// NMConnectivityState 2 is a captive portal. It is 1 (none) or 0 (unknown) until NetworkManager
    /// has looked for one, and stays so where that check is turned off. NMMetered 1 is yes, and 3 is
    /// a guess that says yes. The property State is not used: it says "offline" where links are
    /// managed by other programs, and the kernel knows better.
    init?(networkManager properties: [String: Value]) {
        guard !properties.isEmpty else { return nil }
        isCaptive = properties["Connectivity"] == .uint32(2)
        let check = properties["ConnectivityCheckEnabled"]
        isUncertain =
            switch properties["Connectivity"] {
            case .uint32(1): check != .boolean(false)
            case .uint32(0): check == .boolean(true)
            default: false
            }
        isMetered = [.uint32(1), .uint32(3)].contains(properties["Metered"])
    }
}
