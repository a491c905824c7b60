// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

/// A store whose n-th commit fails, for every n of a task's life.
@Suite struct CommitFaultTests {
    /// Does it, and once more if the list could not be written; nobody may have been told then.
    private func insist<Value>(
        _ hub: Hub,
        telling isOutcome: (Announcement) -> Bool,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let mark = hub.announced.all.count
        do {
            return try await body()
        } catch StoreFailure.database {
            let wasTold = hub.announced.all.dropFirst(mark).contains(where: isOutcome)
            #expect(!wasTold)
            return try await body()
        }
    }

    private func insist(_ hub: Hub, on id: TaskID, _ command: Command) async throws {
        try await insist(
            hub,
            telling: { announcement in
                switch command {
                case .pause: announcement.kind == .paused
                case .resume, .retry: announcement.kind == .waiting
                case .cancel: announcement.kind == .cancelled
                case .remove: announcement.isRemoval
                }
            }
        ) {
            try await hub.coordinator.carryOut(command, on: id)
        }
    }

    @Test(arguments: 1...12) func `a task is added, downloaded and removed all the same`(
        failing number: Int
    ) async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        let faults = CallFaults()
        try await withHub(faults: faults) { hub in
            // Behind this the start of the service has been committed.
            _ = try? await hub.coordinator.carryOut(.pause, onAllIn: [.waiting])
            faults.failNext(after: number - 1)
            let id = try await insist(hub, telling: \.isAddition) {
                try await hub.add(server.url("/a"))
            }
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.holds(.small, as: "a"))
            try await insist(hub, on: id, .remove)
            #expect(try await hub.record(id) == nil)
            #expect(hub.names == ["a"])
            let told = hub.announced.all.filter { $0.id == id }
            #expect(told.filter(\.isAddition).count == 1)
            #expect(told.filter(\.isRemoval).count == 1)
            #expect(told.last?.isRemoval == true)
        }
    }

    @Test(arguments: 1...8) func `a download is paused, resumed and cancelled all the same`(
        failing number: Int
    ) async throws {
        let faults = CallFaults()
        try await withHeldDownload(faults: faults) { hub, id, _, hold in
            faults.failNext(after: number - 1)
            try await insist(hub, on: id, .pause)
            await hub.transferEnd(of: id)
            try await insist(hub, on: id, .resume)
            try await insist(hub, on: id, .cancel)
            try await soon("the partial file to go") {
                try await hub.record(id)?.intent == nil && hub.names == []
            }
            try await insist(hub, on: id, .remove)
            try await hub.announced.waitForRemoval(of: id)
            hold.until.open()
        }
    }
}
