// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

@Suite struct CoordinatorTests {
    @Test func `a task is downloaded and told of from its first state to its last`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a.bin"))
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.announced.kinds(of: id) == [.waiting, .downloading, .completed])
            #expect(hub.holds(.small, as: "a.bin"))
            #expect(hub.names == ["a.bin"])
            #expect(try await hub.record(id)?.integrity == .validators)
        }
    }

    @Test func `whatever is announced is in the store already`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let early = Mutex<[String]>([])
            // Opens once the store has been asked about the completion, which a removal would change.
            let compared = FaultServer.Gate()
            hub.announced.after { announcement in
                guard let id = announcement.id else { return }
                let stored = try? await hub.record(id)
                switch announcement {
                case .added(let told), .changed(_, let told):
                    defer { if told.record.state == .completed { compared.open() } }
                    // The store may be ahead by what the same commit started.
                    let isAhead = stored?.attempt == told.record.attempt.next
                    guard stored != told.record, !isAhead else { return }
                    early.withLock { $0.append("\(told.record.state), stored \(stored as Any)") }
                case .removed:
                    guard stored != nil else { return }
                    early.withLock { $0.append("removed") }
                case .progressed, .counted: return
                }
            }
            let id = try await hub.add(server.url("/a.bin"), isPaused: true)
            try await hub.coordinator.carryOut(.resume, on: id)
            try await within("the completion to be compared") { await compared.waitUntilOpen() }
            try await hub.coordinator.carryOut(.remove, on: id)
            #expect(hub.announced.all.last { $0.id != nil }?.isRemoval == true)
            #expect(early.withLock { $0 } == [])
        }
    }

    @Test func `the caller hears after everybody else`() async throws {
        try await withHub(begins: false) { hub in
            let gate = FaultServer.Gate()
            let reached = FaultServer.Gate()
            hub.announced.after { _ in
                reached.open()
                await gate.waitUntilOpen()
            }
            let hasReply = Mutex(false)
            let call = Task {
                let id = try await hub.add("http://127.0.0.1:9/a", isPaused: true)
                hasReply.withLock { $0 = true }
                return id
            }
            await reached.waitUntilOpen()
            #expect(!hasReply.withLock { $0 })
            gate.open()
            _ = try await call.value
        }
    }

    @Test func `calls that arrive together share a commit`() async throws {
        let commit = HeldCommit()
        let faults = commit.faults
        try await withHub(faults: faults, begins: false) { hub in
            commit.holdNext()
            defer { commit.release() }
            let first = Task { try await hub.add("http://127.0.0.1:9/0", isPaused: true) }
            try await commit.reached()
            let before = faults.calls
            let calls = (1...20).map { number in
                Task.immediate {
                    try await hub.add("http://127.0.0.1:9/\(number)", isPaused: true)
                }
            }
            // The executor is fair: behind this all twenty are in the queue.
            _ = await hub.coordinator.speed
            commit.release()
            let firstID = try await first.value
            var ids = [firstID]
            for call in calls { ids.append(try await call.value) }
            #expect(faults.calls == before + 1)
            #expect(ids == ids.sorted(), "not in the order of the calls")
        }
    }

    @Test func `the next commit does not wait until everybody was told of the last one`()
        async throws
    {
        try await withHub(begins: false) { hub in
            let gate = FaultServer.Gate()
            hub.announced.after { _ in await gate.waitUntilOpen() }
            let first = Task { try await hub.add("http://127.0.0.1:9/1", isPaused: true) }
            try await hub.announced.wait("the first") { !$0.isEmpty }
            let second = Task { try await hub.add("http://127.0.0.1:9/2", isPaused: true) }
            try await soon("the second to be durable") { try await hub.records.count == 2 }
            #expect(hub.announced.all.compactMap(\.id).count == 1)
            gate.open()
            _ = try await (first.value, second.value)
            #expect(hub.announced.all.compactMap(\.id?.rawValue) == [1, 2])
        }
    }

    @Test func `a refused call does not disturb those that share its commit`() async throws {
        try await withHub(begins: false) { hub in
            let gate = FaultServer.Gate()
            let reached = FaultServer.Gate()
            hub.announced.after { _ in
                reached.open()
                await gate.waitUntilOpen()
            }
            let first = Task { try await hub.add("http://127.0.0.1:9/0", isPaused: true) }
            await reached.waitUntilOpen()
            let coordinator = hub.coordinator
            let unknown = try #require(TaskID(rawValue: 999))
            let refused = Task.immediate { try await coordinator.carryOut(.pause, on: unknown) }
            let accepted = Task.immediate {
                try await hub.add("http://127.0.0.1:9/1", isPaused: true)
            }
            _ = await coordinator.speed
            gate.open()
            _ = try await first.value
            await #expect(throws: ServiceRefusal.noSuchTask("999")) { try await refused.value }
            let id = try await accepted.value
            #expect(try await hub.record(id) != nil)
        }
    }

    @Test func `slots are filled by priority and then in order`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            let first = try await hub.add(server.url("/1"))
            await hold.reached.waitUntilOpen()
            let second = try await hub.add(server.url("/2"))
            let third = try await hub.add(server.url("/3"), priority: 5)
            #expect(try await hub.downloading == [first])
            hold.until.open()
            for id in [first, second, third] { try await hub.announced.wait(for: id, .completed) }
            #expect(server.requests.map(\.target) == ["/1", "/3", "/2"])
        }
    }

    @Test func `many tasks run through few slots, never more at once`() async throws {
        let server = try FaultServer.serving(ServedFile(TestContent(seed: 1, count: 100)))
        defer { server.stop() }
        try await withHub(slots: 4) { hub in
            let most = Mutex(0)
            let running = Mutex<Set<TaskID>>([])
            hub.announced.after { announcement in
                guard let id = announcement.id, let kind = announcement.kind else { return }
                let count = running.withLock { running in
                    if kind == .downloading { running.insert(id) } else { running.remove(id) }
                    return running.count
                }
                most.withLock { $0 = max($0, count) }
            }
            let wishes = (0..<60).map { hub.wish(server.url("/\($0)")) }
            let ids = try await hub.coordinator.add(wishes, token: nil)
            for id in ids { try await hub.announced.wait(for: id, .completed) }
            #expect(most.withLock { $0 } == 4)
            #expect(hub.names.count == 60)
        }
    }
}
