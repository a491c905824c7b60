// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Logging
import Testing
import iDownBus
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

@Suite struct BusAnnouncerTests {
    private struct Scene {
        let bus: PrivateBus
        let service: Connection
        let announcer: BusAnnouncer
        let signals: SignalLog

        /// The manager's own signals so far, once `count` of them have come.
        func events(_ count: Int) async throws -> [ListNews] {
            while true {
                let mark = signals.count
                let events = signals.signals.prefix(mark)
                    .filter { $0.interface == Contract.managerInterface }
                    .compactMap { ListNews($0) }
                if events.count >= count { return events }
                try await signals.first(after: mark, "\(count) signals") { _ in true }
            }
        }
    }

    private func withScene(isWatched: Bool = true, _ body: (Scene) async throws -> Void)
        async throws
    {
        try await withPrivateBus { bus in
            let service = try await Connection.open(.address(bus.address))
            let client = try await Connection.open(.address(bus.address))
            let name = await service.uniqueName
            let signals = try await SignalLog(MatchRule(sender: name), on: client)
            let announcer = BusAnnouncer(connection: service, log: .quiet)
            if isWatched { await announcer.watch(for: client.uniqueName, over: service) }
            try await body(
                Scene(bus: bus, service: service, announcer: announcer, signals: signals)
            )
            await client.close()
            await service.close()
        }
    }

    private func live(_ bytes: Int64, connections: UInt32 = 1) -> LiveState {
        LiveState(
            bytes: bytes,
            bytesPerSecond: UInt64(bytes),
            activity: "transferring",
            connections: connections
        )
    }

    private func snapshot(
        _ live: LiveState? = nil,
        _ change: (inout TaskRecord) -> Void = { _ in }
    ) -> TaskSnapshot {
        let url = "http://me:SECRET@e.org/a?token=SECRET"
        return TaskSnapshot(record: .sample(url: url, change: change), live: live)
    }

    @Test func `whoever folds the signals has the task's last state`() async throws {
        try await withScene { scene in
            let waiting = snapshot()
            let started = snapshot { record in
                record.state = .downloading
                record.attempt = AttemptNumber(rawValue: 1)
            }
            let opened = snapshot(live(0)) { record in
                record = started.record
                record.remote.total = 100
                record.file = LocalFile(name: "a", fileSystem: 1, mark: 2)
            }
            let full = TaskSnapshot(record: opened.record, live: live(100))
            let done = snapshot { record in
                record = opened.record
                record.state = .completed
                record.segments = SegmentMap([ByteRange(first: 0, length: 100)].compactMap(\.self))
                record.integrity = .length
                record.finishedAt = .someTime
            }
            await scene.announcer.taskAdded(waiting)
            await scene.announcer.taskChanged(from: waiting, to: started)
            await scene.announcer.taskChanged(
                from: TaskSnapshot(record: started.record, live: live(0)),
                to: opened
            )
            await scene.announcer.taskChanged(from: full, to: done)
            let events = try await scene.events(4)
            #expect(fold(events) == TaskProperties(done).withoutQueries)
        }
    }

    /// What a client knows that takes over every change.
    private func fold(_ events: [ListNews]) -> TaskProperties {
        events.reduce(TaskProperties()) { task, event in
            switch event {
            case .added(let tasks): return tasks[0]
            case .changed(_, let state, let changed):
                var task = task.applying(changed)
                task.state = state
                return task
            default: return task
            }
        }
    }

    @Test func `a running task tells that its file is moved, and then what it does again`()
        async throws
    {
        try await withScene { scene in
            let id = try #require(TaskID(rawValue: 1))
            let started = snapshot(live(60)) { record in
                record.state = .downloading
                record.attempt = AttemptNumber(rawValue: 1)
            }
            let moving = snapshot(live(60)) { record in
                record = started.record
                record.move = .to(Move.Place(directory: "/media", name: "a"), made: nil)
            }
            await scene.announcer.taskChanged(from: snapshot(), to: started)
            await scene.announcer.taskProgressed(id, live(50), of: 100)
            await scene.announcer.taskChanged(from: started, to: moving)
            await scene.announcer.taskProgressed(id, live(60), of: 100)
            await scene.announcer.taskChanged(from: moving, to: started)
            await scene.announcer.taskProgressed(id, live(70), of: 100)
            let told = try await scene.events(6).compactMap { event -> Value? in
                guard case .changed(_, _, let changed) = event else { return nil }
                return changed[TaskProperty.activity.rawValue]
            }
            #expect(told.suffix(2) == [.string("moving"), .string("transferring")])
        }
    }

    @Test func `a task's object tells what has changed, and what moves all the time never`()
        async throws
    {
        try await withScene { scene in
            let id = try #require(TaskID(rawValue: 1))
            let paused = snapshot { $0.state = .paused }
            let started = snapshot { record in
                record.state = .downloading
                record.attempt = AttemptNumber(rawValue: 1)
            }
            let done = snapshot { record in
                record = started.record
                record.state = .completed
                record.remote.total = 60
            }
            await scene.announcer.taskChanged(from: paused, to: started)
            await scene.announcer.taskProgressed(id, live(50), of: 100)
            await scene.announcer.taskProgressed(id, live(60), of: 100)
            await scene.announcer.taskChanged(
                from: TaskSnapshot(record: started.record, live: live(60)),
                to: done
            )
            await scene.announcer.taskRemoved(id)
            _ = try await scene.events(5)
            try await scene.signals.first("the object's end") { $0.member == "InterfacesRemoved" }
            let told = try scene.signals.signals
                .filter { $0.member == "PropertiesChanged" }
                .map { signal in
                    #expect(signal.path == "/org/idown/Manager1/task/1")
                    #expect(signal.arguments[0] == .string("org.idown.Task1"))
                    #expect(signal.arguments[2] == [String]().busValue)
                    return try [String: Value](busValue: signal.arguments[1])
                }
            #expect(
                told == [
                    ["State": .string("downloading"), "Activity": .string("connecting")],
                    ["Activity": .string("transferring")],
                    [
                        "State": .string("completed"), "Activity": .string(""),
                        "TotalBytes": .int64(60),
                    ],
                ]
            )
        }
    }

    @Test func `what a task did when it began is taken back at its end`() async throws {
        try await withScene { scene in
            let id = try #require(TaskID(rawValue: 1))
            let waiting = snapshot()
            var first = live(0)
            first.segments = SegmentMap()
            let started = snapshot(first) { $0.state = .downloading }
            let failed = snapshot { record in
                record.state = .failed
                record.failure = Failure(.serverNotFound, "gone")
            }
            await scene.announcer.taskChanged(from: waiting, to: started)
            // Nothing is new.
            await scene.announcer.taskProgressed(id, live(0), of: nil)
            await scene.announcer.taskChanged(from: started, to: failed)
            await scene.announcer.taskRemoved(id)
            try await scene.signals.first("the object's end") { $0.member == "InterfacesRemoved" }
            #expect(try await scene.events(3).count == 3)
            let told = try scene.signals.signals
                .filter { $0.member == "PropertiesChanged" }
                .map { try [String: Value](busValue: $0.arguments[1])["Activity"] }
            #expect(told == [.string("transferring"), .string("")])
        }
    }

    @Test func `objects are silent while nobody looks at them`() async throws {
        try await withScene(isWatched: false) { scene in
            let task = snapshot()
            await scene.announcer.taskAdded(task)
            await scene.announcer.taskRemoved(task.record.id)
            let client: BusName = ":1.99"
            await scene.announcer.watch(for: client, over: scene.service)
            await scene.announcer.taskAdded(task)
            await scene.announcer.unwatch(for: client)
            await scene.announcer.taskRemoved(task.record.id)
            _ = try await scene.events(4)
            let told = scene.signals.signals.map(\.member)
            #expect(
                told == ["TaskAdded", "TaskRemoved", "TaskAdded", "InterfacesAdded", "TaskRemoved"]
            )
        }
    }

    @Test func `one signal tells of many tasks, and their objects follow the reply`() async throws {
        try await withScene { scene in
            let count: Int64 = 20_000
            var news: [TaskNews] = []
            for number in 1...count {
                func task(_ state: TaskState, _ serial: Int64) -> TaskSnapshot {
                    let record = TaskRecord.sample(number) { record in
                        (record.state, record.serial) = (state, serial)
                    }
                    return TaskSnapshot(record: record, live: nil)
                }
                news.append(
                    TaskNews(
                        id: try #require(TaskID(rawValue: number)),
                        told: task(.paused, 4),
                        now: task(.waiting(.queue), 5)
                    )
                )
            }
            await scene.announcer.tellTogether(news, serial: 5)
            let answered = FaultServer.Gate()
            await scene.announcer.call({ answered.open() }, after: news.map(\.id))
            try await within("the reply") { await answered.waitUntilOpen() }
            #expect(!scene.signals.signals.contains { $0.member == "PropertiesChanged" })
            await scene.announcer.tellObjects()
            try await scene.signals.first("the last object") { signal in
                signal.member == "PropertiesChanged"
                    && signal.path.rawValue.hasSuffix("/\(count)")
            }
            let told = scene.signals.signals
            let many = told.compactMap { Contract.Signal.tasksChanged.contents(of: $0) }
            #expect(many.map(\.0.count) == [16_000, 4_000])
            #expect(many.allSatisfy { $0.1 == .waiting && $0.3 == 5 })
            #expect(many.first?.2["Hold"] == .string("queue"))
            #expect(told.count { $0.member == "TaskChanged" } == 0)
            #expect(told.count { $0.member == "PropertiesChanged" } == Int(count))
        }
    }

    @Test func `a task that changes before its object was told of is added once`() async throws {
        try await withScene { scene in
            func task(_ number: Int64, _ priority: Int32) -> TaskSnapshot {
                let record = TaskRecord.sample(number) { record in
                    (record.state, record.priority) = (.paused, priority)
                }
                return TaskSnapshot(record: record, live: nil)
            }
            let count: Int64 = 3_000
            let news = try (1...count).map { number in
                TaskNews(
                    id: try #require(TaskID(rawValue: number)),
                    told: nil,
                    now: task(number, 0)
                )
            }
            let last = try #require(TaskPath(id: "\(count - 1)")).objectPath
            // Objects wait while the bus does not read, and nothing else does.
            #expect(kill(scene.bus.processID, SIGSTOP) == 0)
            await scene.announcer.tellTogether(news, serial: 5)
            await scene.announcer.tellObjects()
            await scene.announcer.taskChanged(from: task(count, 0), to: task(count, 7))
            #expect(kill(scene.bus.processID, SIGCONT) == 0)
            try await scene.signals.first("the last object") { signal in
                signal.member == "InterfacesAdded" && signal.arguments.first == .objectPath(last)
            }
            let end = try #require(TaskID(rawValue: 9999))
            await scene.announcer.taskRemoved(end)
            try await scene.signals.first("the end") { $0.arguments.first == .string("9999") }
            let told = scene.signals.signals
            #expect(told.count { $0.member == "TaskAdded" } == 0)
            #expect(told.count { $0.member == "TasksAdded" } == 1)
            #expect(told.count { $0.member == "TaskChanged" } == 1)
            let path = try #require(TaskPath(id: "\(count)")).objectPath
            let object = told.filter {
                $0.member == "InterfacesAdded" && $0.arguments.first == .objectPath(path)
            }
            #expect(object.count == 1)
            let values = try [String: [String: Value]](
                busValue: try #require(object.first).arguments[1]
            )
            #expect(values["org.idown.Task1"]?["Priority"] == .int32(7))
        }
    }

    @Test func `an object that is behind tells all that has changed since it told something`()
        async throws
    {
        try await withScene { scene in
            func task(_ number: Int64, _ priority: Int32, _ limit: Int64 = 0) -> TaskSnapshot {
                let record = TaskRecord.sample(number) { record in
                    (record.state, record.priority) = (.paused, priority)
                    record.speedLimit = limit
                }
                return TaskSnapshot(record: record, live: nil)
            }
            let count: Int64 = 3_000
            let news = try (1...count).map { number in
                TaskNews(
                    id: try #require(TaskID(rawValue: number)),
                    told: task(number, 0),
                    now: task(number, 4)
                )
            }
            // Objects wait while the bus does not read, and nothing else does.
            #expect(kill(scene.bus.processID, SIGSTOP) == 0)
            await scene.announcer.tellTogether(news, serial: 5)
            await scene.announcer.tellObjects()
            await scene.announcer.taskChanged(from: task(count, 4), to: task(count, 4, 1_000))
            #expect(kill(scene.bus.processID, SIGCONT) == 0)
            let last = try #require(TaskPath(id: "\(count - 1)")).objectPath
            try await scene.signals.first("the last object") { signal in
                signal.member == "PropertiesChanged" && signal.path == last
            }
            let told = scene.signals.signals
            let path = try #require(TaskPath(id: "\(count)")).objectPath
            let object = told.filter { $0.member == "PropertiesChanged" && $0.path == path }
            #expect(object.count == 1)
            let values = try [String: Value](busValue: try #require(object.first).arguments[1])
            #expect(values == ["Priority": .int32(4), "SpeedLimit": .uint64(1_000)])
            let single = try #require(told.first { $0.member == "TaskChanged" })
            let changes = try [String: Value](busValue: single.arguments[2])
            #expect(changes["SpeedLimit"] == .uint64(1_000))
            #expect(changes["Priority"] == nil)
        }
    }

    @Test func `an object comes and goes with its task`() async throws {
        try await withScene { scene in
            let task = snapshot()
            await scene.announcer.taskAdded(task)
            await scene.announcer.taskRemoved(task.record.id)
            try await scene.signals.first("the object's end") { $0.member == "InterfacesRemoved" }
            let signals = scene.signals.signals.filter { $0.path == Contract.managerPath }
            #expect(
                signals.map(\.member) == [
                    "TaskAdded", "InterfacesAdded", "TaskRemoved", "InterfacesRemoved",
                ]
            )
            let path = ObjectPath("/org/idown/Manager1/task/1")
            #expect(signals[1].arguments[0] == .objectPath(path))
            let interfaces = try [String: [String: Value]](busValue: signals[1].arguments[1])
            #expect(
                interfaces == ["org.idown.Task1": TaskProperties(task).withoutQueries.dictionary]
            )
            #expect(
                signals[3].arguments == [.objectPath(path), ["org.idown.Task1"].busValue]
            )
        }
    }

    @Test func `a link that differs in its query alone is told as changed, without it`()
        async throws
    {
        try await withScene { scene in
            let old = snapshot { $0.request.url = "http://a/f?token=1" }
            let new = snapshot { $0.request.url = "http://a/f?token=2" }
            await scene.announcer.taskAdded(old)
            await scene.announcer.taskChanged(from: old, to: new)
            let events = try await scene.events(2)
            guard case .changed(_, _, let changed) = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(changed == ["URL": .string("http://a/f"), "Serial": .uint64(0)])
            let told = try await scene.signals.first("PropertiesChanged") {
                $0.member == "PropertiesChanged"
            }
            let properties = try [String: Value](busValue: told.arguments[1])
            #expect(properties == ["URL": .string("http://a/f")])
        }
    }

    @Test func `connections are told once they are open`() async throws {
        try await withScene { scene in
            guard let id = TaskID(rawValue: 1) else { return }
            let started = snapshot { $0.state = .downloading }
            let opened = snapshot(live(0)) { record in
                record.state = .downloading
                record.remote.total = 100
            }
            await scene.announcer.taskAdded(started)
            await scene.announcer.taskChanged(from: started, to: opened)
            await scene.announcer.taskProgressed(id, live(0), of: 100)
            let events = try await scene.events(3)
            #expect(fold(events).connections == 1)
        }
    }

    /// The last checkpoint of a cancelled task never comes.
    @Test(arguments: [true, false])
    func `bytes that were told of a stopped transfer are taken back`(together: Bool) async throws {
        try await withScene { scene in
            let started = snapshot(live(90)) { $0.state = .downloading }
            let stopped = snapshot(live(90)) { $0.state = .paused }
            let known = snapshot { $0.state = .paused }
            let cancelled = snapshot { $0.state = .cancelled }
            await scene.announcer.taskAdded(started)
            await scene.announcer.taskChanged(from: started, to: stopped)
            if together {
                let news = TaskNews(id: known.record.id, told: known, now: cancelled)
                await scene.announcer.tellTogether([news], serial: 1)
            } else {
                await scene.announcer.taskChanged(from: known, to: cancelled)
            }
            // Nothing is told twice.
            let marker = TaskID(rawValue: 9)
            if let marker { await scene.announcer.taskRemoved(marker) }
            let events = try await scene.events(4)
            #expect(events.count == 4)
            #expect(fold(Array(events.prefix(2))).downloadedBytes == 90)
            #expect(fold(Array(events.prefix(3))).downloadedBytes == 0)
            guard case .removed = events[3] else {
                Issue.record("\(events)")
                return
            }
        }
    }

    @Test func `progress is not told again when nothing has changed`() async throws {
        try await withScene { scene in
            guard let id = TaskID(rawValue: 1) else { return }
            await scene.announcer.taskProgressed(id, live(50), of: 100)
            await scene.announcer.taskProgressed(id, live(50), of: 100)
            await scene.announcer.taskProgressed(id, live(60), of: nil)
            await scene.announcer.taskRemoved(id)
            let events = try await scene.events(3)
            guard case .changed(_, .downloading, let first) = events[0],
                case .changed(_, _, let second) = events[1], case .removed = events[2]
            else {
                Issue.record("\(events)")
                return
            }
            #expect(first["DownloadedBytes"] == .uint64(50))
            #expect(first["Progress"] == .double(0.5))
            #expect(second["Progress"] == .double(-1))
            #expect(second["Activity"] == nil)
        }
    }

    @Test func `no secret is in any signal`() async throws {
        try await withScene { scene in
            let secret = snapshot { record in
                record.request.referrer = "http://me:SECRET@e.org/?SECRET"
                record.request.headers = [.init(name: "Authorization", value: "SECRET")]
            }
            let after = snapshot { record in
                record = secret.record
                record.state = .paused
                record.request.url = "http://me:SECRET@e.org/b?SECRET#SECRET"
            }
            await scene.announcer.taskAdded(secret)
            await scene.announcer.taskChanged(from: secret, to: after)
            _ = try await scene.events(2)
            for signal in scene.signals.signals {
                #expect(!"\(signal.arguments)".contains("SECRET"), "\(signal.arguments)")
            }
        }
    }

    // A client may have read others in between.
    @Test func `counts are properties of the manager, and told although they are those of before`()
        async throws
    {
        try await withScene { scene in
            var counts = TaskCounts()
            counts[.waiting] = 2
            await scene.announcer.countsChanged(counts)
            counts[.waiting] = 1
            counts[.downloading] = 1
            await scene.announcer.countsChanged(counts)
            await scene.announcer.countsChanged(counts)
            guard let id = TaskID(rawValue: 1) else { return }
            await scene.announcer.taskRemoved(id)
            _ = try await scene.events(1)
            let told = scene.signals.signals.filter { $0.member == "PropertiesChanged" }
            #expect(told.count == 3)
            let last = try [String: Value](busValue: try #require(told.last).arguments[1])
            #expect(last["TaskCount"] == .uint32(2) && last["WaitingCount"] == .uint32(1))
            #expect(last["ActiveCount"] == .uint32(1))
        }
    }

    @Test func `while the bus does not read, changes merge, and the last ones arrive in the end`()
        async throws
    {
        try await withScene { scene in
            let (tasks, rounds) = (1500, 6)
            #expect(kill(scene.bus.processID, SIGSTOP) == 0)
            defer { kill(scene.bus.processID, SIGCONT) }
            func task(_ number: Int, _ round: Int) -> TaskSnapshot {
                TaskSnapshot(
                    record: .sample(Int64(number)) { record in
                        record.state = .paused
                        record.priority = Int32(round)
                    },
                    live: nil
                )
            }
            for round in 1...rounds {
                for number in 1...tasks {
                    let (before, after) = (task(number, round - 1), task(number, round))
                    await scene.announcer.taskChanged(from: before, to: after)
                }
            }
            // One message more than the limit at most.
            #expect(await scene.service.outgoingBytes < BusAnnouncer.mostOutgoing + 4096)
            let isAnswered = FaultServer.Gate()
            let last = try #require(TaskID(rawValue: Int64(tasks)))
            await scene.announcer.call({ isAnswered.open() }, after: [last])
            #expect(!isAnswered.isOpen)

            #expect(kill(scene.bus.processID, SIGCONT) == 0)
            try await within("the reply") { await isAnswered.waitUntilOpen() }
            let end = try #require(TaskID(rawValue: 9999))
            await scene.announcer.taskRemoved(end)
            try await scene.signals.first("the end") { $0.arguments.first == .string("9999") }
            var priorities: [String: Int32] = [:]
            var count = 0
            for signal in scene.signals.signals {
                guard
                    case .changed(let ids, _, let changed)? = ListNews(signal), let id = ids.first
                else { continue }
                if case .int32(let priority) = changed["Priority"] { priorities[id] = priority }
                count += 1
            }
            #expect(priorities.count == tasks)
            #expect(priorities.values.allSatisfy { $0 == Int32(rounds) })
            #expect(count < 3 * tasks, "\(count)")
        }
    }

    @Test func `a bus that has gone away is no trouble`() async throws {
        try await withPrivateBus { bus in
            let service = try await Connection.open(.address(bus.address))
            let announcer = BusAnnouncer(connection: service, log: .quiet)
            await service.close()
            await announcer.taskAdded(snapshot())
            await announcer.countsChanged(TaskCounts())
            #expect(await !service.isOpen)
        }
    }
}

extension BusAnnouncer {
    fileprivate func taskAdded(_ task: TaskSnapshot) {
        tell(TaskNews(id: task.record.id, told: nil, now: task))
    }

    fileprivate func taskChanged(from before: TaskSnapshot, to after: TaskSnapshot) {
        tell(TaskNews(id: after.record.id, told: before, now: after))
    }

    fileprivate func taskRemoved(_ id: TaskID) { tell(TaskNews(id: id, told: nil, now: nil)) }
}
