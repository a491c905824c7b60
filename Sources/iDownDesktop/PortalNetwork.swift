// SPDX-License-Identifier: Apache-2.0

import DBus

/// Follows the network as the desktop portal reports it, for systems without NetworkManager:
/// `org.freedesktop.portal.NetworkMonitor`.
struct PortalNetwork: Sendable {
    private let monitor: ConditionMonitor
    private let portal: BusService
    private let grace: Duration

    /// - Parameters:
    ///   - connection: to the session bus.
    ///   - monitor: receives the network's condition.
    ///   - grace: how long the portal's last report stays valid after the portal has stopped.
    init(_ connection: Connection, monitor: ConditionMonitor, grace: Duration) {
        self.monitor = monitor
        self.grace = grace
        portal = BusService(
            connection,
            "org.freedesktop.portal.Desktop",
            "/org/freedesktop/portal/desktop",
            "org.freedesktop.portal.NetworkMonitor"
        )
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        let rule = MatchRule(
            sender: portal.name,
            interface: portal.interface,
            member: "changed"
        )
        await portal.follow(rule, grace: grace, query: { await status() }) { [monitor] status in
            await monitor.update(portal: status)
        }
        await monitor.update(portal: nil)
    }

    private func status() async -> ServiceAnswer<NetworkStatus> {
        do throws(BusError) {
            _ = try await portal.connection.owner(of: portal.name)
            guard case .boolean(let isMetered)? = try await portal.call("GetMetered").first else {
                return .unavailable
            }
            let isCaptive = try await hasCaptivePortal()
            return .value(NetworkStatus(isCaptive: isCaptive, isMetered: isMetered))
        } catch {
            return ServiceAnswer(error)
        }
    }

    /// Whether there is a captive portal; false where the service cannot tell.
    private func hasCaptivePortal() async throws(BusError) -> Bool {
        do throws(BusError) {
            // 3 means a captive portal.
            return try await portal.call("GetConnectivity").first == .uint32(3)
        } catch {
            guard !error.isNoReply else { throw error }
            return false
        }
    }
}
