// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownData
@testable import iDownState

/// What the store keeps of hand-overs beside the list.
@Suite struct StoreHandOversTests {
    @Test func `a provisional task is in no table of tasks, and comes back as it was`() async throws
    {
        try await withStore { store in
            var random = RandomRecord(seed: 340)
            for number in 0..<100 {
                let id = try await store.commit { try $0.makeID() }
                let sample = random.next(id: id)
                var record = TaskRecord(
                    id: id,
                    request: sample.request,
                    createdAt: sample.createdAt
                )
                record.priority = sample.priority
                let future = record
                let time = WallTime(microseconds: Int64(number))
                try await store.commit {
                    try $0.handOvers.keep(future, token: "t\(number)", confirmAt: time)
                }
                let (kept, state, listed, counts) = try await store.commit { transaction in
                    (
                        try transaction.handOvers.task("t\(number)"),
                        try transaction.handOvers.find("t\(number)"), try transaction.task(id),
                        try transaction.counts().total
                    )
                }
                #expect(kept == future)
                #expect(state == .provisional(id, confirmAt: time))
                #expect(listed == nil && counts == 0)
            }
            let first = try await store.commit { try $0.handOvers.provisional(limit: 2) }
            #expect(first.map(\.token) == ["t0", "t1"])
        }
    }

    @Test
    func `unfinished tasks are found by the profile that has handed them over and their page`()
        async throws
    {
        let profile = "0d4a1f6e-93ab-4a7a-8b1d-0a3c5f1e2d3c"
        let page = "http://a/page"
        try await withStore { store in
            let found = try await store.commit { transaction in
                func add(
                    _ token: String,
                    _ state: TaskState = .paused,
                    from page: String = page,
                    as settle: (TaskID) -> HandOver = { .confirmed($0) }
                ) throws -> TaskID {
                    let record = try transaction.addTask("http://a/\(token)") { record in
                        record.state = state
                        record.request.referrer = page
                    }
                    try transaction.handOvers.settle(token, as: settle(record.id))
                    return record.id
                }
                let first = try add("\(profile)-1")
                let second = try add("\(profile)-2", .failed)
                _ = try add("\(profile)-3", .completed)
                _ = try add("\(profile)-4", from: "http://a/other")
                _ = try add("\(profile)-5") { .joined($0) }
                _ = try add("\(profile)-6") { _ in .withdrawn }
                _ = try add("1d4a1f6e-93ab-4a7a-8b1d-0a3c5f1e2d3c-1")
                _ = try add("\(profile)")
                _ = try add("someone-1")
                func ids(_ token: String) throws -> [TaskID] {
                    try transaction.handOvers.unfinishedTasks(like: token, from: page).map(\.id)
                }
                #expect(try ids("\(profile)-7") == [second, first])
                return try [profile, "someone-2", "", "\(profile)x-1"].flatMap(ids)
            }
            #expect(found.isEmpty)
        }
    }

    @Test func `a settled hand-over keeps its token and nothing else`() async throws {
        try await withStore { store in
            try await store.commit { transaction in
                let id = try transaction.makeID()
                let request = TaskRequest(url: "http://a/geheim", directory: "/d")
                let record = TaskRecord(id: id, request: request, createdAt: .init(microseconds: 1))
                for token in ["c", "j", "w", "f"] {
                    try transaction.handOvers.keep(
                        record,
                        token: token,
                        confirmAt: .init(microseconds: 5)
                    )
                }
                try transaction.handOvers.settle("c", as: .confirmed(id))
                try transaction.handOvers.settle("j", as: .joined(id))
                try transaction.handOvers.settle("w", as: .withdrawn)
                try transaction.handOvers.settle("unknown", as: .withdrawn)
                try transaction.handOvers.forget("f")
                #expect(try transaction.handOvers.find("c") == .confirmed(id))
                #expect(try transaction.handOvers.find("j") == .joined(id))
                #expect(try transaction.handOvers.find("w") == .withdrawn)
                #expect(try transaction.handOvers.find("unknown") == .withdrawn)
                #expect(try transaction.handOvers.find("f") == nil)
                #expect(try transaction.handOvers.task("c") == nil)
                #expect(try transaction.handOvers.provisional(limit: 5).isEmpty)
                let texts = try transaction.texts("SELECT * FROM handOver").flatMap(\.self)
                #expect(!texts.contains { $0.contains("geheim") })
            }
        }
    }
}
