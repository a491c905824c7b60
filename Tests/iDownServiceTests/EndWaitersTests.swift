// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownBus
import iDownState
import iDownTesting

@testable import iDownService

@Suite struct EndWaitersTests {
    private func id(_ number: Int64) throws -> TaskID {
        try #require(TaskID(rawValue: number))
    }

    @Test func `no client waits for more than its share, nor all for more than theirs`()
        async throws
    {
        try await withHub(begins: false) { hub in
            let waits = Waits(hub, limits: (client: 2, all: 3))
            let first = waits.call(of: "a", for: try id(1))
            _ = waits.call(of: "a", for: try id(2))
            try await waits.reach(2)
            let third = waits.call(of: "a", for: try id(3))
            await #expect(throws: ServiceRefusal.self) { try await third.value }
            _ = waits.call(of: "b", for: try id(1))
            try await waits.reach(3)
            let another = waits.call(of: "b", for: try id(4))
            await #expect(throws: ServiceRefusal.self) { try await another.value }
            await waits.end(try id(1), .completed)
            #expect(try await first.value == .completed)
            try await waits.reach(1)
            _ = waits.call(of: "b", for: try id(4))
            try await waits.reach(2)
            waits.leave("a")
            try await waits.reach(1)
            waits.leave("b")
        }
    }

    @Test func `calls of one client for one task count as one, and the oldest give way`()
        async throws
    {
        try await withHub(begins: false) { hub in
            let waits = Waits(hub, limits: (client: 2, all: 3))
            let one = try id(1)
            var calls: [Task<TaskState.Kind?, any Error>] = []
            for number in 1...Contract.waitsForOneTask {
                calls.append(waits.call(of: "a", for: one))
                try await waits.reach(number, of: "a", for: one)
            }
            #expect(await waits.pairs == 1)
            let last = waits.call(of: "a", for: one)
            let refusal = await #expect(throws: ServiceRefusal.self) { try await calls[0].value }
            guard case .limitExceeded = refusal else {
                Issue.record("the oldest call ends with \(String(describing: refusal))")
                return
            }
            await waits.end(one, .failed)
            for call in calls.dropFirst() + [last] { #expect(try await call.value == .failed) }
            #expect(await waits.pairs == 0)
        }
    }

    @Test func `an application waits for its share of all, over however many connections`()
        async throws
    {
        try await withHub(begins: false) { hub in
            let waits = Waits(hub, limits: Contract.pendingWaits)
            let share = Contract.pendingWaitsOfApplication
            for number in 1...share {
                _ = waits.call(of: "\(number % 3)", of: "flatpak/a", for: try id(Int64(number)))
            }
            try await waits.reach(share)
            let another = waits.call(of: "new", of: "flatpak/a", for: try id(1))
            await #expect(throws: ServiceRefusal.self) { try await another.value }
            _ = waits.call(of: "other", of: "flatpak/b", for: try id(1))
            try await waits.reach(share + 1)
            await waits.end(try id(1), nil)
            try await waits.reach(share - 1)
            _ = waits.call(of: "new", of: "flatpak/a", for: try id(1))
            try await waits.reach(share)
            for client in ["0", "1", "2", "new"] { waits.leave(client) }
            try await waits.reach(0)
        }
    }

    @Test func `a client that leaves takes its calls along and nobody else's`() async throws {
        try await withHub(begins: false) { hub in
            let waits = Waits(hub, limits: (client: 2, all: 3))
            let mine = waits.call(of: "a", for: try id(1))
            let others = waits.call(of: "b", for: try id(1))
            try await waits.reach(2)
            waits.leave("a")
            await #expect(throws: CancellationError.self) { try await mine.value }
            #expect(await waits.pairs == 1)
            await waits.end(try id(1), nil)
            #expect(try await others.value == nil)
        }
    }

    @Test func `Wait answers with the end of a task, at once where it has come`() async throws {
        try await withHub(begins: false) { hub in
            let id = try await hub.add("http://127.0.0.1:9/a")
            let other = try await hub.add("http://127.0.0.1:9/b")
            async let cancelled = hub.coordinator.end(of: id, for: "a")
            async let removed = hub.coordinator.end(of: other, for: "a")
            try await soon("two calls to wait") {
                await hub.coordinator.look { $0.endWaiters.count == 2 }
            }
            try await hub.coordinator.carryOut(.pause, on: id)
            try await hub.coordinator.carryOut(.cancel, on: id)
            try await hub.coordinator.carryOut(.remove, on: other)
            #expect(try await cancelled == .cancelled)
            #expect(try await removed == nil)
            #expect(try await hub.coordinator.end(of: id, for: "a") == .cancelled)
            await #expect(throws: ServiceRefusal.self) {
                try await hub.coordinator.end(of: other, for: "a")
            }
            #expect(await hub.coordinator.look { $0.endWaiters.count == 0 })
        }
    }

    @Test func `an end that was undone before the call came is not the end that it waits for`()
        async throws
    {
        try await withHub(begins: false) { hub in
            let id = try await hub.add("http://127.0.0.1:9/a")
            let early = Task { try await hub.coordinator.end(of: id, for: "early") }
            try await soon("the first call to wait") {
                await hub.coordinator.look { $0.endWaiters.count == 1 }
            }
            // Whoever tells of the end is behind.
            let gate = FaultServer.Gate()
            hub.announced.after { news in
                if news.kind == .cancelled { await gate.waitUntilOpen() }
            }
            let cancelled = Task { try await hub.coordinator.carryOut(.cancel, on: id) }
            try await hub.announced.wait(for: id, .cancelled)
            let retried = Task { try await hub.coordinator.carryOut(.retry, on: id) }
            try await soon("the task to wait again") {
                try await hub.record(id)?.state.kind == .waiting
            }
            let late = Task { try await hub.coordinator.end(of: id, for: "late") }
            try await soon("the second call to wait") {
                await hub.coordinator.look { $0.endWaiters.count == 2 }
            }
            gate.open()
            try await cancelled.value
            try await retried.value
            #expect(try await early.value == .cancelled)
            try await hub.coordinator.carryOut(.remove, on: id)
            #expect(try await late.value == nil)
            #expect(await hub.coordinator.look { $0.endWaiters.count == 0 })
        }
    }

    @Test func `a call that is given up waits no longer`() async throws {
        try await withHub(begins: false) { hub in
            let id = try await hub.add("http://127.0.0.1:9/a")
            let call = Task { try await hub.coordinator.end(of: id, for: "a") }
            try await soon("the call to wait") {
                await hub.coordinator.look { $0.endWaiters.count == 1 }
            }
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(await hub.coordinator.look { $0.endWaiters.count == 0 })
        }
    }
}

/// Waiters of their own on a hub's coordinator, and calls that wait there.
private final class Waits: Sendable {
    let coordinator: Coordinator
    /// Only touched on the coordinator's executor.
    nonisolated(unsafe) let waiters: EndWaiters
    private let calls = Mutex<[(client: String, call: Task<TaskState.Kind?, any Error>)]>([])

    init(_ hub: Hub, limits: (client: Int, all: Int)) {
        coordinator = hub.coordinator
        waiters = EndWaiters(limits: limits)
    }

    /// A call that waits from now on.
    func call(
        of client: String,
        of application: String? = nil,
        for task: TaskID
    ) -> Task<TaskState.Kind?, any Error> {
        let call = Task { try await coordinator.wait(in: self, client, application, task) }
        calls.withLock { $0.append((client, call)) }
        return call
    }

    func end(_ task: TaskID, _ end: EndWaiters.End) async {
        await coordinator.look { _ in self.waiters.end(task, end) }
    }

    /// Cancels the calls of a client, as the connection does when the client leaves.
    func leave(_ client: String) {
        for (_, call) in calls.withLock({ $0.filter { $0.client == client } }) { call.cancel() }
    }

    var pairs: Int {
        get async { await coordinator.look { _ in self.waiters.count } }
    }

    /// Returns once so many pairs of a client and a task wait.
    func reach(_ count: Int) async throws {
        try await soon("\(count) pairs to wait") { await self.pairs == count }
    }

    /// Returns once so many calls of a client wait for a task.
    func reach(_ count: Int, of client: String, for task: TaskID) async throws {
        try await soon("\(count) calls to wait") {
            await self.coordinator.look { _ in self.waiters.calls(of: client, for: task) } == count
        }
    }
}

extension Coordinator {
    fileprivate func wait(
        in waits: Waits,
        _ client: String,
        _ application: String?,
        _ task: TaskID
    ) async throws -> TaskState.Kind? {
        try await waits.waiters.wait(for: task, client: client, of: application, in: self)
    }
}
