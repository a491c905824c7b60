// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

@Suite struct CoordinatorStoppingTests {
    @Test func `a stop keeps what came, and refuses what comes`() async throws {
        try await withHeldDownload { hub, id, server, _ in
            await hub.coordinator.stop()
            let record = try #require(try await hub.record(id))
            #expect(record.segments.prefixLength == 1 << 20)
            #expect(record.state == .downloading)
            await #expect(throws: ServiceRefusal.stopping) {
                try await hub.add(server.url("/b"))
            }
            await #expect(throws: ServiceRefusal.stopping) {
                try await hub.coordinator.carryOut(.pause, on: id)
            }
            await #expect(throws: ServiceRefusal.stopping) {
                try await hub.coordinator.carryOut(.pause, onAllIn: [.downloading])
            }
        }
    }

    @Test func `a stop does not wait for a disk that hangs`() async throws {
        try await withHeldDownload { hub, id, _, _ in
            let disk = await DiskHold(hub, of: id)
            let coordinator = hub.coordinator
            // The disk is let go only afterwards.
            try await within("the stop") { await coordinator.stop() }
            disk.release()
        }
    }

    @Test func `nothing starts once the service is stopping`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let coordinator = hub.coordinator
            // The stop comes between the commit that grants a slot and its effect.
            hub.announced.after { announcement in
                guard announcement.kind == .downloading else { return }
                Task { await coordinator.stop() }
                while await !coordinator.isStopping { await Task.yield() }
            }
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait(for: id, .downloading)
            // Behind this the effects of the commit have been carried out.
            _ = try? await coordinator.record(.checkpointed(SegmentMap()), of: id, attempt: .none)
            #expect(await coordinator.running.isEmpty)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `who waits for a deletion on a disk that hangs hears when the service ends`()
        async throws
    {
        try await withHeldDownload { hub, id, _, _ in
            let disk = await DiskHold(hub, of: id)
            let coordinator = hub.coordinator
            let removal = Task { try await coordinator.carryOut(.remove, on: id) }
            try await waitUntil("the removal to be recorded") {
                try await hub.record(id)?.intent == .remove
            }
            await coordinator.stop()
            // Success, since it is durable, or Stopping; but not silence.
            _ = try await within("an answer to the removal") {
                try? await removal.value
            }
            disk.release()
        }
    }
}
