// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownTesting

@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    /// One scenario that uses every border function: connect, export, call, be called, signal.
    private func scenario(_ bus: PrivateBus, faults: CallFaults) async throws {
        let service = try await Connection.open(.address(bus.address), faults: faults.strikes)
        do {
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(service, await service.uniqueName, samplePath, sampleInterface)
            let signals = try await service.signals(
                MatchRule(sender: proxy.destination, interface: sampleInterface, member: "Changed")
            )
            _ = try await proxy.call("Echo", Value.string("a"), returning: Value.self)
            let pair = Value.structure([
                .array(of: "s", [.string("b")]), ["c": Value.byte(1)].busValue,
            ])
            _ = try await proxy.call("Name", OpenDescriptor(owning: dup(0)), returning: UInt64.self)
            _ = try await proxy.call("Echo", pair, returning: Value.self)
            _ = try? await proxy.call("Refuse", "no", timeout: .seconds(2))
            try await service.emit(
                sampleInterface,
                "Changed",
                at: samplePath,
                [.string("id"), .byte(1)]
            )
            for try await _ in signals { break }
        } catch {
            await service.close()
            throw error
        }
        await service.close()
    }

    @Test func `whichever call into libdbus fails, nothing traps and nothing hangs`() async throws {
        try await withPrivateBus { bus in
            let counting = CallFaults()
            try await scenario(bus, faults: counting)
            #expect(counting.calls > 40)
            for n in 1...counting.calls + 5 {
                do {
                    try await scenario(bus, faults: CallFaults(failing: [n]))
                } catch let error as BusError {
                    #expect(error.name.rawValue.hasPrefix("org.freedesktop.DBus.Error."), "\(n)")
                }
            }
        }
    }
}
