// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownState
import iDownTesting

@testable import iDownService

/// Runs `body` with a task that has a megabyte of its file; the rest comes at the second request.
func withPartial(
    isPaused: Bool = true,
    _ body: (Hub, TaskID, FaultServer) async throws -> Void
) async throws {
    let (server, hold) = try FaultServer.holdingFirst()
    defer { server.stop() }
    try await withHub { hub in
        let id = try await hub.add(server.url("/a.bin"))
        await hold.reached.waitUntilOpen()
        try await hub.arrival(of: 1 << 20, for: id)
        if isPaused {
            try await hub.coordinator.carryOut(.pause, on: id)
            await hub.transferEnd(of: id)
        }
        try await body(hub, id, server)
    }
}

/// Leaves a paused task with a megabyte of its file in the folder `drive`, and no service.
func withLeftPartial(
    _ body: (_ folder: String, TaskID) async throws -> Void
) async throws {
    let (held, hold) = ServedFile.held()
    let server = try FaultServer.serving(held)
    defer { server.stop() }
    try await withTemporaryFolder { folder in
        let id = try await withHub(in: folder) { hub in
            let drive = hub.folder("drive")
            let wish = hub.wish(server.url("/a.bin")) { $0.directory = drive }
            let id = try #require(try await hub.coordinator.add([wish], token: nil).first)
            await hold.reached.waitUntilOpen()
            try await hub.arrival(of: 1 << 20, for: id)
            try await hub.coordinator.carryOut(.pause, on: id)
            await hub.transferEnd(of: id)
            return id
        }
        try await body(folder, id)
    }
}

extension TaskEdit {
    init(directory: String? = nil, name: String? = nil) {
        self.init()
        self.directory = directory
        fileName = name
    }
}

extension Hub {
    /// Waits until nothing of the task is to move.
    func waitForMove(_ id: TaskID) async throws {
        try await soon("the move of task \(id)") { try await record(id)?.move == nil }
    }

    func waitForCommits() async throws {
        try await soon("the commits") { await coordinator.look { $0.commits.isIdle } }
    }

    /// Makes a folder.
    func folder(_ name: String) -> String {
        let path = path(name)
        mkdir(path, 0o700)
        return path
    }

    /// Lets a task of ``withPartial(isPaused:_:)`` go on to its end.
    func finish(
        _ id: TaskID,
        _ server: FaultServer,
        as path: String,
        requests: Int = 2
    ) async throws {
        if try await record(id)?.state == .paused {
            try await coordinator.carryOut(.resume, on: id)
        }
        try await announced.wait(for: id, .completed)
        #expect(try TestContent.large.firstDifference(fromFile: path) == nil)
        #expect(server.requests.count == requests)
        #expect(server.requests.last?["Range"] == "bytes=\(1 << 20)-")
    }
}

extension Coordinator {
    /// Returns once nothing moves the task's file, or it has to be tried again later.
    func moveEnd(of id: TaskID) async -> Moves.End? {
        await moves.end(of: id, atMost: .milliseconds(300), in: self)
    }
}
