// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownData
@testable import iDownService
@testable import iDownState

@Suite struct SchedulingPassTests {
    private func withStore<Value>(_ body: (Store) async throws -> Value) async throws -> Value {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            let value = try await body(store)
            try store.close()
            return value
        }
    }

    private func pass(
        slots: Int,
        busy: Set<TaskID> = [],
        arrived: Set<TaskID> = [],
        ahead: [TaskID: TransferEvent?] = [:],
        firstOrder: Int64 = 1,
        mayStart: Bool = true,
        displaces: Bool = true,
        uncounted: Set<TaskID> = [],
        isStuck: @escaping @Sendable (String) -> Bool = { _ in false }
    ) -> SchedulingPass {
        let terms = SchedulingPass.Terms(
            slots: slots,
            displaces: displaces,
            uncounted: uncounted,
            busy: busy,
            arrived: arrived,
            ahead: ahead,
            firstOrder: firstOrder,
            mayStart: mayStart,
            surroundings: { Surroundings(isStuck: isStuck) }
        )
        return SchedulingPass(terms, isWanted: true)
    }

    @Test func `free slots are filled and the order of starts goes on`() async throws {
        try await withStore { store in
            for number in 1...3 { try await store.insert(url: "\(number)", directory: "/") }
            let pass = pass(slots: 2, firstOrder: 8)
            let changes = try await store.commit { try pass.run($0) }
            #expect(changes.map(\.after.id.rawValue) == [1, 2])
            #expect(changes.map(\.after.startOrder) == [8, 9])
            #expect(changes.allSatisfy { $0.after.attempt == AttemptNumber(rawValue: 1) })
        }
    }

    @Test func `a task whose last transfer still ends is not started, and keeps its turn`()
        async throws
    {
        try await withStore { store in
            let busy = try await store.insert(url: "1", directory: "/")
            let next = try await store.insert(url: "2", directory: "/")
            let tight = pass(slots: 1, busy: [busy])
            #expect(try await store.commit { try tight.run($0) }.isEmpty)
            let wide = pass(slots: 2, busy: [busy])
            #expect(try await store.commit { try wide.run($0) }.map(\.after.id) == [next])
        }
    }

    @Test func `a disk that does not answer takes no slot, and gets no task`() async throws {
        try await withStore { store in
            let running = try await store.insertRunning(2)
            let busy = try await store.insert(url: "busy", directory: "/silent")
            // Swift takes the last two for equal, and SQL does not.
            for folder in ["/silent/1", "/silent/\u{E9}", "/silent/e\u{301}"] {
                try await store.insert(url: folder, directory: folder) { record in
                    record.file = LocalFile(name: "a", fileSystem: 1, mark: 1)
                }
            }
            let next = try await store.insert(url: "next", directory: "/")
            let pass = pass(
                slots: 1,
                busy: [busy],
                uncounted: Set(running),
                isStuck: { $0.hasPrefix("/silent") }
            )
            #expect(try await store.commit { try pass.run($0) }.map(\.after.id) == [next])
            #expect(pass.heldUp.isEmpty)
        }
    }

    @Test func `tasks of a disk that answers again displace none and are displaced by none`()
        async throws
    {
        try await withStore { store in
            let running = try await store.insertRunning(2)
            try await store.insert(url: "next", directory: "/")
            let answered = pass(slots: 1, displaces: false)
            #expect(try await store.commit { try answered.run($0) }.isEmpty)
            let lowered = pass(slots: 1)
            let changes = try await store.commit { try lowered.run($0) }
            #expect(changes.count == 1 && running.contains(changes[0].after.id))
        }
    }

    @Test func `what comes next is told for each that only wants its name`() async throws {
        try await withStore { store in
            let running = try await store.insertRunning(4)
            let busy = try await store.insert(url: "busy", directory: "/")
            try await store.insert(url: "partial", directory: "/") { record in
                record.file = LocalFile(name: "partial", fileSystem: 1, mark: 1)
            }
            let ids = [
                try await store.insert(url: "1", directory: "/"),
                try await store.insert(url: "2", directory: "/"),
            ]
            let full = pass(slots: 4)
            #expect(try await store.commit { try full.run($0) }.isEmpty)
            #expect(full.next?.isEmpty == true)
            let some = pass(slots: 4, busy: [busy], arrived: Set(running.dropLast()))
            #expect(try await store.commit { try some.run($0) }.isEmpty)
            #expect(some.next?.map(\.id) == [ids[0]])
            let more = pass(slots: 4, busy: [busy], arrived: Set(running), ahead: [ids[0]: nil])
            #expect(try await store.commit { try more.run($0) }.isEmpty)
            #expect(more.next?.map(\.id) == ids)
        }
    }

    @Test func `what comes next stands behind no disk that does not answer`() async throws {
        try await withStore { store in
            let running = try await store.insertRunning(1)
            for number in 1...3 {
                try await store.insert(url: "silent \(number)", directory: "/silent/\(number)")
            }
            let next = try await store.insert(url: "next", directory: "/")
            let pass = pass(
                slots: 1,
                arrived: Set(running),
                isStuck: { $0.hasPrefix("/silent") }
            )
            #expect(try await store.commit { try pass.run($0) }.isEmpty)
            #expect(pass.next?.map(\.id) == [next])
        }
    }

    @Test func `what has arrived before its slot starts and arrives in one change`() async throws {
        try await withStore { store in
            let id = try await store.insert(url: "1", directory: "/")
            let next = try await store.insert(url: "2", directory: "/")
            let file = LocalFile(name: "1", fileSystem: 1, mark: 1)
            let pass = pass(slots: 1, ahead: [id: .arrived(file, RemoteVersion(total: 1))])
            let changes = try await store.commit { try pass.run($0) }
            #expect(changes.map(\.after.intent) == [.publish(name: "1")])
            let start = Effect.startTransfer(AttemptNumber(rawValue: 1))
            #expect(changes.map(\.effects) == [[.persist, .announce, start]])
            let record = try await store.read { snapshot in
                try snapshot.task(id)
            }
            #expect(record == changes.first?.after)
            #expect(pass.next?.map(\.id) == [next])
        }
    }

    @Test func `what has begun ahead and changes does not get its slot in the same breath`()
        async throws
    {
        try await withStore { store in
            let id = try await store.insert(url: "1", directory: "/")
            let pass = pass(slots: 1, ahead: [id: nil])
            pass.note([Change(before: nil, after: .sample(id.rawValue), effects: [.persist])])
            #expect(try await store.commit { try pass.run($0) }.isEmpty)
            #expect(pass.heldUp == [id])
        }
    }

    @Test func `nothing is touched where nothing may start, or nobody asked`() async throws {
        try await withStore { store in
            try await store.insert(url: "1", directory: "/")
            let held = pass(slots: 1, mayStart: false)
            #expect(try await store.commit { try held.run($0) }.isEmpty)
            let idle = SchedulingPass(
                .init(slots: 1, busy: [], firstOrder: 1, mayStart: true),
                isWanted: false
            )
            #expect(try await store.commit { try idle.run($0) }.isEmpty)
        }
    }

    @Test func `a change that frees a slot asks for the pass`() async throws {
        try await withStore { store in
            try await store.insert(url: "1", directory: "/")
            let pass = SchedulingPass(
                .init(slots: 1, busy: [], firstOrder: 1, mayStart: true),
                isWanted: false
            )
            pass.note([Change(before: nil, after: .sample(), effects: [.persist])])
            #expect(try await store.commit { try pass.run($0) }.isEmpty)
            pass.note([Change(before: nil, after: .sample(), effects: [.fillSlots])])
            #expect(try await store.commit { try pass.run($0) }.count == 1)
        }
    }

    @Test func `unreadable rows are passed over until every slot is filled`() async throws {
        try await withStore { store in
            var ids: [TaskID] = []
            for number in 1...5 {
                ids.append(try await store.insert(url: "\(number)", directory: "/"))
            }
            for bad in [1, 2, 3] { try await store.damage(ids[bad]) }
            let pass = pass(slots: 2)
            let changes = try await store.commit { try pass.run($0) }
            #expect(changes.map(\.after.id) == [ids[0], ids[4]])
        }
    }

    @Test func `a row that stands in the queue by mistake is passed over`() async throws {
        try await withStore { store in
            let id = try await store.insert(url: "1", directory: "/") { $0.state = .paused }
            let next = try await store.insert(url: "2", directory: "/")
            let pass = pass(slots: 1)
            let changes = try await store.commit { transaction in
                _ = try transaction.texts("UPDATE task SET hold = 'queue' WHERE id = \(id)")
                return try pass.run(transaction)
            }
            #expect(changes.map(\.after.id) == [next])
        }
    }

    @Test func `no slots at all displace all that runs`() async throws {
        try await withStore { store in
            try await store.insertRunning(2)
            let pass = pass(slots: 0)
            let changes = try await store.commit { try pass.run($0) }
            #expect(changes.count == 2)
            #expect(changes.allSatisfy { $0.after.state == .waiting(.queue) })
        }
    }
}

extension Store {
    /// Inserts tasks that are downloading.
    @discardableResult
    fileprivate func insertRunning(_ count: Int) async throws -> [TaskID] {
        var ids: [TaskID] = []
        for number in 1...count {
            let id = try await insert(url: "running \(number)", directory: "/") { record in
                record.state = .downloading
                record.attempt = AttemptNumber(rawValue: 1)
            }
            ids.append(id)
        }
        return ids
    }
}
