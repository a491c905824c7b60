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
        let commit = HeldCommit()
        try await withHub(faults: commit.faults, begins: false) { hub in
            let coordinator = hub.coordinator
            let id = try await hub.add(server.url("/a"))
            // The stop comes between the decision that grants a slot and its effect.
            commit.holdNext()
            defer { commit.release() }
            await coordinator.begin()
            try await commit.reached()
            let stop = Task { await coordinator.stop() }
            try await soon("the stop to begin") { await coordinator.isStopping }
            commit.release()
            await stop.value
            #expect(try await hub.record(id)?.state == .downloading)
            #expect(await coordinator.running.isEmpty)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a change that is being committed while the service ends is answered as done`()
        async throws
    {
        let commit = HeldCommit()
        try await withHub(faults: commit.faults, begins: false) { hub in
            let coordinator = hub.coordinator
            let (first, second) = try await (
                hub.add("http://127.0.0.1:9/a"), hub.add("http://127.0.0.1:9/b")
            )
            commit.holdNext()
            defer { commit.release() }
            let pausing = Task { try await coordinator.carryOut(.pause, on: first) }
            try await commit.reached()
            // Comes while the commit of the first is under way: it would be in the next one.
            let late = Task { try await coordinator.carryOut(.pause, on: second) }
            try await soon("the second call") {
                await coordinator.look { $0.commits.waiting == 1 }
            }
            let stop = Task { await coordinator.stop() }
            await #expect(throws: ServiceRefusal.stopping) { try await late.value }
            commit.release()
            await stop.value
            try await pausing.value
            #expect(try await hub.record(first)?.state == .paused)
            #expect(try await hub.record(second)?.state == .waiting(.queue))
        }
    }

    @Test(arguments: [Command.remove, .cancel])
    func `a deletion on a disk that hangs is answered as done when the service ends`(
        _ command: Command
    ) async throws {
        try await withHeldDownload { hub, id, _, _ in
            let disk = await DiskHold(hub, of: id)
            let coordinator = hub.coordinator
            let deletion = Task { try await coordinator.carryOut(command, on: id) }
            try await soon("the intent to be recorded") {
                try await hub.record(id)?.isDeleting == true
            }
            await coordinator.stop()
            // It is durable: the next start carries it out.
            try await within("an answer") { try await deletion.value }
            disk.release()
        }
    }
}
