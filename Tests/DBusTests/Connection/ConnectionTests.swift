// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite struct ConnectionTests {
    @Test func `an address where nobody listens is an error`() async throws {
        await #expect(throws: BusError.self) {
            try await Connection.open(.address("unix:path=/nonexistent/bus"))
        }
        await #expect(throws: BusError.self) { try await Connection.open(.address("nonsense")) }
        await #expect(throws: BusError.self) { try await Connection.open(.address("unix:\0")) }
    }

    @Test func `the bus knows the connection by its unique name`() async throws {
        try await withServiceAndClient { service, client, _ in
            let name = await service.uniqueName
            #expect(name.isUnique)
            let owner = try await client.owner(of: name)
            #expect(owner == name)
        }
    }

    @Test func `a name has one owner at a time`() async throws {
        try await withServiceAndClient { service, client, _ in
            let name: BusName = "org.example.Name"
            #expect(try await service.requestName(name))
            #expect(try await service.requestName(name))
            #expect(try await !client.requestName(name))
            let owner = try await client.owner(of: name)
            #expect(owner == (await service.uniqueName))
            try await service.releaseName(name)
            #expect(try await client.requestName(name))
            try await service.releaseName(name)
        }
    }

    @Test func `a malformed name is refused, and not said to have no owner`() async throws {
        try await withServiceAndClient { _, client, _ in
            for name: BusName in ["x", "org..example", ""] {
                let error = await #expect(throws: BusError.self) {
                    try await client.owner(of: name)
                }
                #expect(error?.name == "org.freedesktop.DBus.Error.InvalidArgs", "\(name)")
            }
        }
    }

    @Test func `a name is replaced only where its owner allows it`() async throws {
        try await withServiceAndClient { service, client, _ in
            let name: BusName = "org.example.Name"
            _ = try await service.requestName(name, allowReplacement: true)
            #expect(try await client.requestName(name, replaceExisting: true))
            #expect(try await !service.requestName(name, replaceExisting: true))
        }
    }

    @Test func `a closed connection refuses everything and aborts nothing`() async throws {
        try await withServiceAndClient { service, client, _ in
            await client.close()
            await client.close()
            await client.waitUntilClosed()
            await client.flush()
            let name = await service.uniqueName
            for refused in [
                await #expect(throws: BusError.self) {
                    _ = try await client.call(name, "/", "a.b", "C")
                },
                await #expect(throws: BusError.self) {
                    try await client.emit("a.b", "C", at: "/", [])
                },
                await #expect(throws: BusError.self) { _ = try await client.signals(MatchRule()) },
                await #expect(throws: BusError.self) { try await client.export([], at: "/a") },
            ] {
                #expect(refused?.isDisconnected == true)
            }
        }
    }

    @Test func `a path is exported once`() async throws {
        try await withServiceAndClient { service, _, _ in
            try await service.export([sample()], at: samplePath)
            let error = await #expect(throws: BusError.self) {
                try await service.export([sample()], at: samplePath)
            }
            #expect(error?.name == "org.freedesktop.DBus.Error.ObjectPathInUse")
        }
    }

    @Test func `waiting for the end can be cancelled`() async throws {
        try await withServiceAndClient { service, _, _ in
            let waiting = Task.immediate { await service.waitUntilClosed() }
            waiting.cancel()
            await waiting.value
            #expect(await service.isOpen)
        }
    }
}
