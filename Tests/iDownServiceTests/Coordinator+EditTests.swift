// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// A running task that is edited.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorEditTests {
    /// Runs `body` with one slot, a task in it that has a megabyte, and another task that waits.
    ///
    /// The rest of the file comes at the second request.
    private func withRunning(
        _ body: (Hub, _ running: TaskID, _ waiting: TaskID, FaultServer) async throws -> Void
    ) async throws {
        let (server, hold) = try FaultServer.holdingFirst()
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            let running = try await hub.add(server.url("/a.bin"))
            await hold.reached.waitUntilOpen()
            try await hub.arrival(of: 1 << 20, for: running)
            let waiting = try await hub.add(server.url("/b.bin"))
            mkdir(hub.path("other"), 0o700)
            try await body(hub, running, waiting, server)
        }
    }

    private static func edit(
        _ option: TaskEdit.Option,
        _ hub: Hub,
        _ server: FaultServer
    ) -> TaskEdit {
        var edit = TaskEdit()
        switch option {
        case .url: edit.url = server.url("/a.bin?fresh")
        case .directory: edit.directory = hub.path("other")
        case .fileName: edit.fileName = "c.bin"
        default: edit.headers = [HeaderField(name: "X-Key", value: "1")]
        }
        return edit
    }

    @Test(arguments: [TaskEdit.Option.headers, .url, .directory, .fileName])
    func `an edit leaves a running task its slot, its state and its bytes`(
        option: TaskEdit.Option
    ) async throws {
        try await withRunning { hub, running, waiting, server in
            let mark = hub.announced.all.count
            try await hub.coordinator.edit(running, Self.edit(option, hub, server))
            let task = TaskProperties(try await hub.coordinator.task(running))
            #expect([.downloading, .completed].contains(task.state))
            #expect(task.downloadedBytes >= 1 << 20)
            try await hub.announced.wait(for: running, .completed)
            var hasEnded = false
            for announcement in hub.announced.all.dropFirst(mark) {
                switch announcement {
                case .changed(_, let snapshot) where snapshot.record.id == running:
                    let task = TaskProperties(snapshot)
                    hasEnded = hasEnded || task.state == .completed
                    #expect([.downloading, .completed].contains(task.state))
                    #expect(task.downloadedBytes >= 1 << 20)
                case .progressed(running, let live): #expect(live.bytes >= 1 << 20)
                case let other where other.id == waiting:
                    #expect(hasEnded || other.kind != .downloading)
                default: break
                }
            }
            let path =
                switch option {
                case .directory: hub.path("other/a.bin")
                case .fileName: hub.path("c.bin")
                default: hub.path("a.bin")
                }
            #expect(try TestContent.large.firstDifference(fromFile: path) == nil)
            try await hub.announced.wait(for: waiting, .completed)
        }
    }

    @Test func `while its file moves a running task is downloading and moving`() async throws {
        try await withRunning { hub, running, waiting, server in
            let disk = await DiskHold(hub, of: running)
            try await hub.coordinator.edit(running, Self.edit(.directory, hub, server))
            try await hub.coordinator.edit(running, Self.edit(.headers, hub, server))
            let task = TaskProperties(try await hub.coordinator.task(running))
            #expect(task.state == .downloading && task.activity == .moving)
            #expect(task.downloadedBytes >= 1 << 20)
            let reasons = try await hub.coordinator.reasons(for: running)
            #expect(reasons.map(\.data) == [TaskReason("moving")])
            #expect(try await hub.record(waiting)?.state == .waiting(.queue))
            disk.release()
            try await hub.announced.wait(for: running, .completed)
            #expect(server.requests.last { $0.path == "/a.bin" }?["X-Key"] == "1")
        }
    }

    @Test func `the last of several edits is what starts, and only once its file has moved`()
        async throws
    {
        try await withRunning { hub, running, _, server in
            let disk = await DiskHold(hub, of: running)
            try await hub.coordinator.edit(running, Self.edit(.headers, hub, server))
            try await hub.coordinator.edit(running, Self.edit(.directory, hub, server))
            disk.release()
            try await hub.announced.wait(for: running, .completed)
            // The stopped transfer's request and the moved file's.
            #expect(server.requests.count { $0.path == "/a.bin" } == 2)
            let path = hub.path("other/a.bin")
            #expect(try TestContent.large.firstDifference(fromFile: path) == nil)
            #expect(access(hub.path("a.bin"), F_OK) != 0)
        }
    }

    @Test func `a pause during an edit keeps the next transfer from starting`() async throws {
        try await withRunning { hub, running, waiting, server in
            let disk = await DiskHold(hub, of: running)
            try await hub.coordinator.edit(running, Self.edit(.headers, hub, server))
            let coordinator = hub.coordinator
            let pause = Task.immediate { try await coordinator.carryOut(.pause, on: running) }
            try await hub.announced.wait(for: running, .paused)
            disk.release()
            try await pause.value
            await hub.transferEnd(of: running)
            try await hub.announced.wait(for: waiting, .completed)
            let record = try #require(try await hub.record(running))
            #expect(record.state == .paused && record.segments.byteCount >= 1 << 20)
            #expect(await hub.coordinator.running[running] == nil)
            #expect(server.requests.count { $0.path == "/a.bin" } == 1)
        }
    }
}
