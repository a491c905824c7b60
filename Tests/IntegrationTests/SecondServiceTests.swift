// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// Only one service has the list of tasks.
@Suite(.timeLimit(.minutes(5)))
struct SecondServiceTests {
    @Test func `a second service on the same bus says who runs and ends with 0`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/x") { $0.paused = true }
            let before = try await Traces.of(service)
            let owner = try #require(
                try await service.connection.owner(of: ServiceUnderTest.busName)
            )
            let second = try await service.launch()
            let status = try await within("the second service to end") {
                await second.waitForExit()
            }
            #expect(status == .exited(0))
            #expect(second.standardError.contains(owner.rawValue), "\(second.standardError)")
            #expect(try await service.connection.owner(of: ServiceUnderTest.busName) == owner)
            #expect(try await Traces.of(service) == before)
            #expect(try await service.state(of: id) == "paused")
        }
    }

    /// Takes the ten seconds that an older service may need to end.
    @Test func `a second service on another bus waits for the lock and ends with 75`() async throws
    {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/x") { $0.paused = true }
            let before = try await Traces.of(service)
            try await withPrivateBus { bus in
                let second = try await service.launch(
                    environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
                )
                let status = try await within("the second service to give up") {
                    await second.waitForExit()
                }
                #expect(status == .exited(75))
                #expect(second.standardError.contains("lock"), "\(second.standardError)")
            }
            #expect(try await Traces.of(service) == before)
        }
    }

    @Test func `a service that waits for the lock takes over when it is free`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/x") { $0.paused = true }
            try await withPrivateBus { bus in
                let second = try await service.launch(
                    environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
                )
                let other = try await ManagerClient.connect(to: .address(bus.address))
                var presence = try await other.presence().makeAsyncIterator()
                _ = try await service.client.quit()
                #expect(try await presence.next() == true)
                #expect(try await other.getTask(id).state == .paused)
                await other.close()
                await second.stop()
            }
        }
    }

    @Test func `without a bus the service says so and ends with 69`() async throws {
        try await withService(started: false) { service in
            let child = try await service.launch(
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(service.home.path)/none"]
            )
            let status = try await within("the service to end") { await child.waitForExit() }
            #expect(status == .exited(69))
            #expect(child.standardError.contains("bus"), "\(child.standardError)")
            #expect(!TestFile.exists(service.home.store))
        }
    }
}
