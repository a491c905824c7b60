// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

@Suite struct CoordinatorProgressTests {
    @Test func `a paused task whose transfer still syncs is not told of as downloading`()
        async throws
    {
        let (file, hold) = ServedFile.held()
        let (other, otherHold) = ServedFile.held()
        let server = try FaultServer(
            script: .init { request in
                request.target == "/paused" ? file.answer(to: request) : other.answer(to: request)
            }
        )
        defer { server.stop() }
        try await withHub { hub in
            let paused = try await hub.add(server.url("/paused"))
            let running = try await hub.add(server.url("/running"))
            await hold.reached.waitUntilOpen()
            await otherHold.reached.waitUntilOpen()
            let disk = await DiskHold(hub, of: paused)
            try await hub.coordinator.carryOut(.pause, on: paused)
            let mark = hub.announced.all.count
            // Two rounds of progress have passed when the other one was told of twice.
            try await hub.announced.wait("two rounds of progress") { all in
                all.dropFirst(mark).filter { $0.id == running }.count >= 2
            }
            disk.release()
            #expect(
                !hub.announced.all.dropFirst(mark).contains {
                    $0.id == paused && $0.kind == .downloading
                }
            )
        }
    }

    @Test func `a pause is told with all bytes, and again when they are recorded`() async throws {
        try await withHeldDownload { hub, id, _, _ in
            let disk = await DiskHold(hub, of: id)
            let (coordinator, announced) = (hub.coordinator, hub.announced)
            let pause = Task.immediate { try await coordinator.carryOut(.pause, on: id) }
            try await announced.wait(for: id, .paused)
            let told = TaskProperties(try #require(announced.last(of: id)))
            #expect(try await hub.record(id)?.segments.byteCount == 0)
            #expect(told.downloadedBytes == 1 << 20)
            #expect(told.activity == .none && told.connections == 0)
            let task = try await coordinator.task(id)
            #expect(TaskProperties(task).downloadedBytes == 1 << 20)
            disk.release()
            try await pause.value
            try await announced.wait("the last checkpoint") { all in
                all.contains { announcement in
                    guard case .changed(let from, let to) = announcement else { return false }
                    let changes = TaskProperties(to).properties(changedSince: TaskProperties(from))
                    return to.record.segments.byteCount == 1 << 20
                        && changes.contains(.downloadedBytes) && changes.contains(.segments)
                }
            }
        }
    }

    @Test func `a task that completes in the middle of a round is not told of afterwards`()
        async throws
    {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withHub { hub in
            let ids = [
                try await hub.add(server.url("/1")), try await hub.add(server.url("/2")),
            ]
            let announced = hub.announced
            // The first word of progress of either task lasts until the other is paused.
            let coordinator = hub.coordinator
            announced.after { announcement in
                guard case .progressed(let id, _) = announcement else { return }
                announced.after { _ in }
                for other in ids where other != id {
                    try? await coordinator.carryOut(.pause, on: other)
                }
            }
            try await announced.wait("the pause") { all in
                all.contains { $0.kind == .paused }
            }
            let mark = announced.all.count
            try await announced.wait("another round") { all in
                all.dropFirst(mark).contains { $0.kind == .downloading }
            }
            let paused = try #require(announced.all.first { $0.kind == .paused }?.id)
            #expect(announced.kinds(of: paused) == [.waiting, .downloading, .paused])
            hold.until.open()
        }
    }

    @Test func `the counts are told once for all that happens together`() async throws {
        try await withHub(slots: 0) { hub in
            let wishes = (0..<50).map { hub.wish("http://127.0.0.1:9/\($0)") }
            _ = try await hub.coordinator.add(wishes, token: nil)
            try await hub.announced.wait("the counts") { all in
                all.contains { announcement in
                    guard case .counted(let counts) = announcement else { return false }
                    return counts.total == 50 && counts[.waiting] == 50
                }
            }
            let counted = hub.announced.all.filter {
                if case .counted = $0 { true } else { false }
            }
            #expect(counted.count == 1)
        }
    }

    @Test func `idle means that the queue is empty too`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            let wishes = (0..<5).map { hub.wish(server.url("/\($0)")) }
            let ids = try await hub.coordinator.add(wishes, token: nil)
            await server.waitForRequest()
            let coordinator = hub.coordinator
            try await soon("idleness") { await coordinator.isIdle }
            for id in ids { #expect(try await hub.record(id)?.state == .completed) }
        }
    }

    @Test func `idle does not wait for the back-off of a task that was paused`() async throws {
        let server = try FaultServer(
            script: .init { _ in
                [.head("503 Busy", [("Content-Length", "0"), ("Retry-After", "3000")])]
            }
        )
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait("the back-off") { all in
                all.contains { $0.id == id && $0.kind == .downloading }
                    && all.last { $0.id == id && $0.kind != nil }?.kind == .waiting
            }
            let coordinator = hub.coordinator
            try await coordinator.carryOut(.pause, on: id)
            try await soon("idleness") { await coordinator.isIdle }
        }
    }

    @Test func `nobody is idle while a task waits for the network`() async throws {
        try await withHub { hub in
            let coordinator = hub.coordinator
            await coordinator.setOnline(false)
            let id = try await hub.add("http://idown-test.invalid/a")
            try await hub.announced.wait(for: id, hold: "offline")
            try await soon("the end of the commit") {
                await coordinator.look { $0.commits.isIdle }
            }
            #expect(await !coordinator.isIdle)
            try await coordinator.carryOut(.pause, on: id)
            try await soon("idleness") { await coordinator.isIdle }
        }
    }
}
