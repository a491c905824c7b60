// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// The tasks that stand for the files of a metalink, and the list of them that the metalink keeps.
@Suite struct CoordinatorListingTests {
    private static func url(_ name: String) -> String { "http://127.0.0.1:9/\(name)" }

    /// The files of a metalink by their names.
    private func files(_ names: String..., in folder: String) throws -> [ListedFile] {
        let elements = names.map { name in
            "<file name=\"\(name)\"><url>\(Self.url(name))</url></file>"
        }
        let document =
            "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(elements.joined())</metalink>"
        return try Metalink(Array(document.utf8), schemes: ["http"]).files
            .map { ListedFile($0, into: folder) }
    }

    /// Runs `body` with a task that downloads and has the only slot.
    private func withMetalink(
        faults: CallFaults? = nil,
        _ body: (Hub, TaskRecord) async throws -> Void
    ) async throws {
        try await withHeldDownload(slots: 1, faults: faults) { hub, id, _, _ in
            try await body(hub, try #require(try await hub.record(id)))
        }
    }

    private func add(_ files: [ListedFile], of metalink: TaskRecord, _ hub: Hub) async throws
        -> Bool
    {
        try await Journal(hub.coordinator).add(
            files,
            leavingOut: 0,
            listedBy: TransferJob(metalink).id
        )
    }

    private func list(of metalink: TaskRecord, _ hub: Hub) async throws -> [TaskID] {
        try #require(try await hub.record(metalink.id)).listedTasks
    }

    @Test func `files are added at the metalink's priority, and told of before its list`()
        async throws
    {
        try await withMetalink { hub, metalink in
            try await hub.store.rewrite(metalink.id) { $0.priority = 4 }
            #expect(try await add(files("b", "a", in: hub.files), of: metalink, hub))
            let others = try await hub.records.filter { $0.id != metalink.id }
            #expect(others.map(\.request.url) == [Self.url("b"), Self.url("a")])
            #expect(others.map(\.priority) == [4, 4])
            #expect(try await list(of: metalink, hub) == others.map(\.id))
            try await hub.announced.wait("the list") { all in
                all.contains { announcement in
                    guard case .changed(_, let task) = announcement else { return false }
                    return task.record.listedTasks == others.map(\.id)
                }
            }
            let ids = hub.announced.all.compactMap(\.id)
            #expect(ids.suffix(3) == others.map(\.id) + [metalink.id])
        }
    }

    @Test func `an unfinished task that is there is listed, and each task once`() async throws {
        try await withMetalink { hub, metalink in
            let paused = try await hub.add(Self.url("a"), isPaused: true)
            try await hub.store.rewrite(paused) {
                $0.request.fileName = "a"
                $0.request.usesStoredLogins = false
            }
            let wanted = try files("b", "a", "b", in: hub.files)
            #expect(try await add(wanted, of: metalink, hub))
            let list = try await list(of: metalink, hub)
            #expect(list.count == 2)
            #expect(list.last == paused)
            #expect(try await hub.record(paused)?.state == .waiting(.queue))
            #expect(try await hub.records.count == 3)
        }
    }

    @Test func `files that come once more after a crash have the tasks that they had`()
        async throws
    {
        try await withMetalink { hub, metalink in
            let wanted = try files("a", "b", "c", "d", in: hub.files)
            #expect(try await add(wanted, of: metalink, hub))
            let first = try await list(of: metalink, hub)
            #expect(first.count == 4)
            try await hub.store.rewrite(first[0]) { $0.state = .completed }
            try await hub.coordinator.carryOut(.cancel, on: first[2])
            try await hub.coordinator.carryOut(.remove, on: first[3])
            #expect(try await add(wanted, of: metalink, hub))
            let second = try await list(of: metalink, hub)
            #expect(second.prefix(3) == first.prefix(3))
            #expect(second.count == 4)
            // Of a task that was removed nothing is known any more.
            #expect(second.last != first.last)
            #expect(try await hub.records.count == 5)
            #expect(try await hub.record(first[2])?.state == .cancelled)
        }
    }

    @Test func `a metalink that lists itself does not stand in its own list`() async throws {
        try await withMetalink { hub, metalink in
            var wanted = try files("b", "a", in: hub.files)
            wanted[1].request.url = metalink.request.url
            #expect(try await add(wanted, of: metalink, hub))
            #expect(try await list(of: metalink, hub).count == 1)
            #expect(try await hub.records.count == 2)
        }
    }

    @Test(arguments: [Command.pause, .cancel, .remove])
    func `a metalink that has moved on adds nothing`(command: Command) async throws {
        try await withMetalink { hub, metalink in
            try await hub.coordinator.carryOut(command, on: metalink.id)
            #expect(try await !add(files("a", in: hub.files), of: metalink, hub))
            #expect(try await hub.records.allSatisfy { $0.id == metalink.id })
            #expect(try await hub.record(metalink.id)?.listedTasks ?? [] == [])
        }
    }

    @Test func `an older attempt adds nothing`() async throws {
        try await withMetalink { hub, metalink in
            try await hub.store.rewrite(metalink.id) { $0.attempt = $0.attempt.next }
            #expect(try await !add(files("a", in: hub.files), of: metalink, hub))
            #expect(try await hub.records.count == 1)
        }
    }

    @Test func `where the commit fails there is neither a file nor a list`() async throws {
        let faults = CallFaults()
        try await withMetalink(faults: faults) { hub, metalink in
            let wanted = try files("a", "b", in: hub.files)
            faults.failNext()
            await #expect(throws: StoreFailure.self) { try await add(wanted, of: metalink, hub) }
            #expect(try await hub.records.map(\.listedTasks) == [[]])
            #expect(try await add(wanted, of: metalink, hub))
            #expect(try await list(of: metalink, hub).count == 2)
        }
    }

    @Test func `where an application has all the tasks it may have, no later try is made`()
        async throws
    {
        try await withMetalink { hub, metalink in
            let owner = "flatpak/org.example.Reader"
            let wishes = (0..<Contract.maximumTasksOfApplication).map { number in
                hub.wish(Self.url("\(number)"), isPaused: true) { $0.owner = owner }
            }
            _ = try await hub.coordinator.add(wishes, token: nil)
            var wanted = try files("new", in: hub.files)
            wanted[0].request.owner = owner
            let failure = await #expect(throws: Failure.self) {
                try await add(wanted, of: metalink, hub)
            }
            #expect(failure?.isTransient == false)
            #expect(failure?.message.contains("at most 10000 downloads") == true)
            #expect(try await list(of: metalink, hub).isEmpty)
        }
    }
}
