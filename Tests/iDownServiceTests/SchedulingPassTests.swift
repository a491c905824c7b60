// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

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
        firstOrder: Int64 = 1,
        mayStart: Bool = true
    ) -> SchedulingPass {
        SchedulingPass(
            slots: slots,
            busy: busy,
            firstOrder: firstOrder,
            isWanted: true,
            mayStart: mayStart
        )
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

    @Test func `nothing is touched where nothing may start, or nobody asked`() async throws {
        try await withStore { store in
            try await store.insert(url: "1", directory: "/")
            let held = pass(slots: 1, mayStart: false)
            #expect(try await store.commit { try held.run($0) }.isEmpty)
            let idle = SchedulingPass(
                slots: 1,
                busy: [],
                firstOrder: 1,
                isWanted: false,
                mayStart: true
            )
            #expect(try await store.commit { try idle.run($0) }.isEmpty)
        }
    }

    @Test func `a change that frees a slot asks for the pass`() async throws {
        try await withStore { store in
            try await store.insert(url: "1", directory: "/")
            let pass = SchedulingPass(
                slots: 1,
                busy: [],
                firstOrder: 1,
                isWanted: false,
                mayStart: true
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

    @Test func `no slots at all displace all that runs`() async throws {
        try await withStore { store in
            for number in 1...2 {
                try await store.insert(url: "\(number)", directory: "/") { record in
                    record.state = .downloading
                    record.attempt = AttemptNumber(rawValue: 1)
                }
            }
            let pass = pass(slots: 0)
            let changes = try await store.commit { try pass.run($0) }
            #expect(changes.count == 2)
            #expect(changes.allSatisfy { $0.after.state == .waiting(.queue) })
        }
    }
}
