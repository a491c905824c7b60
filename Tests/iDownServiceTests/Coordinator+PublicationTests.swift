// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// Verbs that come while the finished file is being given its name.
@Suite struct CoordinatorPublicationTests {
    /// Runs `body` with a download that stands still between the intent and the rename.
    private func withPublication(
        _ body: (Hub, TaskID, _ release: @escaping @Sendable () -> Void) async throws -> Void
    ) async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let ids = try [1, 2].map { try #require(TaskID(rawValue: $0)) }
            // The names of the folder go by one of the two.
            let other = await DiskHold(hub, of: ids[1])
            var disk = await DiskHold(hub, of: ids[0])
            #expect(try await hub.add(server.url("/a.bin")) == ids[0])
            while let next = try await disk.step(
                unless: { try await hub.record(ids[0])?.intent != nil }
            ) { disk = next }
            #expect(!hub.names.contains("a.bin"))
            let held = disk
            let release: @Sendable () -> Void = {
                held.release()
                other.release()
            }
            try await body(hub, ids[0], release)
            release()
        }
    }

    @Test func `a pause waits for the end of it, and is refused then`() async throws {
        try await withPublication { hub, id, release in
            let coordinator = hub.coordinator
            let call = Task.immediate { try await coordinator.carryOut(.pause, on: id) }
            _ = await coordinator.speed
            release()
            await #expect(throws: Refusal.invalidState(.pause, .completed)) {
                try await call.value
            }
            #expect(hub.holds(.small, as: "a.bin"))
        }
    }

    @Test func `a removal waits for the end of it, and the file stays`() async throws {
        try await withPublication { hub, id, release in
            let coordinator = hub.coordinator
            let call = Task.immediate { try await coordinator.carryOut(.remove, on: id) }
            _ = await coordinator.speed
            release()
            try await call.value
            #expect(hub.names == ["a.bin"])
            #expect(hub.announced.kinds(of: id).last == .completed)
            #expect(hub.announced.all.last { $0.id == id }?.isRemoval == true)
        }
    }

    @Test(arguments: [Command.pause, .cancel, .remove])
    func `a verb does not wait for a disk that does not answer, and the file stays`(
        command: Command
    ) async throws {
        try await withPublication { hub, id, release in
            let coordinator = hub.coordinator
            try await soon("the disk to count as one that does not answer") {
                await coordinator.look { $0.slots.stuckTasks } == [id]
            }
            try await coordinator.carryOut(command, on: id)
            let record = try #require(try await hub.record(id))
            #expect(record.state == (command == .pause ? .paused : .cancelled))
            release()
            switch command {
            case .pause: try await hub.announced.wait(for: id, .completed)
            default:
                try await soon("the end of the deletion") {
                    try await hub.record(id)?.isDeleting != true
                }
            }
            let state = try await hub.record(id)?.state
            let end: TaskState? = command == .remove ? nil : .cancelled
            #expect(state == (command == .pause ? .completed : end))
            #expect(hub.names == ["a.bin"])
            #expect(hub.holds(.small, as: "a.bin"))
        }
    }

    @Test func `an add of the same file means the task that is nearly there`() async throws {
        try await withPublication { hub, id, release in
            let url = try #require(try await hub.record(id)).request.url
            #expect(try await hub.add(url) == id)
            release()
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.names == ["a.bin"])
        }
    }

    @Test func `a sweep waits for the end of it, and passes it over then`() async throws {
        try await withPublication { hub, id, release throws in
            let coordinator = hub.coordinator
            let sweep = Task.immediate {
                try await coordinator.carryOut(.pause, onAllIn: [.downloading])
            }
            await coordinator.setSlots(0)
            release()
            #expect(try await sweep.value == 0)
            #expect(try await hub.record(id)?.state == .completed)
        }
    }

    /// The look at the start fails, so that it is left to the next attempt.
    @Test(arguments: ["b.part", "c"])
    func `a sweep pauses what has not yet looked whether it has its name, and has not`(
        name: String
    ) async throws {
        let faults = FaultPlan(failing: 1, with: EIO, times: 1)
        let gate = FaultServer.Gate()
        try await withUntoldPublication(
            .waiting(.queue),
            named: name,
            faults,
            begins: false,
            gate: gate
        ) { hub, id, _ throws in
            let other = try await hub.add("http://127.0.0.1:9/")
            let coordinator = hub.coordinator
            let disk = await DiskHold(hub, of: id)
            await coordinator.begin()
            try await hub.announced.wait(for: id, .downloading)
            let sweep = Task.immediate {
                try await coordinator.carryOut(.pause, onAllIn: [.waiting, .downloading])
            }
            // It does not keep others from being paused.
            try await hub.announced.wait(for: other, .paused)
            disk.release()
            #expect(try await within("the answer") { try await sweep.value } == 2)
            #expect(try await hub.record(id)?.state == .paused)
            gate.open()
            try await coordinator.carryOut(.resume, on: id)
            try await hub.announced.wait(for: id, .completed)
        }
    }

    @Test(arguments: [false, true])
    func `a small file that is seen under its name counts, although it could not be made to last`(
        isMade: Bool
    ) async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        let ends: Set<TaskState.Kind> = [.completed, .failed]
        @Sendable func download(_ hub: Hub) async throws -> TaskRecord {
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait("the end of task \(id)") { all in
                all.contains { $0.id == id && $0.kind.map(ends.contains) == true }
            }
            return try #require(try await hub.record(id))
        }
        let plan = FaultPlan()
        _ = try await withHub(fileFaults: plan) { try await download($0) }
        var seen = 0
        for call in 1...plan.calls {
            let faults = FaultPlan(failing: call, isMade: isMade)
            try await withHub(fileFaults: faults) { hub in
                let record = try await download(hub)
                guard record.state == .failed, hub.names.contains("a") else { return }
                seen += 1
                let told = TaskProperties(TaskSnapshot(record: record, live: nil))
                #expect(told.downloadedBytes == UInt64(TestContent.small.count), "call \(call)")
            }
        }
        #expect(seen > 0)
    }

    @Test(arguments: [TaskState.failed, .paused])
    func `what turns out to be complete is not cancelled, and stays when it is removed`(
        state: TaskState
    ) async throws {
        try await withUntoldPublication(state) { hub, id, _ throws in
            await #expect(throws: Refusal.invalidState(.cancel, .completed)) {
                try await hub.coordinator.carryOut(.cancel, on: id)
            }
            #expect(hub.announced.kinds(of: id) == [.completed])
        }
        try await withUntoldPublication(state) { hub, id, _ throws in
            #expect(try await hub.coordinator.carryOut(.cancel, on: [id]) == 0)
            #expect(try await hub.record(id)?.state == .completed)
        }
        try await withUntoldPublication(state) { hub, id, _ throws in
            try await hub.coordinator.carryOut(.remove, on: id)
            #expect(try await hub.record(id) == nil)
            #expect(hub.names == ["b"])
        }
    }

    @Test func `a file that turns out to be finished goes to the trash with its task`() async throws
    {
        try await withUntoldPublication(.paused) { hub, id, _ throws in
            let home = hub.files + "/home"
            #expect(try await hub.coordinator.remove([id], trashingWith: home) == 1)
            #expect(try await hub.record(id) == nil)
            #expect(hub.names == ["home"])
        }
    }

    @Test(arguments: [TaskState.failed, .paused])
    func `what turns out to be partial goes with its task`(state: TaskState) async throws {
        try await withUntoldPublication(state, named: "b.part") { hub, id, _ throws in
            try await hub.coordinator.carryOut(.cancel, on: id)
            #expect(try await hub.record(id)?.state == .cancelled)
            #expect(hub.names == [])
        }
        try await withUntoldPublication(state, named: "b.part") { hub, id, _ throws in
            #expect(try await hub.coordinator.carryOut(.remove, on: [id]) == 1)
            #expect(try await hub.record(id) == nil)
            #expect(hub.names == [])
        }
    }

    @Test func `as long as that is not known, nothing is deleted`() async throws {
        let faults = FaultPlan(failing: 1, with: EIO, times: .max / 2)
        try await withUntoldPublication(.failed, faults) { hub, id, _ throws in
            await #expect(throws: Refusal.publishing) {
                try await hub.coordinator.carryOut(.remove, on: id)
            }
            #expect(try await hub.coordinator.carryOut(.cancel, on: [id]) == 0)
            #expect(try await hub.record(id)?.state == .failed)
            #expect(hub.names == ["b"])
        }
    }

    @Test func `whoever waits for it hears when the service ends`() async throws {
        try await withPublication { hub, id, release in
            let coordinator = hub.coordinator
            let call = Task.immediate { try await coordinator.carryOut(.pause, on: id) }
            _ = await coordinator.speed
            await coordinator.stop()
            await #expect(throws: ServiceRefusal.stopping) {
                try await within("the pause to be answered") {
                    try await call.value
                }
            }
        }
    }
}
