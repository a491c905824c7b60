// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@testable import iDownService

@Suite struct CallersTests {
    /// Runs `body` with a service that answers who called, and a client of it.
    private func withCallers(
        proc: String = "/proc",
        _ body: (Callers, Proxy) async throws -> Void
    ) async throws {
        try await withPrivateBus { bus in
            let service = try await Connection.open(.address(bus.address))
            let client = try await Connection.open(.address(bus.address))
            let callers = Callers(
                executor: service.executor,
                probe: CallerProbe(folder: proc)
            )
            let interface = Interface(
                "org.example.Who1",
                [
                    .method("Who", out: ["owner"]) { (call: Call) async throws -> String in
                        await callers.caller(of: call).owner ?? "program"
                    }
                ]
            )
            try await service.export([interface], at: "/org/example")
            let proxy = Proxy(client, await service.uniqueName, "/org/example", "org.example.Who1")
            try await body(callers, proxy)
            await client.close()
            await service.close()
        }
    }

    @Test func `a client is looked at once, however many of its calls come first`() async throws {
        try await withCallers { callers, proxy in
            let owners = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<500 {
                    group.addTask { try await proxy.call("Who", returning: String.self) }
                }
                return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(owners == ["program": 500])
            #expect(await callers.known == 1)
        }
    }

    @Test func `one that cannot be told is known by the bus and its connection`() async throws {
        try await withCallers(proc: "/nonexistent") { callers, proxy in
            let owner = try await proxy.call("Who", returning: String.self)
            let name = await proxy.connection.uniqueName.rawValue
            #expect(owner.hasPrefix("connection/"))
            #expect(owner.hasSuffix(name))
            #expect(owner.count > "connection/".count + name.count + 30)
            await callers.forgetAll()
            let again = try await proxy.call("Who", returning: String.self)
            #expect(again == owner)
        }
    }
}
