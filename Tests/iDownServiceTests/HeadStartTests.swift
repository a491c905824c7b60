// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization
import Testing
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

/// What comes next while the finished file before it is being given its name.
@Suite struct HeadStartTests {
    /// Serves a file, except to the first who asks for another than `/a`: that opens the gate, and
    /// is answered by `answer`, if there is one.
    private func server(
        _ gate: FaultServer.Gate,
        _ answer: [FaultServer.Step]?
    ) throws -> FaultServer {
        try FaultServer(
            script: .init { request in
                let whole = ServedFile(.small).answer(to: request)
                guard request.target != "/a", !gate.isOpen else { return whole }
                return [.open(gate)] + (answer ?? whole)
            }
        )
    }

    /// Runs `body` with one slot, a task whose file is about to get its name and does not, and one
    /// that has begun ahead.
    private func withHeadStart(
        _ answer: [FaultServer.Step]?,
        _ body: (Hub, _ first: TaskID, _ next: TaskID, _ release: () -> Void) async throws -> Void
    ) async throws {
        let gate = FaultServer.Gate()
        let server = try server(gate, answer)
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            let ids = try [1, 2].map { try #require(TaskID(rawValue: $0)) }
            // The names of the folder go by one of the two.
            let other = await DiskHold(hub, of: ids[1])
            var disk = await DiskHold(hub, of: ids[0])
            let wishes = ["/a", "/next"].map { hub.wish(server.url($0)) }
            #expect(try await hub.coordinator.add(wishes, token: nil) == ids)
            while let next = try await disk.step(
                unless: { try await hub.record(ids[0])?.intent != nil }
            ) { disk = next }
            try await within("the next request") { await gate.waitUntilOpen() }
            let held = disk
            try await body(hub, ids[0], ids[1]) {
                held.release()
                other.release()
            }
        }
    }

    @Test func `it is asked for before the end of that one, and told of after it`() async throws {
        let isAsked = DispatchSemaphore(value: 0)
        let server = try FaultServer(
            script: .init { request in
                guard request.target != "/a" else { return ServedFile(.small).answer(to: request) }
                isAsked.signal()
                return [.stall]
            }
        )
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            let isLate = Mutex(false)
            let hasName = Mutex(false)
            // The file has its name: what is committed now says that it is completed.
            let faults = CallFaults {
                guard access(folder + "/files/a", F_OK) == 0 else { return false }
                guard !hasName.withLock({ $0 }) else { return false }
                hasName.withLock { $0 = true }
                if isAsked.wait(timeout: .now() + 60) == .timedOut { isLate.withLock { $0 = true } }
                return false
            }
            try await withHub(in: folder, slots: 1, faults: faults) { hub in
                let wishes = ["/a", "/next", "/last"].map { hub.wish(server.url($0)) }
                let ids = try await hub.coordinator.add(wishes, token: nil)
                try await hub.announced.wait(for: ids[1], .downloading)
                let wasLate = isLate.withLock(\.self)
                #expect(!wasLate)
                #expect(hub.announced.kinds(of: ids[0]).last == .completed)
                let told = hub.announced.all
                let end = told.firstIndex { $0.id == ids[0] && $0.kind == .completed }
                let start = told.firstIndex { $0.id == ids[1] && $0.kind == .downloading }
                #expect(try #require(end) < #require(start))
                #expect(try await hub.downloading == [ids[1]])
                #expect(server.requests.map(\.target) == ["/a", "/next"])
            }
        }
    }

    enum Obstacle: CaseIterable {
        case pause, fewerSlots, sleep
    }

    @Test(arguments: Obstacle.allCases)
    func `what does not get the slot after all ends, and starts anew later`(
        obstacle: Obstacle
    ) async throws {
        try await withHeadStart([.stall]) { hub, first, next, release in
            #expect(try await hub.record(next)?.state == .waiting(.queue))
            let coordinator = hub.coordinator
            switch obstacle {
            case .pause: try await coordinator.carryOut(.pause, on: next)
            case .fewerSlots: await coordinator.setSlots(0)
            case .sleep: await coordinator.fallAsleep()
            }
            try await soon("the end of it") {
                await coordinator.look { $0.slots.ahead.isEmpty }
            }
            release()
            try await hub.announced.wait(for: first, .completed)
            #expect(try await hub.record(next)?.attempt == AttemptNumber.none)
            #expect(hub.announced.kinds(of: next).contains(.downloading) == false)
            switch obstacle {
            case .pause: try await coordinator.carryOut(.resume, on: next)
            case .fewerSlots: await coordinator.setSlots(1)
            case .sleep: await coordinator.awaken()
            }
            try await hub.announced.wait(for: next, .completed)
            #expect(hub.names == ["a", "next"])
        }
    }

    @Test func `why it failed is told once it has its slot`() async throws {
        try await withHeadStart([.head("404 Not Found"), .close]) { hub, first, next, release in
            #expect(hub.announced.kinds(of: next) == [.waiting])
            release()
            try await hub.announced.wait(for: next, .failed)
            #expect(hub.announced.kinds(of: next) == [.waiting, .downloading, .failed])
            #expect(hub.announced.kinds(of: first).last == .completed)
        }
    }

    @Test func `what is removed meanwhile leaves its name to others`() async throws {
        try await withHeadStart(nil) { hub, first, next, release in
            try await hub.coordinator.carryOut(.remove, on: next)
            release()
            try await hub.announced.wait(for: first, .completed)
            let coordinator = hub.coordinator
            try await soon("the end of it") {
                await coordinator.look { $0.slots.ahead.isEmpty }
            }
            let url = try #require(try await hub.record(first)).request.url
            let again = try await hub.add(String(url.dropLast()) + "next")
            try await hub.announced.wait(for: again, .completed)
            #expect(hub.names == ["a", "next"])
        }
    }
}
