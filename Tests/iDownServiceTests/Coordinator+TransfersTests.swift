// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Testing
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

@Suite struct CoordinatorTransfersTests {
    @Test func `a failure that may pass is tried again by itself`() async throws {
        let server = try FaultServer(
            script: .init { request in
                request.number == 1
                    ? [.head("503 Busy", [("Content-Length", "0"), ("Retry-After", "0")])]
                    : ServedFile(.small).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait("a back-off") { all in
                all.contains { announcement in
                    guard case .changed(_, let task) = announcement else { return false }
                    guard case .waiting(.retry) = task.record.state else { return false }
                    return task.record.failure?.code == .serverBusy
                }
            }
            try await hub.announced.wait(for: id, .completed)
            #expect(try await hub.record(id)?.failure == nil)
            #expect(hub.holds(.small, as: "a"))
        }
    }

    @Test func `a failure for good gives its slot to the next`() async throws {
        let server = try FaultServer(
            script: .init { request in
                request.target == "/gone"
                    ? [.head("404 Not Found", [("Content-Length", "0")])]
                    : ServedFile(.small).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            let gone = try await hub.add(server.url("/gone"))
            let next = try await hub.add(server.url("/next"))
            try await hub.announced.wait(for: next, .completed)
            let record = try #require(try await hub.record(gone))
            #expect(record.state == .failed)
            #expect(record.failure?.code == .serverNotFound)
            try await hub.coordinator.carryOut(.retry, on: gone)
            try await hub.announced.wait("the second failure") { all in
                all.filter { $0.id == gone && $0.kind == .failed }.count == 2
            }
            #expect(await hub.coordinator.running.isEmpty || server.requests.count == 3)
        }
    }

    @Test func `a retry by hand ends a back-off`() async throws {
        let server = try FaultServer(
            script: .init { request in
                request.number == 1
                    ? [.head("503 Busy", [("Content-Length", "0"), ("Retry-After", "3000")])]
                    : ServedFile(.small).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait("the back-off") { all in
                all.contains { $0.id == id && $0.kind == .downloading }
                    && all.last { $0.id == id && $0.kind != nil }?.kind == .waiting
            }
            try await hub.coordinator.carryOut(.retry, on: id)
            try await hub.announced.wait(for: id, .completed)
        }
    }

    @Test func `the bytes kept by a pause are announced`() async throws {
        try await withHeldDownload { hub, id, _, _ in
            try await hub.coordinator.carryOut(.pause, on: id)
            await hub.transferEnd(of: id)
            let stored = try #require(try await hub.record(id))
            #expect(stored.segments.byteCount == 1 << 20)
            #expect(hub.announced.last(of: id)?.record.segments == stored.segments)
        }
    }

    // MARK: Deletions and a store that cannot be written

    /// Runs `body` with a paused task that has a partial file, and nothing else going on.
    private func withPausedPart(
        fileFaults: FaultPlan? = nil,
        _ body: (Hub, CallFaults, TaskID) async throws -> Void
    ) async throws {
        let faults = CallFaults()
        try await withHeldDownload(faults: faults, fileFaults: fileFaults) { hub, id, _, hold in
            try await hub.coordinator.carryOut(.pause, on: id)
            await hub.transferEnd(of: id)
            // Behind this the look for a free slot is over too.
            try await hub.coordinator.carryOut(.pause, on: id)
            hold.until.open()
            try await body(hub, faults, id)
        }
    }

    @Test func `a removal whose last commit fails is announced and carried on`() async throws {
        try await withPausedPart { hub, faults, id in
            faults.failNext(after: 1)
            try await hub.coordinator.carryOut(.remove, on: id)
            try await hub.announced.waitForRemoval(of: id)
            try await soon("the record to go") { try await hub.record(id) == nil }
            #expect(hub.names == [])
        }
    }

    @Test func `a cancelled task whose deletion could not be recorded can be resumed`()
        async throws
    {
        try await withPausedPart { hub, faults, id in
            faults.failNext(after: 1)
            try await hub.coordinator.carryOut(.cancel, on: id)
            try await hub.coordinator.carryOut(.resume, on: id)
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.holds(.large, as: "a"))
        }
    }

    @Test func `a task whose old file cannot be deleted tells why it waits`() async throws {
        // The deletion for the cancel, and the one that the resume asks for.
        let faults = FaultPlan(failing: 1, of: "unlinkat", with: EACCES, times: 2)
        try await withPausedPart(fileFaults: faults) { hub, _, id in
            let coordinator = hub.coordinator
            try await coordinator.carryOut(.cancel, on: id)
            try await coordinator.carryOut(.resume, on: id)
            try await hub.announced.wait(for: id, hold: "retry")
            let record = try #require(try await hub.record(id))
            #expect(record.failure?.code == .fileAccessDenied)
            #expect(record.failure?.message.hasPrefix("The old file cannot be deleted.") == true)
            try await hub.announced.wait(for: id, .completed)
            #expect(try await hub.record(id)?.failure == nil)
            #expect(hub.names == ["a"])
        }
    }

    @Test func `a removal is answered after its own deletion, not after an earlier one`()
        async throws
    {
        let (first, second) = (Standstill(), Standstill())
        defer {
            first.release()
            second.release()
        }
        let faults = FaultPlan(failing: 1, of: "unlinkat") { number in
            if number == 1 { first.stand() } else { second.stand() }
        }
        try await withPausedPart(fileFaults: faults) { hub, _, id in
            let coordinator = hub.coordinator
            let cancelling = Task.immediate { try await coordinator.carryOut(.cancel, on: id) }
            try await first.wait("the deletion for the cancel")
            let removing = Task.immediate {
                try await coordinator.carryOut(.remove, on: id)
                let isGone = try await hub.record(id) == nil
                return isGone && hub.names.isEmpty
            }
            try await soon("both deletions") {
                await coordinator.look { $0.deletions.last == 2 }
            }
            // The earlier one is over when it is to be repeated; the other is at its file by then.
            first.release()
            try await second.wait("the deletion for the removal")
            try await soon("the end of the first") {
                await coordinator.look { $0.deletions.repeats[id] != nil }
            }
            #expect(await coordinator.look { $0.deletions.underWay[id] == 2 })
            #expect(hub.names == ["a.part"])
            second.release()
            #expect(try await removing.value)
            try await cancelling.value
        }
    }
}

/// A call that stands still from when it comes until it is let go.
private final class Standstill: Sendable {
    private let reached = FaultServer.Gate()
    private let door = DispatchSemaphore(value: 0)

    /// Blocks.
    func stand() {
        reached.open()
        door.wait()
    }

    /// Returns once the call has come.
    func wait(_ what: String) async throws {
        try await within(what) { [reached] in await reached.waitUntilOpen() }
    }

    func release() { door.signal() }
}
