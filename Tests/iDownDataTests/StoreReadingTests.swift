// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownData

@Suite struct StoreReadingTests {
    // MARK: Finding the unfinished task

    @Test func `the same URL and folder find the oldest unfinished task`() async throws {
        try await withStore { store in
            let found = try await store.commit { transaction in
                _ = try transaction.addTask("http://a/f") { $0.state = .completed }
                _ = try transaction.addTask("http://a/f") { $0.state = .cancelled }
                _ = try transaction.addTask("http://a/f", in: "/elsewhere")
                _ = try transaction.addTask("http://a/F")
                let paused = try transaction.addTask("http://a/f") { $0.state = .paused }
                _ = try transaction.addTask("http://a/f") { $0.state = .downloading }
                let found = try transaction.unfinishedTask(
                    url: "http://a/f",
                    directory: "/home/me/Downloads",
                    fileName: nil
                )
                return found == paused.id
            }
            #expect(found)
        }
    }

    @Test(arguments: [
        TaskState.waiting(.queue), .waiting(.retry(at: .someTime)), .waiting(.offline),
        .waiting(.metered), .waiting(.battery), .waiting(.space), .waiting(.settings), .downloading,
        .paused, .failed,
    ])
    func `every unfinished state is found`(state: TaskState) async throws {
        try await withStore { store in
            let found = try await store.commit { transaction in
                _ = try transaction.addTask("http://a/f") { $0.state = state }
                return try transaction.unfinished("http://a/f")
            }
            #expect(found?.rawValue == 1)
        }
    }

    @Test func `a task that is being removed is not found`() async throws {
        try await withStore { store in
            let found = try await store.commit { transaction in
                _ = try transaction.addTask("http://a/f") {
                    $0.state = .paused
                    $0.intent = .remove
                }
                return try transaction.unfinished("http://a/f")
            }
            #expect(found == nil)
        }
    }

    @Test func `a given file name must match the task's`() async throws {
        try await withStore { store in
            let found = try await store.commit { transaction in
                let file = LocalFile(name: "served.iso", fileSystem: 1, mark: 2)
                _ = try transaction.addTask("http://a/f", name: "asked.iso") { $0.file = file }
                _ = try transaction.addTask("http://a/f") { $0.file = file }
                _ = try transaction.addTask("http://a/f", name: "\u{E9}") { $0.file = nil }
                return try ["asked.iso", "served.iso", "other.iso", "\u{E9}", "e\u{301}"].map {
                    try transaction.unfinished("http://a/f", name: $0)?.rawValue
                }
            }
            #expect(found == [1, 2, nil, 3, nil])
        }
    }

    @Test func `a task is found by its new URL, not by its old one`() async throws {
        try await withStore { store in
            let found = try await store.commit { transaction in
                let old = try transaction.addTask("http://a/old")
                var new = old
                new.request.url = "http://a/new"
                try transaction.update(new, from: old)
                return try ["http://a/old", "http://a/new"].map {
                    try transaction.unfinished($0)?.rawValue
                }
            }
            #expect(found == [nil, 1])
        }
    }

    // MARK: Queries of the scheduler

    @Test func `the queue is ordered by priority, then by id`() async throws {
        try await withStore { store in
            let (all, some) = try await store.commit { transaction in
                for priority in [0, 5, -1, 5, 0] as [Int32] {
                    _ = try transaction.addTask("http://a/f", priority: priority)
                }
                _ = try transaction.addTask("http://a/f") { $0.intent = .discard }
                _ = try transaction.addTask("http://a/f") { $0.state = .paused }
                _ = try transaction.addTask("http://a/f") {
                    $0.state = .waiting(.retry(at: .someTime))
                }
                // Its next try checks whether the file has its final name already.
                _ = try transaction.addTask("http://a/f") { $0.intent = .publish(name: "f") }
                let all = try transaction.nextWaiting(limit: 10)
                var exclusions = QueueExclusions()
                exclusions.ids = [try #require(all.first).id]
                let some = try transaction.nextWaiting(limit: 2, excluding: exclusions)
                return (all.map(\.id.rawValue), some.map(\.id.rawValue))
            }
            #expect(all == [2, 4, 1, 5, 9, 3])
            #expect(some == [4, 1])
        }
    }

    @Test func `origins, folders and other computers can be excluded`() async throws {
        try await withStore { store in
            let found = try await store.commit { transaction in
                let file = LocalFile(name: "a", fileSystem: 1, mark: 2)
                _ = try transaction.addTask("https://u:p@a.example/f?q")
                _ = try transaction.addTask("http://b.example/f", in: "/full")
                _ = try transaction.addTask("http://b.example/f", in: "/full") { $0.file = file }
                _ = try transaction.addTask("http://127.0.0.1:8/f")
                _ = try transaction.addTask("http://a.example/f")
                func ids(_ change: (inout QueueExclusions) -> Void) throws -> [Int64] {
                    var exclusions = QueueExclusions()
                    change(&exclusions)
                    return try transaction.nextWaiting(limit: 10, excluding: exclusions)
                        .map(\.id.rawValue)
                }
                let origin = try #require(Origin(url: "https://a.example/"))
                return [
                    try ids { _ in },
                    try ids { $0.origins = [origin] },
                    try ids { $0.directories = ["/full", "/other"] },
                    try ids { $0.stuckDirectories = ["/full"] },
                    try ids { $0.remote = true },
                    try ids {
                        $0.origins = [origin]
                        $0.directories = ["/full"]
                        $0.remote = true
                    },
                ]
            }
            #expect(
                found == [[1, 2, 3, 4, 5], [2, 3, 4, 5], [1, 3, 4, 5], [1, 4, 5], [4], [4]]
            )
        }
    }

    @Test func `candidates have the facts that decide whether they may start`() async throws {
        try await withStore { store in
            let candidates = try await store.commit { transaction in
                _ = try transaction.addTask("http://a.example/f", in: "/x", priority: 3)
                _ = try transaction.addTask("http://127.0.0.1:8/f") {
                    $0.file = LocalFile(name: "a", fileSystem: 1, mark: 2)
                }
                return try transaction.nextWaiting(limit: 10)
            }
            #expect(candidates.map(\.directory) == ["/x", "/home/me/Downloads"])
            #expect(candidates.map(\.hasFile) == [false, true])
            #expect(candidates.map(\.origin?.isLoopback) == [false, true])
        }
    }

    @Test(arguments: Hold.byTheWorld)
    func `tasks that wait for the world to change are found`(hold: Hold) async throws {
        try await withStore { store in
            let (held, count) = try await store.commit { transaction in
                _ = try transaction.addTask("http://a/f") { $0.state = .waiting(hold) }
                return (try transaction.held(by: hold), try transaction.countOfHeld())
            }
            #expect(held.map(\.rawValue) == [1])
            #expect(count == 1)
        }
    }

    @Test func `nothing starts if everything is excluded`() async throws {
        try await withStore { store in
            let candidates = try await store.commit { transaction in
                _ = try transaction.addTask("http://a/f")
                var exclusions = QueueExclusions()
                exclusions.all = true
                return try transaction.nextWaiting(limit: 9, excluding: exclusions)
            }
            #expect(candidates.isEmpty)
        }
    }

    @Test func `tasks that wait for the network or for space are ordered by priority`() async throws
    {
        try await withStore { store in
            let (space, offline, count) = try await store.commit { transaction in
                for (priority, hold) in [(1, Hold.space), (2, .space), (0, .offline), (9, .queue)] {
                    _ = try transaction.addTask("http://a/f", priority: Int32(priority)) {
                        $0.state = .waiting(hold)
                    }
                }
                _ = try transaction.addTask("http://a/f") {
                    $0.state = .waiting(.retry(at: .someTime))
                }
                return (
                    try transaction.held(by: .space).map(\.rawValue),
                    try transaction.held(by: .offline).map(\.rawValue),
                    try transaction.countOfHeld()
                )
            }
            #expect(space == [2, 1])
            #expect(offline == [3])
            #expect(count == 4)
        }
    }

    @Test func `of running tasks the last-started of the lowest priority comes first`()
        async throws
    {
        try await withStore { store in
            let running = try await store.commit { transaction in
                let tasks: [(Int32, Int64)] = [(0, 7), (-1, 3), (0, 9), (.max, 11), (.min, 1)]
                for (priority, order) in tasks {
                    _ = try transaction.addTask("http://a/f", priority: priority) {
                        $0.state = .downloading
                        $0.startOrder = order
                    }
                }
                _ = try transaction.addTask("http://a/f")
                return try transaction.running()
            }
            #expect(running.map(\.rawValue) == [5, 2, 3, 1, 4])
        }
    }

    @Test func `tasks in back-off are ordered by time`() async throws {
        try await withStore { store in
            let retrying = try await store.commit { transaction in
                for microseconds in [30, 10, 20] as [Int64] {
                    _ = try transaction.addTask("http://a/f") {
                        $0.state = .waiting(.retry(at: WallTime(microseconds: microseconds)))
                    }
                }
                return try transaction.tasksInBackOff()
            }
            #expect(retrying.map(\.rawValue) == [2, 3, 1])
        }
    }

    @Test func `open intents and unfinished files are found`() async throws {
        try await withStore { store in
            let (intents, publications, files) = try await store.commit { transaction in
                let file = LocalFile(name: "f", fileSystem: 1, mark: 2)
                let intents: [Intent?] = [.publish(name: "f"), nil, .discard, .remove]
                for intent in intents {
                    _ = try transaction.addTask("http://a/f") {
                        $0.intent = intent
                        $0.file = file
                    }
                }
                _ = try transaction.addTask("http://a/f")
                _ = try transaction.addTask("http://a/f") {
                    $0.state = .completed
                    $0.file = file
                }
                return (
                    try transaction.tasksWithIntent().map(\.id.rawValue),
                    try transaction.tasksToPublish().map(\.id.rawValue),
                    try transaction.unfinishedTasksWithFile().map(\.id.rawValue)
                )
            }
            #expect(intents == [1, 3, 4])
            #expect(publications == [1])
            #expect(files == [1, 2, 3])
        }
    }

    // MARK: Lists, counts, tokens

    @Test func `a task that is being removed is in no list, but found by its id`() async throws {
        try await withStore { store in
            try await store.commit { transaction in
                let kept = try transaction.addTask("http://a/1")
                let gone = try transaction.addTask("http://a/2") {
                    $0.intent = .remove
                    $0.state = .cancelled
                }
                #expect(try transaction.tasks() == [kept])
                #expect(try transaction.allIDs() == [kept.id])
                #expect(try transaction.task(gone.id) == gone)
                #expect(try transaction.counts().total == 1)
            }
        }
    }

    @Test func `counts follow every change`() async throws {
        try await withStore { store async throws in
            var random = RandomRecord(seed: 7)
            for round in 0..<10 {
                let records = (1...20).compactMap { TaskID(rawValue: $0) }.map {
                    random.next(id: $0)
                }
                try await store.commit { transaction in
                    for record in records {
                        switch try transaction.task(record.id) {
                        case nil: try transaction.insert(record)
                        case _ where (record.id.rawValue + Int64(round)).isMultiple(of: 3):
                            try transaction.delete(record.id)
                        case let before?: try transaction.update(record, from: before)
                        }
                    }
                    var expected = TaskCounts()
                    for record in try transaction.tasks() { expected[record.state.kind] += 1 }
                    for kind in TaskState.Kind.allCases {
                        #expect(try transaction.counts()[kind] == expected[kind])
                    }
                }
            }
        }
    }

    @Test func `ids of all states are in order`() async throws {
        try await withStore { store in
            let ids = try await store.commit { transaction in
                for state in [TaskState.failed, .paused, .completed, .failed, .downloading] {
                    _ = try transaction.addTask("http://a/f") { $0.state = state }
                }
                return try transaction.allIDs().map(\.rawValue)
            }
            #expect(ids == [1, 2, 3, 4, 5])
        }
    }

    @Test func `iterating the list can end early`() async throws {
        try await withStore { store in
            let ids = try await store.commit { transaction in
                for number in 1...5 { _ = try transaction.addTask("http://a/\(number)") }
                var ids: [Int64] = []
                try transaction.forEachTask {
                    ids.append($0.id.rawValue)
                    return ids.count < 2
                }
                return ids
            }
            #expect(ids == [1, 2])
        }
    }

    @Test func `a token is known for ever, even when its tasks are gone`() async throws {
        try await withStore { store in
            let (unknown, known) = try await store.commit { transaction in
                let first = try transaction.addTask("http://a/1").id
                let second = try transaction.addTask("http://a/2").id
                let unknown = try transaction.taskIDs(forToken: "t")
                try transaction.remember(token: "t", ids: [second, first, second])
                try transaction.delete(first)
                return (unknown, try transaction.taskIDs(forToken: "t"))
            }
            #expect(unknown == nil)
            #expect(known?.map(\.rawValue) == [2, 1, 2])
            await #expect(throws: StoreFailure.self) {
                try await store.commit { try $0.remember(token: "t", ids: []) }
            }
        }
    }
}

extension StoreAccess {
    fileprivate func unfinished(_ url: String, name: String? = nil) throws -> TaskID? {
        try unfinishedTask(url: url, directory: "/home/me/Downloads", fileName: name)
    }
}
