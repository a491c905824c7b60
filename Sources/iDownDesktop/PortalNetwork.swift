// SPDX-License-Identifier: Apache-2.0

import DBus

/// Follows the network as the desktop portal reports it, for systems without NetworkManager:
/// `org.freedesktop.portal.NetworkMonitor`.
struct PortalNetwork: Sendable {
    private let monitor: ConditionMonitor
    private let portal: Proxy
    private let grace: Duration

    /// - Parameters:
    ///   - connection: The connection to the session bus.
    ///   - monitor: Receives the network's condition.
    ///   - grace: How long the portal's last report stays valid after the portal has stopped.
    init(_ connection: Connection, monitor: ConditionMonitor, grace: Duration) {
        self.monitor = monitor
        self.grace = grace
        portal = Proxy(
            optional: connection,
            "org.freedesktop.portal.Desktop",
            "/org/freedesktop/portal/desktop",
            "org.freedesktop.portal.NetworkMonitor"
        )
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        if let changes = try? await portal.events("changed", ofAllObjects: true) {
            await ServiceAnswer.follow(changes, grace: grace, query: { await status() }) {
                [monitor] status in
                await monitor.update(.portal) { $0.portal = status }
            }
        }
        await monitor.update(.portal) { $0.portal = nil }
    }

    private func status() async -> ServiceAnswer<NetworkStatus> {
        do throws(BusError) {
            let isMetered = try await portal.call("GetMetered", returning: Bool.self)
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
            return try await portal.call("GetConnectivity", returning: UInt32.self) == 3
        } catch {
            guard !error.isNoReply else { throw error }
            return false
        }
    }
}
