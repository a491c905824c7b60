// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

@testable import iDownData
@testable import iDownService

@Suite struct CoordinatorVerbsTests {
    @Test func `a paused download goes on where it stood`() async throws {
        try await withHeldDownload { hub, id, server, hold in
            try await hub.coordinator.carryOut(.pause, on: id)
            await hub.transferEnd(of: id)
            #expect(try await hub.record(id)?.segments.prefixLength == 1 << 20)
            hold.until.open()
            try await hub.coordinator.carryOut(.resume, on: id)
            try await hub.announced.wait(for: id, .completed)
            #expect(server.requests.last?["Range"] == "bytes=1048576-")
            #expect(hub.holds(.large, as: "a"))
        }
    }

    @Test func `a limit is on record, told and in force before its caller hears of it`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            hub.engine.setSpeedLimit(1)
            let id = try await hub.add(server.url("/a"))
            try await soon("the file of task \(id)") {
                try await hub.record(id)?.file != nil
            }
            try await hub.coordinator.set(id) { $0.speedLimit = 1 }
            #expect(try await hub.record(id)?.speedLimit == 1)
            #expect(hub.announced.last(of: id)?.record.speedLimit == 1)
            let told = hub.announced.all.count { $0.id == id }
            // What it is already is not told again.
            try await hub.coordinator.set(id) { $0.speedLimit = 1 }
            #expect(hub.announced.all.count { $0.id == id } <= told + 1)
            hub.engine.setSpeedLimit(0)
            #expect(await hub.coordinator.running[id]?.live.bytes == 0)
            try await hub.coordinator.set(id) { $0.speedLimit = 0 }
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.holds(.small, as: "a"))
            #expect(server.requests.count == 1)
        }
    }

    @Test func `the most connections are on record and told before their caller hears of it`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.large))
        defer { server.stop() }
        try await withHub { hub in
            // So low that it is not over before the end of this.
            hub.engine.setSpeedLimit(20_000)
            let id = try await hub.add(server.url("/a"))
            try await hub.arrival(of: 1, for: id)
            for (number, shown) in [(3, 3), (1, 1), (2, 2)] as [(Int?, Int)] {
                try await hub.coordinator.set(id) { $0.connections = .some(number) }
                #expect(try await hub.record(id)?.request.connections == number)
                #expect(hub.announced.last(of: id)?.record.request.connections == number)
                try await soon("\(shown) connections") {
                    await hub.coordinator.running[id]?.live.connections == shown
                }
            }
            // What it is already is not told again.
            let told = hub.announced.all.count { $0.id == id }
            try await hub.coordinator.set(id) { $0.connections = .some(2) }
            #expect(hub.announced.all.count { $0.id == id } <= told + 1)
            try await hub.coordinator.set(id) { $0.connections = .some(nil) }
            #expect(try await hub.record(id)?.request.connections == nil)
            hub.engine.setSpeedLimit(0)
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.holds(.large, as: "a"))
        }
    }

    @Test func `a limit that cannot be recorded is not in force`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        let faults = CallFaults()
        try await withHub(faults: faults) { hub in
            let id = try await hub.add(server.url("/a"), isPaused: true)
            faults.failNext()
            await #expect(throws: StoreFailure.self) {
                try await hub.coordinator.set(id) { $0.speedLimit = 1 }
            }
            #expect(try await hub.record(id)?.speedLimit == 0)
            faults.failNext()
            await #expect(throws: StoreFailure.self) {
                try await hub.coordinator.set(id) { $0.connections = .some(1) }
            }
            #expect(try await hub.record(id)?.request.connections == nil)
            try await hub.coordinator.carryOut(.resume, on: id)
            try await hub.announced.wait(for: id, .completed)
            let unknown = try #require(TaskID(rawValue: 99))
            await #expect(throws: ServiceRefusal.noSuchTask("99")) {
                try await hub.coordinator.set(unknown) { $0.speedLimit = 1 }
            }
            await #expect(throws: ServiceRefusal.noSuchTask("99")) {
                try await hub.coordinator.set(unknown) { $0.connections = .some(1) }
            }
        }
    }

    @Test func `a task has one transfer at a time, however fast it is paused and resumed`()
        async throws
    {
        try await withHeldDownload { hub, id, server, hold in
            let disk = await DiskHold(hub, of: id)
            for _ in 0..<5 {
                try await hub.coordinator.carryOut(.pause, on: id)
                try await hub.coordinator.carryOut(.resume, on: id)
            }
            // The first still syncs: the next has to wait for it.
            #expect(try await hub.record(id)?.state == .waiting(.queue))
            #expect(try await hub.record(id)?.attempt == AttemptNumber(rawValue: 1))
            #expect(server.requests.count == 1)
            hold.until.open()
            disk.release()
            try await hub.announced.wait(for: id, .completed)
            #expect(try await hub.record(id)?.attempt == AttemptNumber(rawValue: 2))
            #expect(hub.holds(.large, as: "a"))
        }
    }

    @Test func `a cancelled task leaves no file, and its caller hears after that`() async throws {
        try await withHeldDownload { hub, id, _, _ in
            #expect(hub.names == ["a.part"])
            try await hub.coordinator.carryOut(.cancel, on: id)
            #expect(hub.names == [])
            let record = try #require(try await hub.record(id))
            #expect(record.state == .cancelled)
            #expect(record.intent == nil)
            #expect(record.segments.isEmpty)
        }
    }

    @Test func `a task cancelled while it connects ends, and another may start`() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { request in
                request.target == "/slow"
                    ? [.open(gate), .stall] : ServedFile(.small).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            let id = try await hub.add(server.url("/slow"))
            await gate.waitUntilOpen()
            let next = try await hub.add(server.url("/next"))
            try await hub.coordinator.carryOut(.cancel, on: id)
            try await hub.announced.wait(for: next, .completed)
            #expect(hub.announced.kinds(of: id) == [.waiting, .downloading, .cancelled])
            #expect(hub.names == ["next"])
        }
    }

    @Test func `a task cancelled and resumed at once starts from zero`() async throws {
        try await withHeldDownload { hub, id, server, hold in
            let disk = await DiskHold(hub, of: id)
            let coordinator = hub.coordinator
            let cancelling = Task.immediate { try await coordinator.carryOut(.cancel, on: id) }
            let resuming = Task.immediate { try await coordinator.carryOut(.resume, on: id) }
            try await resuming.value
            hold.until.open()
            disk.release()
            try await cancelling.value
            try await hub.announced.wait(for: id, .completed)
            #expect(server.requests.last?["Range"] == nil)
            #expect(hub.holds(.large, as: "a"))
            #expect(hub.names == ["a"])
        }
    }

    @Test func `a removed download is gone with its file before the caller hears`() async throws {
        try await withHeldDownload { hub, id, _, _ in
            try await hub.coordinator.carryOut(.remove, on: id)
            #expect(hub.names == [])
            #expect(try await hub.record(id) == nil)
            #expect(hub.announced.all.filter { $0.id == id && $0.isRemoval }.count == 1)
            await #expect(throws: ServiceRefusal.noSuchTask(id.description)) {
                try await hub.coordinator.carryOut(.remove, on: id)
            }
        }
    }

    @Test func `a completed task that is retried gets a free name; the old file stays`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a.bin"))
            try await hub.announced.wait(for: id, .completed)
            let mark = hub.announced.all.count
            try await hub.coordinator.carryOut(.retry, on: id)
            try await hub.announced.wait(for: id, .completed, after: mark)
            #expect(hub.names == ["a (1).bin", "a.bin"])
            #expect(try await hub.record(id)?.file?.name == "a (1).bin")
            try await hub.coordinator.carryOut(.remove, on: id)
            #expect(hub.names == ["a (1).bin", "a.bin"])
        }
    }

    @Test func `verbs that a state does not know are refused and change nothing`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a.bin"))
            try await hub.announced.wait(for: id, .completed)
            let mark = hub.announced.all.count
            for command in [Command.pause, .resume, .cancel] {
                await #expect(throws: Refusal.invalidState(command, .completed)) {
                    try await hub.coordinator.carryOut(command, on: id)
                }
            }
            #expect(hub.announced.all.dropFirst(mark).allSatisfy { $0.id == nil })
        }
    }

    // MARK: All at once

    @Test func `sweeps count what they change, and only that`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer(
            script: .init { request in
                request.target.hasPrefix("/held")
                    ? file.answer(to: request) : ServedFile(.small).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            let coordinator = hub.coordinator
            let done = try await hub.add(server.url("/done"))
            try await hub.announced.wait(for: done, .completed)
            let held = try await hub.add(server.url("/held"))
            await hold.reached.waitUntilOpen()
            let waiting = try await hub.add(server.url("/waiting"))
            let paused = try await hub.add(server.url("/paused"), isPaused: true)
            let cancelled = try await hub.add(server.url("/cancelled"))
            try await coordinator.carryOut(.cancel, on: cancelled)

            #expect(try await coordinator.carryOut(.pause, onAllIn: [.waiting, .downloading]) == 2)
            // The last checkpoint is made before the reply.
            #expect(try await coordinator.task(held).live == nil)
            #expect(try await coordinator.carryOut(.pause, onAllIn: [.waiting, .downloading]) == 0)
            for id in [held, waiting, paused] {
                #expect(try await hub.record(id)?.state == .paused)
            }
            hold.until.open()
            #expect(try await coordinator.carryOut(.resume, onAllIn: [.paused, .failed]) == 3)
            #expect(try await coordinator.carryOut(.resume, onAllIn: [.paused, .failed]) == 0)
            for id in [held, waiting, paused] { try await hub.announced.wait(for: id, .completed) }
            #expect(try await coordinator.carryOut(.remove, onAllIn: [.completed]) == 4)
            #expect(try await coordinator.carryOut(.remove, onAllIn: [.completed]) == 0)
            #expect(try await hub.records.map(\.id) == [cancelled])
            #expect(hub.names == ["done", "held", "paused", "waiting"])
        }
    }

    @Test func `a row that cannot be read does not keep the others from being paused`()
        async throws
    {
        try await withHub(slots: 0) { hub in
            let bad = try await hub.add("http://127.0.0.1:9/bad")
            let good = try await hub.add("http://127.0.0.1:9/good")
            try await hub.store.damage(bad)
            let count = try await hub.coordinator.carryOut(
                .pause,
                onAllIn: [.waiting, .downloading]
            )
            #expect(count == 1)
            #expect(try await hub.record(good)?.state == .paused)
        }
    }

    // MARK: Slots

    @Test func `fewer slots send the last started back to the queue at once`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withHub(slots: 3) { hub in
            var ids: [TaskID] = []
            for number in 1...3 {
                ids.append(try await hub.add(server.url("/\(number)")))
                await server.waitForRequest(count: number)
            }
            await hub.coordinator.setSlots(1)
            let displaced = ids.dropFirst()
            try await hub.announced.wait("two displaced tasks") { all in
                displaced.allSatisfy { id in
                    all.last { $0.id == id && $0.kind != nil }?.kind == .waiting
                }
            }
            #expect(try await hub.downloading == [ids[0]])
            await hub.coordinator.setSlots(3)
            hold.until.open()
            for id in ids { try await hub.announced.wait(for: id, .completed) }
            for number in 1...3 { #expect(hub.holds(.large, as: "\(number)")) }
        }
    }

    @Test func `slots that come back at once do not start a second transfer of a task`()
        async throws
    {
        try await withHeldDownload(slots: 1) { hub, id, server, hold in
            let disk = await DiskHold(hub, of: id)
            await hub.coordinator.setSlots(0)
            await hub.coordinator.setSlots(1)
            try await hub.coordinator.carryOut(.resume, on: id)
            #expect(server.requests.count == 1)
            hold.until.open()
            disk.release()
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.holds(.large, as: "a"))
        }
    }
}

extension Store {
    /// Writes into a row what no idown would.
    func damage(_ id: TaskID) async throws {
        try await commit { transaction in
            _ = try transaction.texts(
                "UPDATE task SET segments = x'ffffffffffffffffffffff' WHERE id = \(id)"
            )
        }
    }
}
