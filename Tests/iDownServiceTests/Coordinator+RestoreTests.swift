// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting
import iDownloader

@testable import iDownData
@testable import iDownService
@testable import iDownState

@Suite struct CoordinatorRestoreTests {
    private static let part = LocalFile(name: "a", fileSystem: 0, mark: 2)

    @Test func `what was downloading goes on by itself`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            let id = try await withHub(in: folder) { hub in
                let id = try await hub.add(server.url("/a"))
                await hold.reached.waitUntilOpen()
                try await hub.arrival(of: 1 << 20, for: id)
                return id
            }
            hold.until.open()
            try await withHub(in: folder) { hub in
                try await hub.announced.wait(for: id, .completed)
                #expect(hub.holds(.large, as: "a"))
                #expect(hub.names == ["a"])
            }
            #expect(server.requests.map { $0["Range"] } == [nil, "bytes=1048576-"])
        }
    }

    @Test func `a file that had its name before a crash is told of after it`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            let id = try await withHub(in: folder) { hub in
                let id = try await hub.add(server.url("/a"))
                try await hub.announced.wait(for: id, .completed)
                #expect(await hub.coordinator.completedByRestore.isEmpty)
                return id
            }
            try await withHub(in: folder) { store, _ in
                try await store.rewrite(id) { interrupted in
                    interrupted.state = .downloading
                    interrupted.intent = .publish(name: "a")
                    interrupted.finishedAt = nil
                }
            } _: { hub in
                let told = await hub.coordinator.completedByRestore
                #expect(told.map(\.record.id) == [id])
                #expect(told.first?.record.state == .completed)
                #expect(hub.names == ["a"])
            }
        }
    }

    @Test(
        arguments: [
            TaskState.failed, .paused, .waiting(.retry(at: .someTime)), .waiting(.space),
        ]
    )
    func `a file that has its name, and could not be said to, is not fetched again`(
        state: TaskState
    ) async throws {
        try await withUntoldPublication(state) { hub, id, server throws in
            // By itself only goes on what waits.
            let isWaiting = state.kind == .waiting
            #expect(try await hub.record(id)?.state.kind == (isWaiting ? .completed : state.kind))
            if !isWaiting {
                try await hub.coordinator.carryOut(.resume, on: id)
                try await hub.announced.wait(for: id, .completed)
            }
            #expect(hub.holds(.small, as: "b"))
            #expect(hub.names == ["b"])
            #expect(try await hub.record(id)?.path == hub.path("b"))
            #expect(server.requests.count == 1)
        }
    }

    @Test func `where it is not known yet whether it has, the next try finds out`() async throws {
        // The look of the start fails, and nothing else.
        let faults = FaultPlan(failing: 1, with: EIO, times: 1)
        try await withUntoldPublication(.waiting(.queue), faults) { hub, id, server throws in
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.names == ["b"])
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a drive that is not there at the start costs no file that has its name`()
        async throws
    {
        try await withHub { store, files in
            try await store.insert(
                url: "http://127.0.0.1:9/a",
                directory: files + "/not-mounted"
            ) { record in
                record.state = .downloading
                record.attempt = AttemptNumber(rawValue: 1)
                record.file = Self.part
                record.intent = .publish(name: "a")
            }
        } _: { hub in
            let id = try #require(TaskID(rawValue: 1))
            try await hub.announced.wait(for: id, hold: "retry")
            #expect(try await hub.record(id)?.file == Self.part)
            #expect(try await hub.record(id)?.intent == .publish(name: "a"))
            // Nothing of it is there to be deleted.
            try await hub.coordinator.carryOut(.remove, on: id)
            #expect(try await hub.record(id) == nil)
        }
    }

    @Test func `nothing starts before begin, not even what a back-off releases`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        let url = server.url("/a")
        try await withHub(begins: false) { store, files in
            try await store.insert(url: url, directory: files) { record in
                record.state = .waiting(.retry(at: .someTime))
                record.failure = Failure(.networkReset, "cut", isTransient: true)
            }
        } _: { hub in
            let id = try #require(TaskID(rawValue: 1))
            try await soon("the back-off to end") {
                guard case .waiting(.retry) = try await hub.record(id)?.state else { return true }
                return false
            }
            #expect(try await hub.record(id)?.state == .waiting(.queue))
            await hub.coordinator.begin()
            try await hub.announced.wait(for: id, .completed)
        }
    }

    @Test func `a row that cannot be read keeps neither the service nor the others from starting`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        let url = server.url("/a")
        try await withHub { store, files in
            let bad = try await store.insert(url: url + "bad", directory: files) { record in
                record.state = .downloading
            }
            let waiting = try await store.insert(url: url + "worse", directory: files) { record in
                record.priority = 9
            }
            try await store.insert(url: url, directory: files)
            try await store.damage(bad)
            try await store.damage(waiting)
        } _: { hub in
            let good = try #require(TaskID(rawValue: 3))
            try await hub.announced.wait(for: good, .completed)
        }
    }

    @Test func `a row that cannot be read holds no slot, and can be removed`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        let url = server.url("/a")
        try await withHub(slots: 1) { store, files in
            let bad = try await store.insert(url: url + "bad", directory: files) { record in
                record.state = .downloading
            }
            let worse = try await store.insert(url: url + "worse", directory: files)
            try await store.insert(url: url, directory: files)
            try await store.damage(bad)
            try await store.damage(worse)
        } _: { hub in
            let ids = (1...3).compactMap { TaskID(rawValue: $0) }
            try await hub.announced.wait(for: ids[2], .completed)
            let counts = try await hub.coordinator.counts()
            #expect(counts[.downloading] == 0)
            #expect(counts[.failed] == 1)
            try await hub.coordinator.carryOut(.remove, on: ids[0])
            try await hub.announced.waitForRemoval(of: ids[0])
            #expect(try await hub.coordinator.carryOut(.remove, on: [ids[1]]) == 1)
            let left = try await hub.store.read { snapshot in
                try snapshot.texts("SELECT id FROM task UNION ALL SELECT id FROM taskText")
            }
            #expect(left == [["3"], ["3"]])
        }
    }

    @Test func `a task whose open publication cannot be carried out refuses verbs`() async throws {
        // Every call into the file system fails while the list is restored.
        let faults = FaultPlan(failing: 1, with: EIO, times: .max / 2)
        try await withHub(fileFaults: faults) { store, files in
            try await store.insert(url: "http://127.0.0.1:9/a", directory: files) { record in
                record.state = .downloading
                record.attempt = AttemptNumber(rawValue: 1)
                record.file = Self.part
                record.intent = .publish(name: "a")
            }
        } _: { hub in
            let id = try #require(TaskID(rawValue: 1))
            let coordinator = hub.coordinator
            // Any answer will do, if there is one.
            _ = try await within("an answer to the pause") {
                try? await coordinator.carryOut(.pause, on: id)
            }
        }
    }

    @Test func `a folder that cannot be opened at the start costs no progress`() async throws {
        let faults = FaultPlan(failing: 1, with: EACCES, times: .max / 2)
        let segments = SegmentMap([ByteRange(first: 0, length: 1000)].compactMap(\.self))
        try await withHub(fileFaults: faults) { store, files in
            try await store.insert(url: "http://127.0.0.1:9/a", directory: files) { record in
                record.state = .paused
                record.file = Self.part
                record.segments = segments
                record.remote = RemoteVersion(total: 2000)
            }
        } _: { hub in
            let id = try #require(TaskID(rawValue: 1))
            let record = try #require(try await hub.record(id))
            #expect(record.segments == segments)
            #expect(record.file == Self.part)
        }
    }

    @Test func `a folder that is not there at the start costs no progress`() async throws {
        let segments = SegmentMap([ByteRange(first: 0, length: 1000)].compactMap(\.self))
        try await withHub { store, files in
            try await store.insert(
                url: "http://127.0.0.1:9/a",
                directory: files + "/not-mounted"
            ) { record in
                record.state = .paused
                record.file = Self.part
                record.segments = segments
                record.remote = RemoteVersion(total: 2000)
            }
        } _: { hub in
            let id = try #require(TaskID(rawValue: 1))
            #expect(try await hub.record(id)?.segments == segments)
        }
    }

    @Test func `a partial file that is gone is forgotten`() async throws {
        try await withHub { store, files in
            try await store.insert(url: "http://127.0.0.1:9/a", directory: files) { record in
                record.state = .paused
                record.file = Self.part
                record.segments = SegmentMap(
                    [ByteRange(first: 0, length: 1000)].compactMap(\.self)
                )
            }
        } _: { hub in
            let id = try #require(TaskID(rawValue: 1))
            let record = try #require(try await hub.record(id))
            #expect(record.segments.isEmpty)
            #expect(record.file == nil)
        }
    }

    @Test func `an open intent to remove is carried out`() async throws {
        try await withHub { store, files in
            try await store.insert(url: "http://127.0.0.1:9/a", directory: files) { record in
                record.state = .cancelled
                record.file = Self.part
                record.intent = .remove
            }
        } _: { hub in
            let id = try #require(TaskID(rawValue: 1))
            #expect(try await hub.record(id) == nil)
        }
    }
}
