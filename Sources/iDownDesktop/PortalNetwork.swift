// SPDX-License-Identifier: Apache-2.0

import DBus

/// Follows what the desktop's portal says of the network, for where there is no NetworkManager:
/// `org.freedesktop.portal.NetworkMonitor`.
struct PortalNetwork: Sendable {
    private let board: ConditionBoard
    private let portal: BusService

    init(_ connection: Connection, board: ConditionBoard) {
        self.board = board
        portal = BusService(
            connection,
            "org.freedesktop.portal.Desktop",
            "/org/freedesktop/portal/desktop",
            "org.freedesktop.portal.NetworkMonitor"
        )
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        let (pokes, poke) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        await withTaskGroup { group in
            group.addTask { await portal.followSignals("changed") { _ in poke.yield() } }
            group.addTask {
                await portal.followOwner { _ in poke.yield() }
                poke.finish()
            }
            for await _ in pokes { await board.take(portal: await status()) }
            group.cancelAll()
        }
        await board.take(portal: nil)
    }

    private func status() async -> NetworkStatus? {
        guard await portal.isThere,
            case .boolean(let isMetered)? = try? await portal.call("GetMetered").first
        else { return nil }
        // 3: a captive portal.
        let connectivity = try? await portal.call("GetConnectivity").first
        return NetworkStatus(isCaptive: connectivity == .uint32(3), isMetered: isMetered)
    }
}
