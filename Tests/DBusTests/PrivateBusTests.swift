// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@Suite struct PrivateBusTests {
    @Test func `a private bus answers a real client`() async throws {
        try await withPrivateBus { bus in
            let completed = try await ChildProcess.run(
                "busctl",
                [
                    "--address=\(bus.address)", "call", "org.freedesktop.DBus", "/",
                    "org.freedesktop.DBus", "GetId",
                ]
            )
            #expect(completed.succeeded, "\(completed.standardError)")
            #expect(completed.standardOutput.hasPrefix("s \""))
        }
    }

    @Test func `a bus ends with its test`() async throws {
        let bus = try await PrivateBus.start()
        let processID = bus.processID
        #expect(Glibc.kill(processID, 0) == 0)
        await bus.stop()
        #expect(Glibc.kill(processID, 0) == -1)
    }
}
