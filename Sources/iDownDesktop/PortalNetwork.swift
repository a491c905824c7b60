// SPDX-License-Identifier: Apache-2.0

import DBus

/// Follows what the desktop's portal says of the network, for where there is no NetworkManager:
/// `org.freedesktop.portal.NetworkMonitor`.
struct PortalNetwork: Sendable {
    private let board: ConditionBoard
    private let portal: BusService
    private let grace: Duration

    /// - Parameters:
    ///   - connection: to the session's bus.
    ///   - board: who is told.
    ///   - grace: what the portal said stands for so long after it has gone.
    init(_ connection: Connection, board: ConditionBoard, grace: Duration) {
        self.board = board
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
        await portal.follow(rule, grace: grace, asking: { await status() }) { [board] status in
            await board.take(portal: status)
        }
        await board.take(portal: nil)
    }

    private func status() async -> Finding<NetworkStatus> {
        do throws(BusError) {
            _ = try await portal.connection.owner(of: portal.name)
            guard case .boolean(let isMetered)? = try await portal.call("GetMetered").first else {
                return .nobody
            }
            let isCaptive = try await hasCaptivePortal()
            return .said(NetworkStatus(isCaptive: isCaptive, isMetered: isMetered))
        } catch {
            return Finding(error)
        }
    }

    /// Whether there is a captive portal; not where the service knows of no such thing.
    private func hasCaptivePortal() async throws(BusError) -> Bool {
        do throws(BusError) {
            // 3: a captive portal.
            return try await portal.call("GetConnectivity").first == .uint32(3)
        } catch {
            guard !error.isNoReply else { throw error }
            return false
        }
    }
}
