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

    @Test func `a call that waits is cancelled when its caller leaves`() async throws {
        try await withServiceAndClient { service, _, bus in
            let (starts, start) = AsyncStream<Void>.makeStream()
            let (ends, end) = AsyncStream<Bool>.makeStream()
            let table = Interface(
                sampleInterface,
                [
                    .method("Wait", .wait) { (call: Call) async throws in
                        call.endWithCaller()
                        start.yield()
                        try? await Task.sleep(for: .seconds(3600))
                        end.yield(Task.isCancelled)
                    }
                ]
            )
            try await service.export([table], at: samplePath)
            let name = await service.uniqueName
            let leaving = try await Connection.open(.address(bus.address))
            let proxy = Proxy(leaving, name, samplePath, sampleInterface)
            let call = Task { try await proxy.call("Wait") }
            _ = await starts.first { true }
            await leaving.close()
            let isCancelled = try await within("the end of the call") {
                await ends.first { _ in true }
            }
            #expect(isCancelled == true)
            _ = await call.result
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
