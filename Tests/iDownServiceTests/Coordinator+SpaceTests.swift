// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownData
import iDownTesting
import iDownloader

@testable import iDownService
@testable import iDownState

/// Tasks that wait for room on a disk.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorSpaceTests {
    /// A host with small files, and `/huge`, for which no disk has room.
    private static func server() throws -> FaultServer {
        let huge: Int64 = 1 << 50
        return try FaultServer(
            script: .init { request in
                request.path == "/huge"
                    ? [.head("200 OK", [("Content-Length", "\(huge)")]), .text("x"), .stall]
                    : ServedFile(.small).answer(to: request)
            }
        )
    }

    @Test func `a task that found the disk full goes on by itself when there is room`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.large))
        defer { server.stop() }
        // Somewhere in the first download the disk is full.
        let faults = FaultPlan(failing: 12, with: ENOSPC)
        try await withHub(fileFaults: faults, spaceInterval: .milliseconds(20)) { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait(for: id, hold: "space")
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.holds(.large, as: "a"))
            #expect(try await hub.record(id)?.tries == 0)
            try await soon("the disk not to be looked at any more") {
                await hub.coordinator.look { $0.space.watch == nil }
            }
        }
    }

    @Test func `while it waits others run, and the slot is free`() async throws {
        let server = try Self.server()
        defer { server.stop() }
        try await withHub(slots: 1, spaceInterval: .milliseconds(20)) { hub in
            let large = try await hub.add(server.url("/huge"))
            let small = try await hub.add(server.url("/small"))
            try await hub.announced.wait(for: large, hold: "space")
            try await hub.announced.wait(for: small, .completed)
            let record = try #require(try await hub.record(large))
            #expect(record.state == .waiting(.space))
            #expect(record.failure?.code == .fileNoSpace)
            let reasons = try await hub.coordinator.reasons(for: large).map(\.text)
            #expect(reasons.count == 1)
            #expect(reasons.first?.hasPrefix("disk full: 1.") == true, "\(reasons)")
            #expect(reasons.first?.hasSuffix(" PB missing") == true, "\(reasons)")
            // Looking at the disk is not asking the server.
            let requests = server.requests.count { $0.path == "/huge" }
            #expect(requests == 1)
        }
    }

    @Test func `a try by hand does not wait for the next look`() async throws {
        let server = try FaultServer.serving(ServedFile(.large))
        defer { server.stop() }
        let faults = FaultPlan(failing: 12, with: ENOSPC)
        try await withHub(fileFaults: faults, spaceInterval: .seconds(3600)) { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait(for: id, hold: "space")
            try await hub.coordinator.carryOut(.retry, on: id)
            try await hub.announced.wait(for: id, .completed)
        }
    }

    @Test func `who is added or tried anew on a disk that was full has it looked at at once`()
        async throws
    {
        let server = try Self.server()
        defer { server.stop() }
        try await withHub(spaceInterval: .seconds(3600)) { hub in
            let files = hub.files
            await hub.coordinator.look { $0.space.noteFull(files) }
            let small = try await hub.add(server.url("/small"))
            try await hub.announced.wait(for: small, .completed)
            // No disk has room for this one, so that it waits on after its try.
            let large = try await hub.add(server.url("/huge"))
            try await hub.announced.wait(for: large, hold: "space")
            try await soon("the look for the held task") {
                await hub.coordinator.look { $0.space.measures.isEmpty }
            }
            await hub.coordinator.look { $0.space.noteFull(files) }
            try await hub.coordinator.carryOut(.retry, on: large)
            try await soon("the second request for the large file") {
                server.requests.count { $0.path == "/huge" } == 2
            }
        }
    }

    @Test func `what waited for room when the service ended is tried anew`() async throws {
        let server = try FaultServer.serving(ServedFile(.large))
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            let faults = FaultPlan(failing: 12, with: ENOSPC)
            let id = try await withHub(
                in: folder,
                fileFaults: faults,
                spaceInterval: .seconds(3600)
            ) { hub in
                let id = try await hub.add(server.url("/a"))
                try await hub.announced.wait(for: id, hold: "space")
                return id
            }
            try await withHub(in: folder) { hub in
                try await hub.announced.wait(for: id, .completed)
            }
        }
    }

    @Test
    func `what was passed over for a full folder starts when there is room, whoever waits on`()
        async throws
    {
        let server = try Self.server()
        defer { server.stop() }
        try await withHub(spaceInterval: .milliseconds(20)) { store, files in
            // So many wait already that nobody else is told what it waits for.
            try await store.commit { transaction in
                for number in 1...Admission.mostHeld {
                    var record = TaskRecord(
                        id: try transaction.makeID(),
                        request: TaskRequest(url: "http://127.0.0.1:9/\(number)", directory: files),
                        createdAt: .now
                    )
                    record.failure = Failure(.networkReset, "cut", isTransient: true)
                    record.state = .waiting(.retry(at: WallTime.now.advanced(by: .seconds(3600))))
                    try transaction.insert(record)
                }
            }
        } _: { hub in
            let large = try await hub.add(server.url("/huge"))
            try await hub.announced.wait(for: large, hold: "space")
            let elsewhere = hub.path("elsewhere")
            try #require(mkdir(elsewhere, 0o700) == 0)
            await hub.coordinator.look { $0.space.noteFull(elsewhere) }
            let wish = hub.wish(server.url("/small")) { $0.directory = elsewhere }
            let small = try #require(try await hub.coordinator.add([wish], token: nil).first)
            try await hub.announced.wait(for: small, .completed)
            #expect(try await hub.record(large)?.state == .waiting(.space))
        }
    }
}
