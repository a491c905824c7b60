// SPDX-License-Identifier: Apache-2.0

import DBus
import Dispatch
import Glibc
import Testing
import iDownBus
import iDownState
import iDownTesting

@testable import iDownService
@testable import iDownloader

/// Finished files that are read again.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorVerifyTests {
    /// Runs `body` with a completed task whose file has this digest option.
    private func withFile(
        _ checksum: String? = nil,
        _ body: (ServiceScene, _ id: String, _ path: String) async throws -> Void
    ) async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withService { scene in
            var options = AddOptions()
            options.checksum = checksum
            let id = try await scene.client.addURL(server.url("/a.bin"), options: options)
            try await scene.wait(for: id, .completed)
            try await body(scene, id, scene.home.download("a.bin"))
        }
    }

    private func sha256(of path: String) async throws -> String {
        let output = try await ChildProcess.run("sha256sum", [path]).standardOutput
        return "sha-256=" + output.prefix { $0 != " " }
    }

    @Test func `a file as it came is what it was, and one that changed is not, until it is back`()
        async throws
    {
        try await withFile { scene, id, path in
            #expect(try await scene.client.verify(id) == .validators)
            let bytes = try TestFile.bytes(of: path)
            try TestFile.write(bytes.dropLast(), to: path)
            #expect(try await scene.client.verify(id) == TaskProperties.Integrity.none)
            var task = try await scene.client.getTask(id)
            #expect(task.state == .completed && task.errorCode == "Integrity.SizeMismatch")
            #expect(task.integrity == TaskProperties.Integrity.none && task.activity == .none)

            #expect(unlink(path) == 0)
            #expect(try await scene.client.verify(id) == TaskProperties.Integrity.none)
            #expect(try await scene.client.getTask(id).errorCode == "File.Vanished")

            try TestFile.write(bytes, to: path)
            #expect(try await scene.client.verify(id) == .validators)
            task = try await scene.client.getTask(id)
            #expect(task.errorCode == "" && task.integrity == .validators)
        }
    }

    @Test func `a checksum that is given later decides`() async throws {
        try await withFile { scene, id, path in
            var options = EditOptions()
            options.values.checksum = try await sha256(of: path)
            try await scene.client.setOptions(options, of: id)
            #expect(try await scene.client.verify(id) == .checksum)
            options.values.checksum = "md5=" + String(repeating: "0", count: 32)
            try await scene.client.setOptions(options, of: id)
            #expect(try await scene.client.verify(id) == TaskProperties.Integrity.none)
            #expect(try await scene.client.getTask(id).errorCode == "Integrity.ChecksumMismatch")
        }
    }

    @Test(arguments: ["", "flatpak/org.example.App"])
    func `another file in the place of a sandboxed application's tells nothing of itself`(
        application: String
    ) async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let wish = hub.wish(server.url("/a")) { request in
                request.owner = application.isEmpty ? nil : application
            }
            let id = try #require(try await hub.coordinator.add([wish], token: nil).first)
            try await hub.announced.wait(for: id, .completed)
            #expect(try await hub.coordinator.verify(id) == .validators)
            let (path, other) = (hub.files + "/a", hub.files + "/other")
            try TestFile.write(try TestFile.bytes(of: path) + [0], to: other)
            #expect(rename(other, path) == 0)
            #expect(try await hub.coordinator.verify(id) == Integrity.none)
            let failure = try await hub.record(id)?.failure
            #expect(failure?.code == (application.isEmpty ? .sizeMismatch : .fileVanished))
            #expect(failure?.message.contains("bytes") == application.isEmpty)
        }
    }

    @Test func `everybody hears when a reading begins and ends`() async throws {
        try await withFile { scene, id, _ in
            let mark = scene.signals.signals.count
            _ = try await scene.client.verify(id)
            let news = { @Sendable () -> [[String: Value]] in
                scene.signals.signals.dropFirst(mark).compactMap { signal in
                    guard case .changed([id], _, let changed) = ListNews(signal) else {
                        return nil
                    }
                    return changed
                }
            }
            // Over a connection of their own, which may be behind that of the answer.
            try await soon("both words") {
                news().map { $0["Activity"] } == [.string("verifying"), .string("")]
            }
            // Who only asks what has changed since the first word finds the second.
            guard case .uint64(let serial) = news().first?["Serial"] else {
                Issue.record("no serial")
                return
            }
            let changes = try await scene.client.changes(since: serial)
            #expect(changes.tasks.map(\.id) == [id])
        }
    }

    @Test func `what is not completed cannot be verified`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            let id = try await scene.client.addURL("http://127.0.0.1:9/a", options: options)
            #expect(await code { _ = try await scene.client.verify(id) } == .invalidState)
            #expect(await code { _ = try await scene.client.verify("99") } == .noSuchTask)
        }
    }

    @Test(arguments: [
        (nil, Contract.pendingVerifications.all),
        ("flatpak/org.example.Reader", Contract.pendingVerifications.application),
    ])
    func `so many calls may wait at a time, and one more is refused`(
        application: String?,
        limit: Int
    ) async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait(for: id, .completed)
            let door = DispatchSemaphore(value: 0)
            hub.disk.digestThread(for: hub.files).async { door.wait() }
            let coordinator = hub.coordinator
            let refused = FaultServer.Gate()
            let calls = (0...limit).map { _ in
                Task.immediate {
                    do {
                        _ = try await coordinator.verify(id, for: application)
                    } catch ServiceRefusal.limitExceeded {
                        refused.open()
                    }
                }
            }
            try await soon("all calls but one to wait") {
                await coordinator.look { $0.verifications.calls } >= limit
            }
            try await within("the refusal") { await refused.waitUntilOpen() }
            #expect(await coordinator.look { $0.verifications.calls } == limit)
            door.signal()
            for call in calls { try await call.value }
        }
    }

    @Test func `calls for one file share a reading, which ends with their clients`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait(for: id, .completed)
            // The thread that reads for digests is busy.
            let door = DispatchSemaphore(value: 0)
            hub.disk.digestThread(for: hub.files).async { door.wait() }
            let coordinator = hub.coordinator
            let calls = (0..<3).map { _ in
                Task.immediate { try await coordinator.verify(id) }
            }
            try await soon("three calls") {
                await coordinator.look { $0.verifications.calls == 3 }
            }
            calls[0].cancel()
            calls[2].cancel()
            await #expect(throws: CancellationError.self) { try await calls[0].value }
            await #expect(throws: CancellationError.self) { try await calls[2].value }
            #expect(try await coordinator.task(id).isVerifying)
            calls[1].cancel()
            await #expect(throws: CancellationError.self) { try await calls[1].value }
            door.signal()
            try await soon("the reading to end") {
                try await !coordinator.task(id).isVerifying
            }
            #expect(try await coordinator.verify(id) == .validators)
        }
    }
}
