// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

@Suite struct CoordinatorSleepTests {
    @Test func `before a sleep all that came is recorded, and after it a new connection goes on`()
        async throws
    {
        try await withHeldDownload { hub, id, server, hold in
            await hub.coordinator.fallAsleep()
            let record = try #require(try await hub.record(id))
            #expect(record.state == .waiting(.queue))
            #expect(record.segments.prefixLength == 1 << 20)
            #expect(record.tries == 0)
            // Nothing starts in its sleep.
            let other = try await hub.add(server.url("/b"))
            #expect(try await hub.record(other)?.state == .waiting(.queue))
            hold.until.open()
            await hub.coordinator.awaken()
            try await hub.announced.wait(for: id, .completed)
            try await hub.announced.wait(for: other, .completed)
            #expect(server.requests.contains { $0["Range"] == "bytes=1048576-" })
            #expect(hub.holds(.large, as: "a"))
        }
    }

    @Test func `a disk that hangs does not keep the computer awake`() async throws {
        try await withHeldDownload { hub, id, _, _ in
            let disk = await DiskHold(hub, of: id)
            let coordinator = hub.coordinator
            // The disk is let go only afterwards.
            try await within("the sleep") { await coordinator.fallAsleep() }
            disk.release()
            await coordinator.awaken()
        }
    }

    @Test func `an awakening without a sleep is none`() async throws {
        try await withHub { hub in
            await hub.coordinator.awaken()
            #expect(hub.announced.all.isEmpty)
        }
    }
}
