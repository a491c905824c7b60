// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownData
import iDownTesting

@testable import iDownService
@testable import iDownState
@testable import iDownloader

/// A link that is clicked again while its earlier download is unfinished.
@Suite(.timeLimit(.minutes(2))) struct FreshLinksTests {
    private static let profile = "0d4a1f6e-93ab-4a7a-8b1d-0a3c5f1e2d3c"
    private static let otherProfile = "1d4a1f6e-93ab-4a7a-8b1d-0a3c5f1e2d3c"

    private func confirmed(
        _ url: String,
        _ token: String,
        page: String,
        in hub: Hub
    ) async throws -> TaskID {
        let wish = hub.wish(url) { request in
            request.referrer = page
            request.addedBy = "browser"
            request.cookies = token
        }
        _ = try await hub.coordinator.handOver(
            wish,
            token: token,
            seen: SeenAnswer(),
            until: hub.engine.time.now + .seconds(60)
        )
        return try await hub.coordinator.confirmHandOver(token)
    }

    /// Runs `body` with a task that was paused, unless it `runs`, after the first megabyte, and a new download of the
    /// same page by another link, which is held after its first megabyte.
    ///
    /// - Parameters:
    ///   - slots: how many tasks run at once.
    ///   - tag: the ETag of the file behind the new link.
    ///   - content: that file.
    ///   - isOnce: whether the new link works only once.
    ///   - runs: whether the task is not paused.
    ///   - profile: the profile that clicks again.
    ///   - body: gets both tasks, and the gate that lets the new download go on.
    /// - Throws: what `body` throws.
    private func withNewDownload(
        slots: Int = 3,
        tag: String = "\"v1\"",
        content: TestContent = .large,
        isOnce: Bool = false,
        runs: Bool = false,
        profile: String = FreshLinksTests.profile,
        _ body: (Hub, FaultServer, _ old: TaskID, _ new: TaskID, FaultServer.Gate) async throws ->
            Void
    ) async throws {
        let (file, hold) = ServedFile.held()
        let (newFile, newHold) = ServedFile.held(content)
        var held = newFile
        held.entityTag = tag
        let (first, whole) = (held, ServedFile(content, entityTag: tag))
        let reached = newHold.reached
        let server = try FaultServer(
            script: .init { request in
                if request.target.hasSuffix("=1") { return file.answer(to: request) }
                // The new download's own request is the first of this link.
                guard reached.isOpen else { return first.answer(to: request) }
                return isOnce
                    ? [.head("403 Forbidden", [("Content-Length", "0")])]
                    : whole.answer(to: request)
            }
        )
        defer {
            hold.until.open()
            newHold.until.open()
            server.stop()
        }
        try await withHub(slots: slots) { hub in
            let page = server.url("/page")
            let token = "\(Self.profile)-1"
            let old = try await confirmed(server.url("/a.bin?s=1"), token, page: page, in: hub)
            try await hub.arrival(of: 1 << 20, for: old)
            if !runs {
                try await hub.coordinator.carryOut(.pause, on: old)
                await hub.transferEnd(of: old)
            }
            let again = "\(profile)-2"
            let new = try await confirmed(server.url("/a.bin?s=2"), again, page: page, in: hub)
            try await hub.arrival(of: 1 << 20, for: new)
            try await body(hub, server, old, new, newHold.until)
        }
    }

    private func asked(_ new: TaskID, _ profile: String, in hub: Hub) async throws -> TaskID? {
        try await hub.coordinator.taskToContinue(with: new, token: "\(profile)-2")?.record.id
    }

    @Test func `the task goes on from where it stood, and the new download goes`() async throws {
        try await withNewDownload { hub, server, old, new, _ in
            #expect(try await asked(new, Self.profile, in: hub) == old)
            try await hub.coordinator.carryOn(old, with: new)
            try await hub.announced.wait(for: old, .completed)
            try await soon("the new download to be gone") { try await hub.record(new) == nil }
            #expect(hub.holds(.large, as: "a.bin"))
            #expect(hub.names == ["a.bin"])
            let last = try #require(server.requests.last)
            #expect(last["Range"]?.hasPrefix("bytes=0-") == false)
            #expect(last["Cookie"] == "\(Self.profile)-2")
        }
    }

    @Test func `nothing happens to either before the user has answered`() async throws {
        try await withNewDownload { hub, _, old, new, gate in
            let before = try await hub.record(old)
            #expect(try await asked(new, Self.profile, in: hub) == old)
            // Asked once only.
            #expect(try await asked(new, Self.profile, in: hub) == nil)
            gate.open()
            try await hub.announced.wait(for: new, .completed)
            #expect(try await hub.record(old) == before)
            // By now nothing is to be continued.
            try await hub.coordinator.carryOn(old, with: new)
            #expect(try await hub.record(old) == before)
            #expect(hub.holds(.large, as: "a (1).bin"))
        }
    }

    @Test func `an answer to another question changes nothing`() async throws {
        try await withNewDownload { hub, _, old, new, _ in
            let before = try await hub.record(old)
            try await hub.coordinator.carryOn(old, with: new)
            #expect(try await asked(new, Self.profile, in: hub) == old)
            try await hub.coordinator.carryOn(new, with: old)
            #expect(try await hub.record(old) == before)
        }
    }

    @Test func `a link that works only once stays with the new download`() async throws {
        try await withNewDownload(isOnce: true) { hub, _, old, new, gate in
            #expect(try await asked(new, Self.profile, in: hub) == old)
            try await hub.coordinator.carryOn(old, with: new)
            // The host may allow few connections, so that the refusal is not believed at once.
            #expect(try await hub.record(old)?.failure?.code == .serverForbidden)
            gate.open()
            try await hub.announced.wait(for: new, .completed)
            #expect(hub.holds(.large, as: "a (1).bin"))
        }
    }

    @Test func `where the task has no slot the new download keeps its own, and takes its place`()
        async throws
    {
        try await withNewDownload(slots: 1, isOnce: true) { hub, _, old, new, gate in
            #expect(try await asked(new, Self.profile, in: hub) == old)
            let answer = Task { try await hub.coordinator.carryOn(old, with: new) }
            try await soon("the task to wait") {
                try await hub.record(old)?.state == .waiting(.queue)
            }
            gate.open()
            try await hub.announced.wait(for: new, .completed)
            try await answer.value
            #expect(try await hub.record(old) == nil)
            #expect(hub.names == ["a (1).bin"] && hub.holds(.large, as: "a (1).bin"))
        }
    }

    @Test func `a task that runs goes on only where the new link has brought something`()
        async throws
    {
        try await withNewDownload(isOnce: true, runs: true) { hub, _, old, new, gate in
            #expect(try await asked(new, Self.profile, in: hub) == old)
            try await hub.coordinator.carryOn(old, with: new)
            #expect(try await hub.record(new)?.state == .downloading)
            gate.open()
            try await hub.announced.wait(for: new, .completed)
        }
    }

    @Test func `where a digest proves the file, the task goes on with another ETag`() async throws {
        try await withNewDownload(tag: "\"v2\"") { hub, server, old, new, _ in
            var edit = TaskEdit()
            var digest = DigestState(.sha256)
            TestContent.large.bytes.withUnsafeBytes { digest.update($0) }
            edit.checksum = .some(Checksum(.sha256, digest.value))
            try await hub.coordinator.edit(old, edit)
            #expect(try await asked(new, Self.profile, in: hub) == old)
            try await hub.coordinator.carryOn(old, with: new)
            try await hub.announced.wait(for: old, .completed)
            try await soon("the new download to be gone") { try await hub.record(new) == nil }
            #expect(hub.holds(.large, as: "a.bin"))
            #expect(hub.names == ["a.bin"])
        }
    }

    @Test(arguments: [TestContent.large, TestContent(seed: 9, count: 3 << 20)])
    func `where nothing proves the file the new download stays in the task's place`(
        content: TestContent
    ) async throws {
        try await withNewDownload(tag: "\"v2\"", content: content) { hub, _, old, new, gate in
            #expect(try await asked(new, Self.profile, in: hub) == old)
            try await hub.coordinator.carryOn(old, with: new)
            // Samples of the bytes could miss what differs.
            #expect(try await hub.record(old) == nil)
            gate.open()
            try await hub.announced.wait(for: new, .completed)
            #expect(hub.names.count == 1)
            #expect(hub.names.allSatisfy { hub.holds(content, as: $0) })
        }
    }

    @Test func `another profile is not asked`() async throws {
        try await withNewDownload(profile: Self.otherProfile) { hub, _, _, new, _ in
            let found = try await asked(new, Self.otherProfile, in: hub)
            #expect(found == nil)
        }
    }

    @Test func `a token that names no profile finds nothing`() async throws {
        try await withNewDownload(profile: "someone") { hub, _, _, new, _ in
            let found = try await asked(new, "someone", in: hub)
            #expect(found == nil)
        }
    }
}
