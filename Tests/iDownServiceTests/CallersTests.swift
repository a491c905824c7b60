// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Synchronization
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
            let (arrivals, order) = (Order(), Order())
            let interface = Interface(
                "org.example.Who1",
                [
                    .method("Who", in: ["number"], out: ["owner", "place"]) {
                        (call: Call, number: UInt32) async throws -> (String, UInt32) in
                        let arrival = arrivals.take(number)
                        let caller = await callers.caller(of: call)
                        #expect(order.take(number) == arrival)
                        return (caller.owner ?? "program", arrival)
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

    /// Counts the calls as their handlers go on.
    private final class Order: Sendable {
        private let numbers = Mutex<[UInt32]>([])

        func take(_ number: UInt32) -> UInt32 {
            numbers.withLock { numbers in
                numbers.append(number)
                return UInt32(numbers.count - 1)
            }
        }
    }

    @Test func `a client's calls go on in the order of arrival, the first ones as the later ones`()
        async throws
    {
        try await withCallers { _, proxy in
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<500 as Range<UInt32> {
                    group.addTask {
                        try await proxy.call(
                            "Who",
                            number,
                            returning: String.self,
                            UInt32.self
                        ).0
                    }
                }
                for try await owner in group { #expect(owner == "program") }
            }
        }
    }

    @Test func `one that cannot be told is known by the bus and its connection`() async throws {
        try await withCallers(proc: "/nonexistent") { callers, proxy in
            let (owner, _) = try await proxy.call(
                "Who",
                UInt32(0),
                returning: String.self,
                UInt32.self
            )
            let name = await proxy.connection.uniqueName.rawValue
            #expect(owner.hasPrefix("connection/"))
            #expect(owner.hasSuffix(name))
            #expect(owner.count > "connection/".count + name.count + 30)
            await callers.forgetAll()
            let (again, _) = try await proxy.call(
                "Who",
                UInt32(0),
                returning: String.self,
                UInt32.self
            )
            #expect(again == owner)
        }
    }
}
