// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@testable import iDownService

@Suite struct EndWaitersTests {
    private func id(_ number: Int64) throws -> TaskID {
        try #require(TaskID(rawValue: number))
    }

    @Test func `no client may have more pending than its share, nor all more than theirs`() throws {
        var waiters = EndWaiters(limits: (client: 2, all: 3))
        let one = try id(1)
        let first = try waiters.begin(one, for: "a")
        _ = try waiters.begin(one, for: "a")
        #expect(throws: ServiceRefusal.self) { try waiters.begin(one, for: "a") }
        _ = try waiters.begin(one, for: "b")
        #expect(throws: ServiceRefusal.self) { try waiters.begin(one, for: "b") }
        waiters.remove(first)
        _ = try waiters.begin(one, for: "b")
        #expect(waiters.count == 3)
        #expect(waiters.waits("a") && waiters.waits("b") && !waiters.waits("c"))
    }

    @Test func `what comes before anybody can be told is kept for it`() async throws {
        var waiters = EndWaiters()
        let number = try waiters.begin(try id(1), for: "a")
        waiters.end(try id(1), .completed)
        let outcome = await withCheckedContinuation { waiters.attach($0, to: number) }
        #expect(try outcome.get() == .completed)
        #expect(waiters.count == 0)
    }

    @Test func `a client that leaves takes its calls along and nobody else's`() async throws {
        var waiters = EndWaiters()
        let mine = try waiters.begin(try id(1), for: "a")
        _ = try waiters.begin(try id(1), for: "b")
        waiters.cancelAll(of: "a")
        let outcome = await withCheckedContinuation { waiters.attach($0, to: mine) }
        #expect(throws: CancellationError.self) { try outcome.get() }
        #expect(waiters.count == 1)
        #expect(!waiters.waits("a"))
    }

    @Test func `Wait answers with the end of a task, at once where it has come`() async throws {
        try await withHub(begins: false) { hub in
            let id = try await hub.add("http://127.0.0.1:9/a")
            let other = try await hub.add("http://127.0.0.1:9/b")
            async let cancelled = hub.coordinator.end(of: id, for: "a")
            async let removed = hub.coordinator.end(of: other, for: "a")
            try await waitUntil("two calls to wait") { await hub.coordinator.endWaiters.count == 2 }
            try await hub.coordinator.carryOut(.pause, on: id)
            try await hub.coordinator.carryOut(.cancel, on: id)
            try await hub.coordinator.carryOut(.remove, on: other)
            #expect(try await cancelled == .cancelled)
            #expect(try await removed == nil)
            #expect(try await hub.coordinator.end(of: id, for: "a") == .cancelled)
            await #expect(throws: ServiceRefusal.self) {
                try await hub.coordinator.end(of: other, for: "a")
            }
            #expect(await hub.coordinator.endWaiters.count == 0)
        }
    }

    @Test func `a call that is given up waits no longer`() async throws {
        try await withHub(begins: false) { hub in
            let id = try await hub.add("http://127.0.0.1:9/a")
            let call = Task { try await hub.coordinator.end(of: id, for: "a") }
            try await waitUntil("the call to wait") { await hub.coordinator.endWaiters.count == 1 }
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(await hub.coordinator.endWaiters.count == 0)
        }
    }
}
