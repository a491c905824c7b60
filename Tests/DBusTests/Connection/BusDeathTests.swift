// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite(.timeLimit(.minutes(5))) struct BusDeathTests {
    @Test func `when the bus dies, calls fail, signals end, and the process lives`() async throws {
        try await withServiceAndClient { service, client, bus in
            let (started, report) = AsyncStream<Void>.makeStream()
            let interface = Interface(
                sampleInterface,
                [
                    .method("Hang") { (_: Call) async throws in
                        report.yield()
                        try await Task.sleep(for: .seconds(3600))
                    }
                ]
            )
            try await service.export([interface], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let signals = try await proxy.signals()
            let rest = Task { try await signals.reduce(0) { count, _ in count + 1 } }
            let hanging = Task { try await proxy.call("Hang") }
            _ = await started.first { true }

            await bus.kill()

            let error = await #expect(throws: BusError.self) { try await hanging.value }
            #expect(error?.isDisconnected == true, "\(String(describing: error))")
            await service.waitUntilClosed()
            await client.waitUntilClosed()
            #expect(try await rest.value == 0)
            let late = await #expect(throws: BusError.self) { try await proxy.call("Hang") }
            #expect(late?.isDisconnected == true)
            #expect(await !service.isOpen)
        }
    }

    @Test func `a new bus at the same address can be connected to`() async throws {
        let first = try await PrivateBus.start()
        let connection = try await Connection.open(.address(first.address))
        await first.kill()
        await connection.waitUntilClosed()
        let socket = first.address.dropFirst("unix:path=".count).prefix { $0 != "," }
        let second = try await PrivateBus.start(socket: String(socket))
        let again = try await Connection.open(.address("unix:path=\(socket)"))
        #expect(await again.isOpen)
        await again.close()
        await second.stop()
        await first.stop()
    }
}
