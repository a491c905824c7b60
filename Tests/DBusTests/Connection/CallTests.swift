// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import DBus

extension Connection {
    /// Returns the answer of the bus, after it has certainly come: answers of the bus keep their order.
    fileprivate func answerBeforeWait() async throws -> Result<WireReader, BusError> {
        let bus: BusName = "org.freedesktop.DBus"
        let message = try Message(call: bus, "/", "org.freedesktop.DBus", "GetId", libdbus: libdbus)
        let id = try send(message, timeout: .seconds(10))
        _ = try await call(bus, "/", "org.freedesktop.DBus", "GetId")
        return await answer(to: id)
    }
}

@Suite struct CallTests {
    @Test func `an answer that comes before anybody waits for it is kept`() async throws {
        try await withServiceAndClient { _, client, _ in
            _ = try await client.answerBeforeWait().get()
        }
    }

    /// A method that reports its start and never ends by itself.
    private func hanging(_ report: AsyncStream<Void>.Continuation) -> Interface {
        Interface(
            sampleInterface,
            [
                .method("Hang") { (_: Call) async throws in
                    report.yield()
                    try await Task.sleep(for: .seconds(3600))
                }
            ]
        )
    }

    @Test func `a call without an answer ends by its timeout`() async throws {
        let (_, report) = AsyncStream<Void>.makeStream()
        try await withServiceAndClient { service, client, _ in
            try await service.export([hanging(report)], at: samplePath)
            let name = await service.uniqueName
            let error = await #expect(throws: BusError.self) {
                try await client.call(
                    name,
                    samplePath,
                    sampleInterface,
                    "Hang",
                    timeout: .milliseconds(20)
                )
            }
            #expect(error?.name == "org.freedesktop.DBus.Error.NoReply")
        }
    }

    @Test func `cancelling a task gives its call up`() async throws {
        let (started, report) = AsyncStream<Void>.makeStream()
        try await withServiceAndClient { service, client, _ in
            try await service.export([hanging(report)], at: samplePath)
            let name = await service.uniqueName
            let call = Task {
                try await client.call(name, samplePath, sampleInterface, "Hang")
            }
            _ = await started.first { true }
            call.cancel()
            let error = await #expect(throws: BusError.self) { try await call.value }
            #expect(error?.name == "org.freedesktop.DBus.Error.NoReply")
        }
    }

    @Test func `a task cancelled before its call gives it up as well`() async throws {
        let (_, report) = AsyncStream<Void>.makeStream()
        try await withServiceAndClient { service, client, _ in
            try await service.export([hanging(report)], at: samplePath)
            let name = await service.uniqueName
            let call = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.call(name, samplePath, sampleInterface, "Hang")
            }
            await #expect(throws: BusError.self) { try await call.value }
        }
    }

    @Test func `a name that nobody owns is an error of the bus`() async throws {
        try await withServiceAndClient { _, client, _ in
            let error = await #expect(throws: BusError.self) {
                try await client.call("org.example.Nobody", "/", "a.b", "C")
            }
            #expect(error?.name == "org.freedesktop.DBus.Error.ServiceUnknown")
        }
    }

    @Test func `a service is started for a call unless the call says no`() async throws {
        let folder = try TemporaryServiceFolder(name: "org.example.Started", program: "/bin/false")
        defer { folder.remove() }
        try await withPrivateBus(serviceFolders: [folder.path]) { bus in
            let client = try await Connection.open(.address(bus.address))
            let refused = await #expect(throws: BusError.self) {
                try await client.call("org.example.Started", "/", "a.b", "C", startService: false)
            }
            #expect(refused?.name != "org.freedesktop.DBus.Error.Spawn.ChildExited")
            let tried = await #expect(throws: BusError.self) {
                try await client.call("org.example.Started", "/", "a.b", "C")
            }
            #expect(tried?.name == "org.freedesktop.DBus.Error.Spawn.ChildExited")
            await client.close()
        }
    }

    @Test func `a reply of other types than asked for is an error`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let error = await #expect(throws: BusError.self) {
                try await proxy.call("Join", "a", "b", returning: UInt32.self)
            }
            #expect(error?.name == "org.freedesktop.DBus.Error.InconsistentMessage")
            await #expect(throws: BusError.self) {
                try await proxy.call("Nothing", returning: String.self)
            }
        }
    }
}
