// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownSettings
import iDownState
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(2))) struct DesktopTests {
    @Test func `updates go on when the session bus returns`() async throws {
        try await withTemporaryFolder { folder in
            let socket = folder + "/bus"
            let feed = DesktopFeed()
            let desktop = Desktop(
                feed: feed,
                host: RecordingHost(),
                settings: .watchingPower,
                session: nil,
                system: .address("unix:path=/nonexistent"),
                updateInterval: .milliseconds(20),
                log: .quiet
            )
            let running = Task { await desktop.run() }
            for _ in 0..<2 {
                let bus = try await PrivateBus.start(socket: socket)
                let connection = try await Connection.open(.address(bus.address))
                let log = try await SignalLog(
                    MatchRule(interface: LauncherEntry.update.interface, member: "Update"),
                    on: connection
                )
                // Behind the rule: what has not changed is sent once only.
                desktop.use(try await Connection.open(.address(bus.address)))
                try await soon("the desktop to be on the bus") {
                    feed.changed(.sample("1", .downloading, bytes: 1, total: 2))
                    return log.count > 0
                }
                await connection.close()
                await bus.kill()
                await bus.stop()
                unlink(socket)
            }
            running.cancel()
            try await within("the end") { await running.value }
        }
    }
}
