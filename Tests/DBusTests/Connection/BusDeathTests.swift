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
            let signals = try await client.signals(MatchRule(interface: sampleInterface))
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
        let address = BusAddress.address(first.address)
        let refused = await #expect(throws: BusError.self) { try await Connection.open(address) }
        #expect(refused != nil)
        let again = try await Connection.open(address.ofAnyRun, on: connection.executor)
        #expect(await again.isOpen)
        #expect(again.executor === connection.executor)
        await again.close()
        await second.stop()
        await first.stop()
    }

    @Test(
        arguments: [
            ("unix:path=/a,guid=0123", "unix:path=/a"), ("unix:guid=01,path=/a", "unix:path=/a"),
            ("unix:path=/a;tcp:host=b,port=1,guid=2", "unix:path=/a;tcp:host=b,port=1"),
            ("unix:path=/guid=1", "unix:path=/guid=1"), ("autolaunch:", "autolaunch:"), ("", ""),
        ]
    )
    func `an address of any run has no id`(address: String, expected: String) {
        #expect(BusAddress.address(address).ofAnyRun == .address(expected))
    }
}
