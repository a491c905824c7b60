// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite struct DepartureTests {
    @Test func `a client's leaving is noticed, also one that left before`() async throws {
        try await withServiceAndClient { service, client, bus in
            let other = try await Connection.open(.address(bus.address))
            let name = await other.uniqueName
            let waiting = Task.immediate { try await caller(name, service).waitUntilGone() }
            // Answered in order: by now the bus knows the rule, and that the client is there.
            try await service.waitForNothing(await client.uniqueName)
            await other.close()
            try await within("the client's leaving") { try await waiting.value }
            try await within("the client's absence") {
                try await caller(name, service).waitUntilGone()
            }
        }
    }

    @Test func `the wait ends with its task and with the connection`() async throws {
        try await withServiceAndClient { service, client, _ in
            let name = await client.uniqueName
            let cancelled = Task.immediate { try await caller(name, service).waitUntilGone() }
            cancelled.cancel()
            try await within("the cancelled wait") { _ = await cancelled.result }
            let last = Task.immediate { try await caller(name, service).waitUntilGone() }
            await service.close()
            try await within("the wait on a closed connection") { _ = await last.result }
        }
    }
}

private func caller(_ name: BusName, _ connection: Connection) -> Proxy {
    Proxy(connection, name, "/", "org.freedesktop.DBus.Peer")
}

extension Connection {
    /// Asks the bus for something, so that all that was asked before has been answered.
    fileprivate func waitForNothing(_ name: BusName) async throws {
        for _ in 0..<3 { _ = try await owner(of: name) }
    }
}
