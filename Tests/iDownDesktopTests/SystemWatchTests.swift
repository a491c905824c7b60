// SPDX-License-Identifier: Apache-2.0

import DBus
import Synchronization
import Testing
import iDownSettings
import iDownTesting

@testable import iDownDesktop

/// The services of the system bus, played by dbusmock.
@Suite(.timeLimit(.minutes(2))) struct SystemWatchTests {
    @Test func `NetworkManager is followed from its start until it stops`()
        async throws
    {
        try await withDesktop { scene in
            try await within("the initial conditions") {
                await scene.desktop.waitForInitialConditions(within: .seconds(60))
            }
            try await scene.bus.withNetworkManager(scene.connection) { mock in
                try await mock.update(["Metered": .uint32(1)])
                try await scene.host.wait(for: "is [metered]")
                try await mock.update(["Connectivity": .uint32(2)])
                try await scene.host.wait(for: "is [captive metered]")
                try await mock.update(["Metered": .uint32(2), "Connectivity": .uint32(4)])
                try await scene.host.wait(for: "is []")
                try await mock.update(["Metered": .uint32(3)])
                try await soon("a guess to count") { scene.host.all.last == "is [metered]" }
            }
            try await soon("it to be forgotten") { scene.host.all.last == "is []" }
        }
    }

    @Test func `whether a portal is in the way is uncertain until NetworkManager has looked`()
        async throws
    {
        try await withDesktop { scene in
            try await scene.bus.withNetworkManager(scene.connection) { mock in
                try await mock.update(["Metered": .uint32(1), "Connectivity": .uint32(1)])
                try await scene.host.wait(for: "is [metered]")
                let desktop = scene.desktop
                let wait = Task { await desktop.waitUntilNetworkIsCertain() }
                try await mock.update(["Connectivity": .uint32(2)])
                try await within("the word") { await wait.value }
                // The hold comes first.
                #expect(scene.host.all.last == "is [captive metered]")
            }
            // Without NetworkManager nobody will look.
            try await within("the end") { await scene.desktop.waitUntilNetworkIsCertain() }
        }
    }

    @Test func `a low battery is reported, and mains power too`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withUPower(scene.connection) { mock in
                let values: [Value] = [
                    .uint32(2), .uint32(2), .double(9), .double(5), .double(50), .double(1),
                    .int64(600), .int64(0), .boolean(true), .string("battery"), .uint32(3),
                ]
                try await mock.call("SetupDisplayDevice", values)
                try await mock.update(["OnBattery": .boolean(true)])
                try await scene.host.wait(for: "is [low]")
                let mark = scene.host.all.count
                try await mock.update(["OnBattery": .boolean(false)])
                try await scene.host.wait(for: "is []", after: mark)
            }
        }
    }

    @Test func `the power saver profile counts as a low battery`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withPowerProfiles(scene.connection) { mock in
                try await mock.update(["ActiveProfile": .string("power-saver")])
                try await scene.host.wait(for: "is [low]")
                let mark = scene.host.all.count
                try await mock.update(["ActiveProfile": .string("performance")])
                try await scene.host.wait(for: "is []", after: mark)
            }
        }
    }

    @Test func `the power services are asked only if downloads wait for power`() async throws {
        var settings = Settings.watchingPower
        settings.holdsOnLowBattery = false
        try await withDesktop(settings: settings) { scene in
            try await scene.bus.withPowerProfiles(scene.connection) { mock in
                try await mock.update(["ActiveProfile": .string("power-saver")])
                try await within("the initial conditions") {
                    await scene.desktop.waitForInitialConditions(within: .seconds(60))
                }
                let asked = try await mock.calls(of: "GetAll")
                #expect(asked.isEmpty && !scene.host.all.contains("is [low]"))
                settings.holdsOnLowBattery = true
                scene.desktop.apply(settings)
                try await scene.host.wait(for: "is [low]")
                let mark = scene.host.all.count
                settings.holdsOnLowBattery = false
                scene.desktop.apply(settings)
                try await scene.host.wait(for: "is []", after: mark)
                settings.holdsOnLowBattery = true
                scene.desktop.apply(settings)
                try await scene.host.wait(for: "is [low]", after: mark)
            }
        }
    }

    @Test func `the initial conditions include what holds at the start`() async throws {
        try await withPrivateBus { bus in
            let connection = try await Connection.open(.address(bus.address))
            try await bus.withNetworkManager(connection) { mock in
                try await mock.update(["Metered": .uint32(1)])
                let host = RecordingHost()
                let desktop = Desktop(
                    feed: DesktopFeed(),
                    host: host,
                    settings: .watchingPower,
                    session: nil,
                    system: .address(bus.address),
                    log: .quiet
                )
                let running = Task { await desktop.run() }
                await desktop.waitForInitialConditions(within: .seconds(60))
                #expect(host.all.filter { $0 != "wake" } == ["is [metered]"])
                running.cancel()
                await running.value
            }
            await connection.close()
        }
    }

    @Test func `the wait for the initial conditions ends even if NetworkManager never answers`()
        async throws
    {
        try await withPrivateBus { bus in
            let connection = try await Connection.open(.address(bus.address))
            let gate = FaultServer.Gate()
            defer { gate.open() }
            try await connection.export(
                [
                    Interface(
                        "org.freedesktop.NetworkManager",
                        [
                            .property(
                                "Metered",
                                get: { (_: Call) async throws -> UInt32 in
                                    await gate.waitUntilOpen()
                                    return 1
                                }
                            )
                        ]
                    )
                ],
                at: "/org/freedesktop/NetworkManager"
            )
            _ = try await connection.requestName("org.freedesktop.NetworkManager")
            let desktop = Desktop(
                feed: DesktopFeed(),
                host: RecordingHost(),
                settings: .watchingPower,
                session: nil,
                system: .address(bus.address),
                log: .quiet
            )
            let running = Task { await desktop.run() }
            await desktop.waitForInitialConditions(within: .milliseconds(50))
            #expect(!gate.isOpen)
            running.cancel()
            try await within("the end") { await running.value }
            await connection.close()
        }
    }

    @Test
    func `NetworkManager's report stays valid while it does not answer, and it is queried again`()
        async throws
    {
        try await withDesktop { scene in
            let isSilent = Mutex(false)
            let asked = CallLog()
            let path: ObjectPath = "/org/freedesktop/NetworkManager"
            let manager: InterfaceName = "org.freedesktop.NetworkManager"
            try await scene.connection.export(
                [
                    Interface(
                        manager,
                        [
                            .property(
                                "Metered",
                                get: { (_: Call) async throws -> UInt32 in
                                    guard isSilent.withLock({ $0 }) else { return 1 }
                                    asked.keep("in vain")
                                    throw BusError.noReply("as from the bus when a service is slow")
                                }
                            ),
                            .property(
                                "Connectivity",
                                get: { (_: Call) async throws -> UInt32 in
                                    asked.all.isEmpty ? 4 : 2
                                }
                            ),
                        ]
                    )
                ],
                at: path
            )
            _ = try await scene.connection.requestName("org.freedesktop.NetworkManager")
            try await scene.host.wait(for: "is [metered]")
            isSilent.withLock { $0 = true }
            try await scene.connection.emit(
                Interface.propertiesChanged,
                at: path,
                manager.rawValue,
                [:],
                ["Metered"]
            )
            // Only the missing answer leads to another query; no signal does.
            try await soon("it to be asked again") { asked.all.count >= 3 }
            isSilent.withLock { $0 = false }
            try await scene.host.wait(for: "is [captive metered]")
            #expect(
                scene.host.all.filter { $0.hasPrefix("is") } == [
                    "is [metered]", "is [captive metered]",
                ]
            )
        }
    }

    @Test func `without a bus the wait for the initial conditions ends at once`() async throws {
        let desktop = Desktop(
            feed: DesktopFeed(),
            host: RecordingHost(),
            settings: .watchingPower,
            session: nil,
            system: .address("unix:path=/nonexistent"),
            log: .quiet
        )
        let running = Task { await desktop.run() }
        try await within("the initial conditions") {
            await desktop.waitForInitialConditions(within: .seconds(600))
        }
        running.cancel()
        try await within("the end") { await running.value }
    }

    /// The network as the portal tells it where NetworkManager does not run.
    private func exportPortal(on connection: Connection) async throws {
        try await connection.export(
            [
                Interface(
                    "org.freedesktop.portal.NetworkMonitor",
                    [
                        .method("GetMetered", out: ["metered"]) { (_: Call) in true },
                        .method("GetConnectivity", out: ["connectivity"]) { (_: Call) in
                            UInt32(3)
                        },
                    ]
                )
            ],
            at: "/org/freedesktop/portal/desktop"
        )
        _ = try await connection.requestName("org.freedesktop.portal.Desktop")
    }

    @Test func `the portal is heard before the first download may start`() async throws {
        try await withPrivateBus { bus in
            let connection = try await Connection.open(.address(bus.address))
            try await exportPortal(on: connection)
            let session = try await Connection.open(.address(bus.address))
            let host = RecordingHost()
            let desktop = Desktop(
                feed: DesktopFeed(),
                host: host,
                settings: .watchingPower,
                session: session,
                system: .address("unix:path=/nonexistent"),
                log: .quiet
            )
            let running = Task { await desktop.run() }
            await desktop.waitForInitialConditions(within: .seconds(60))
            #expect(host.all == ["is [captive metered]"])
            running.cancel()
            try await within("the end") { await running.value }
            await session.close()
            await connection.close()
        }
    }

    @Test func `the portal's report counts while NetworkManager does not run`() async throws {
        try await withDesktop { scene in
            try await exportPortal(on: scene.connection)
            try await scene.host.wait(for: "is [captive metered]")
            try await scene.bus.withNetworkManager(scene.connection) { mock in
                try await mock.update(["Metered": .uint32(2)])
                try await scene.host.wait(for: "is []")
            }
            try await soon("the portal's report to count again") {
                scene.host.all.last == "is [captive metered]"
            }
        }
    }
}
