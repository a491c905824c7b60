// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

@testable import iDownService

/// A service whose n-th call into libdbus fails, for every n of a task's life on the bus.
@Suite(.timeLimit(.minutes(5))) struct ManagerServiceFaultTests {
    /// Once more where it failed: that is what a client does.
    private func insist<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch { return try await body() }
    }

    /// A task comes, is looked at and changed, and goes.
    private func scenario(_ scene: ServiceScene, _ number: Int) async throws {
        let client = scene.client
        var options = AddOptions()
        options.paused = true
        // Whether it was added a client without an answer cannot know; the token makes it one.
        options.token = "call \(number)"
        let id = try await insist {
            try await client.addURL("http://127.0.0.1:9/", options: options)
        }
        #expect(try await insist { try await client.listTasks() }.map(\.id) == [id], "\(number)")
        try await insist { try await client.setPriority(number % 2 == 0 ? 5 : 6, of: id) }
        let task = try await insist { try await client.getTask(id) }
        #expect(task.state == .paused && task.priority == (number % 2 == 0 ? 5 : 6), "\(number)")
        do {
            try await client.remove(id)
        } catch {
            // It may be gone, and only its answer lost.
            try? await client.remove(id)
        }
        #expect(try await insist { try await client.listTasks() }.isEmpty, "\(number)")
    }

    @Test func `whatever call into libdbus fails, the service goes on and the list is right`()
        async throws
    {
        let plan = CallFaults()
        try await withService(busFaults: plan) { scene in
            // The first of all brings up what is needed once.
            try await scenario(scene, 0)
            let before = plan.calls
            try await scenario(scene, -1)
            let calls = plan.calls - before
            #expect(calls > 30)
            for number in 1...calls {
                plan.failOnly(after: number - 1)
                try await scenario(scene, number)
            }
            #expect(try await scene.client.taskCount() == 0)
        }
    }
}
