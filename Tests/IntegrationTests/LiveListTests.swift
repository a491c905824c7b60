// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Synchronization
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// A client that follows the list, one that lists it, and one that changes it.
///
/// LIST_OPERATIONS=5000 takes half an hour on two busy cores; LIST_SEED chooses other operations.
@Suite(.timeLimit(.minutes(90)))
struct LiveListTests {
    /// Follows the list over a connection of its own, and keeps what it knows.
    private final class Follower: Sendable {
        let client: ManagerClient
        private let state = Mutex((list: LiveList(), failure: nil as String?))
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ address: String) async throws {
            client = ManagerClient(
                try await Connection.open(.address(address)),
                startsService: false
            )
            let news = client.listNews()
            task.withLock { task in
                task = Task { [weak self] in
                    do {
                        for try await one in news { self?.apply(one) }
                    } catch {
                        self?.fail("\(error)")
                    }
                }
            }
        }

        var list: LiveList { state.withLock(\.list) }
        var failure: String? { state.withLock(\.failure) }

        private func apply(_ news: ListNews) { state.withLock { _ = $0.list.apply(news) } }

        private func fail(_ text: String) { state.withLock { $0.failure = text } }

        func stop() async {
            task.withLock { $0?.cancel() }
            await client.close()
        }
    }

    /// What is compared: progress has a pace of its own, and signals give no query.
    private func compared(_ tasks: some Sequence<TaskProperties>) -> [String: TaskProperties] {
        var compared: [String: TaskProperties] = [:]
        for var task in tasks {
            task.downloadedBytes = 0
            task.progress = 0
            task.speed = 0
            task.connections = 0
            task.activity = .none
            task.segments = []
            task.url = String(task.url.prefix { $0 != "?" })
            compared[task.id] = task
        }
        return compared
    }

    /// What the store says of each task, read beside the service.
    private func stored(_ service: ServiceUnderTest) async throws -> Set<String> {
        let look = try await ChildProcess.run(
            "/usr/bin/python3",
            [
                "-c",
                """
                import sqlite3, sys
                list = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True)
                for row in list.execute(sys.argv[2]):
                    print('|'.join(map(str, row)).split('?')[0])
                """, service.home.store,
                """
                SELECT id, serial, state, priority, coalesce(speedLimit, 0), coalesce(userAgent, ''),
                    url
                FROM task WHERE intent IS NOT 'remove'
                """,
            ]
        )
        try #require(look.succeeded, "\(look.standardError)")
        return Set(look.standardOutput.split(separator: "\n").map(String.init))
    }

    /// The same of a task as a client knows it.
    private func row(of task: TaskProperties) -> String {
        let words = [
            task.id, "\(task.serial)", task.state.rawValue, "\(task.priority)",
            "\(task.speedLimit)", task.userAgent, task.url,
        ]
        return String(words.joined(separator: "|").prefix { $0 != "?" })
    }

    /// Returns once the follower knows what the list and the store say, which other things may
    /// change meanwhile.
    private func agree(
        _ follower: Follower,
        _ service: ServiceUnderTest,
        _ what: String
    ) async throws {
        let client = service.client
        let end = ContinuousClock.now + .seconds(60)
        while true {
            #expect(follower.failure == nil)
            var difference = "the list is not whole, or not served"
            let known = follower.list
            if known.isWhole, known.isServed {
                let listed = compared(try await client.allTasks())
                let followed = compared(follower.list.tasks.values)
                let rows = Set(followed.values.map(row))
                if followed != listed {
                    difference = Self.difference(followed, listed)
                } else {
                    let stored = try await stored(service)
                    if stored == rows { return }
                    let others = stored.symmetricDifference(rows).sorted()
                    difference = "store: \(others.prefix(4))"
                }
            }
            try #require(ContinuousClock.now < end, "no agreement \(what): \(difference)")
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private static func difference(
        _ followed: [String: TaskProperties],
        _ listed: [String: TaskProperties]
    ) -> String {
        let ids = Set(followed.keys).union(listed.keys).filter { followed[$0] != listed[$0] }
        guard let id = ids.min() else { return "" }
        func text(_ task: TaskProperties?) -> String { task.map { "\($0)" } ?? "nothing" }
        return "\(ids.count) tasks, \(id): followed \(text(followed[id])),"
            + " listed \(text(listed[id]))"
    }

    private enum Operation: CaseIterable {
        case add, addPaused, addSome, addMany, pause, resume, retry, cancel, remove, removeSome
        case priority, limit, edit, slots, startAll, pauseAll, clear, wait
        case kill, restart, newBus, copy, restore

        /// How often it comes.
        var weight: Int {
            switch self {
            case .add, .pause, .resume, .priority, .limit, .edit: 12
            case .addPaused, .retry, .cancel, .remove: 8
            case .addSome, .removeSome, .startAll, .pauseAll, .clear, .slots, .wait: 3
            case .addMany, .kill, .restart, .newBus, .copy, .restore: 1
            }
        }

        private static let weighted = allCases.flatMap {
            Array(repeating: $0, count: $0.weight)
        }

        /// Each once, and then by their weights.
        static func random(
            _ count: Int,
            using dice: inout SeededGenerator
        ) -> [Operation] {
            let all = allCases.shuffled(using: &dice)
            return all.prefix(count)
                + (0..<max(0, count - all.count)).map { _ in
                    weighted.randomElement(using: &dice) ?? .add
                }
        }
    }

    /// The most tasks in the list, since each step lists them all.
    private static let mostTasks = 4_000

    private static func number(_ variable: String) -> Int? {
        getenv(variable).flatMap { Int(String(cString: $0)) }
    }

    @Test func `a client that follows by serial agrees with one that lists, whatever happens`()
        async throws
    {
        let count = Self.number("LIST_OPERATIONS") ?? 120
        var dice = SeededGenerator(seed: UInt64(Self.number("LIST_SEED") ?? 22))
        let file = try ChangingHost(ServedFile(TestContent(seed: 5, count: 60_000)))
        defer { file.stop() }
        try await withService { service in
            var follower = try await Follower(service.bus.address)
            // Those that are added slowly run for half a minute, so that there is progress to tell.
            var slow = AddOptions()
            slow.speedLimit = 2_000
            var paused = slow
            paused.paused = true
            var copy: (store: [UInt8], ids: [UInt8])?
            var number = 0
            func url() -> String {
                number += 1
                return file.url("/\(number)?key=\(number)")
            }
            func urls(_ count: Int) -> [String] { (0..<count).map { _ in url() } }
            func edit() -> EditOptions {
                var options = EditOptions()
                number += 1
                switch Int.random(in: 0...5, using: &dice) {
                case 0: options.url = file.url("/fresh-\(number)?key=\(number)")
                case 1: options.values.userAgent = "tests/\(number)"
                case 2: options.values.filename = "name-\(number)"
                case 3: options.values.mirrors = [file.url("/mirror-\(number)")]
                case 4: options.values.directory = "\(service.home.downloads)/\(number % 7)"
                default: options.cleared = [.userAgent, .mirrors]
                }
                return options
            }
            for (step, operation) in Operation.random(count, using: &dice).enumerated() {
                let client = service.client
                var ids = Array(follower.list.tasks.keys).sorted()
                if ids.count > Self.mostTasks {
                    let some = Array(ids.shuffled(using: &dice).dropFirst(Self.mostTasks / 4))
                    _ = try await client.removeTasks(some)
                    ids = Array(Set(ids).subtracting(some)).sorted()
                }
                let id = ids.randomElement(using: &dice) ?? "1"
                do {
                    switch operation {
                    case .add:
                        let options = Bool.random(using: &dice) ? slow : AddOptions()
                        _ = try await client.addURL(url(), options: options)
                    case .addPaused: _ = try await client.addURL(url(), options: paused)
                    case .addSome: _ = try await client.addURLs(urls(300), options: slow)
                    case .addMany: _ = try await client.addURLs(urls(3_000), options: paused)
                    case .pause: try await client.pause(id)
                    case .resume: try await client.resume(id)
                    case .retry: try await client.retry(id)
                    case .cancel: try await client.cancel(id)
                    case .remove: try await client.remove(id)
                    case .removeSome:
                        let most = Int.random(in: 0...ids.count, using: &dice)
                        let some = Array(ids.shuffled(using: &dice).prefix(most))
                        _ = try await client.removeTasks(some)
                    case .priority:
                        try await client.setPriority(Int32.random(in: -5...5, using: &dice), of: id)
                    case .limit:
                        let limit = UInt64.random(in: 0...100_000, using: &dice)
                        try await client.setSpeedLimit(limit, of: id)
                    case .edit: try await client.setOptions(edit(), of: id)
                    case .slots:
                        let slots = UInt64.random(in: 1...12, using: &dice)
                        try await client.set(.maxConcurrentDownloads, to: .number(slots))
                    case .startAll: _ = try await client.startAll()
                    case .pauseAll: _ = try await client.pauseAll()
                    case .clear: _ = try await client.clearCompleted()
                    case .wait:
                        let time = Int.random(in: 1...600, using: &dice)
                        try await Task.sleep(for: .milliseconds(time))
                    case .kill: try await service.restartAfterKill()
                    case .restart: try await service.restart()
                    case .newBus:
                        await follower.stop()
                        try await service.replaceBus()
                        follower = try await Follower(service.bus.address)
                    case .copy, .restore:
                        let idsFile = service.home.state + "/next-id"
                        _ = try await service.terminate()
                        if operation == .restore, let copy {
                            for name in ["-wal", "-shm"] { unlink(service.home.store + name) }
                            try TestFile.write(copy.store, to: service.home.store)
                            if Bool.random(using: &dice) {
                                try TestFile.write(copy.ids, to: idsFile)
                            }
                        } else {
                            let store = try TestFile.bytes(of: service.home.store)
                            copy = (store, try TestFile.bytes(of: idsFile))
                        }
                        try await service.start()
                    }
                } catch let error as ManagerError {
                    // The task is in a state that takes no such verb, or was removed before.
                    let codes: [ManagerError.Code] = [
                        .invalidState, .noSuchTask, .invalidDestination,
                    ]
                    #expect(codes.contains { $0 == error.code }, "\(operation): \(error)")
                }
                try await agree(follower, service, "after step \(step), \(operation)")
            }
            await follower.stop()
        }
    }

    @Test(arguments: [["tasks.sqlite"], ["tasks.sqlite", "next-id"]])
    func `a client that missed signals catches up, and begins anew with a restored list`(
        files: [String]
    ) async throws {
        try await withService { service in
            let client = service.client
            var paused = AddOptions()
            paused.paused = true
            let old = try await client.addURL("http://127.0.0.1:9/old", options: paused)
            _ = try await service.terminate()
            let paths = files.map { service.home.state + "/" + $0 }
            let copies = try paths.map { path in try TestFile.bytes(of: path) }
            try await service.start()
            let follower = try await Follower(service.bus.address)
            let lost = try await client.addURL("http://127.0.0.1:9/lost", options: paused)
            try await client.remove(old)
            try await agree(follower, service, "with what changed")
            let list = try await client.listID()
            let serial = try await client.serial()
            _ = try await service.terminate()
            for (path, copy) in zip(paths, copies) { try TestFile.write(copy, to: path) }
            try await service.start()
            #expect(try await client.listID() != list)
            #expect(try await client.serial() > serial)
            #expect(await refusal { _ = try await client.changes(since: serial) } == .limitExceeded)
            try await agree(follower, service, "with the copy")
            #expect(Set(follower.list.tasks.keys) == [old])
            #expect(follower.list.tasks[lost] == nil)
            await follower.stop()
        }
    }

    @Test func `a service that ends again before the client has caught up is waited for`()
        async throws
    {
        try await withService { service in
            let client = ManagerClient(
                try await Connection.open(.address(service.bus.address)),
                startsService: false
            )
            var news = try await client.newsFromNow().makeAsyncIterator()
            try await service.kill9()
            try await service.start()
            try await service.kill9()
            // By now nobody answers what the client asks because a service has come.
            var hasCome = false
            while !hasCome, let one = try await news.next() {
                if case .came = one { hasCome = true }
            }
            guard case .left = try await news.next() else {
                Issue.record("the end of the service is not told")
                return
            }
            try await service.start()
            let id = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            var list = LiveList()
            while list.tasks.isEmpty, let one = try await news.next() { list.apply(one) }
            #expect(Array(list.tasks.keys) == [id])
            await client.close()
        }
    }

    @Test func `GetChangesSince refuses what it cannot know, and pages what it can`() async throws {
        try await withService { service in
            let client = service.client
            let first = try await client.serial()
            let urls = (1...2_500).map { "http://127.0.0.1:9/\($0)" }
            var paused = AddOptions()
            paused.paused = true
            let ids = try await client.addURLs(urls, options: paused)
            let manager = service.manager
            typealias Page = (UInt64, String, [[String: Value]], [String])
            func page(_ since: UInt64, _ options: [String: Value]) async throws -> Page {
                try await manager.call(
                    "GetChangesSince",
                    since,
                    options,
                    returning: UInt64.self,
                    String.self,
                    [[String: Value]].self,
                    [String].self
                )
            }
            var (serial, next, tasks, removed) = try await page(first, [:])
            #expect(tasks.count == 1_000)
            #expect(!next.isEmpty)
            #expect(removed.isEmpty)
            // What is removed and what changes while the pages are read comes with them.
            try await client.remove(ids[0])
            try await client.setPriority(7, of: ids[1])
            var all = tasks
            while !next.isEmpty {
                let options: [String: Value] = [
                    "next": .string(next), "limit": .uint32(600),
                    "properties": ["Priority"].busValue,
                ]
                (serial, next, tasks, removed) = try await page(first, options)
                #expect(tasks.count <= 600)
                #expect(tasks.allSatisfy { Set($0.keys) == ["Id", "Serial", "Priority"] })
                all += tasks
            }
            #expect(removed == [ids[0]])
            #expect(Set(all.compactMap { $0["Id"] }).count == 2_500)
            #expect(all.last?["Id"] == .string(ids[1]))
            #expect(all.last?["Priority"] == .int32(7))
            #expect(serial == (try await client.serial()))
            let (_, _, nothing, none) = try await page(serial, [:])
            #expect(nothing.isEmpty && none.isEmpty)
            func code(_ since: UInt64, _ options: [String: Value]) async -> ManagerError.Code? {
                await refusal("\(since) \(options)") { _ = try await page(since, options) }
            }
            #expect(await code(serial + 1, [:]) == .limitExceeded)
            #expect(await code(serial, ["list": .string("another")]) == .limitExceeded)
            #expect(await code(.max, [:]) == .limitExceeded)
            let places = [
                "x", "1", "1.1", "1.x.1", "-1.1.1", "1.0.1", "1.1.-1", "99999999999999999999.1.1",
                "1.1.1.1",
            ]
            for next in places {
                #expect(await code(serial, ["next": .string(next)]) == .invalidOption, "\(next)")
            }
            #expect(await code(serial, ["nonsense": .uint32(1)]) == .invalidOption)
            #expect(await code(serial, ["limit": .string("1")]) == .invalidOption)
            #expect(await code(serial, ["properties": ["No"].busValue]) == .invalidOption)
            let (_, rest, whole, _) = try await page(0, ["list": .string("another")])
            #expect(whole.count == 1_000)
            // It was on the first page, and is on none of the others.
            try await client.remove(ids[5])
            let (_, end, _, gone) = try await page(
                0,
                ["next": .string(rest), "limit": .uint32(10_000)]
            )
            #expect(end == "" && gone == [ids[5]])
        }
    }

    @Test func `follow begins with what has changed since a serial`() async throws {
        try await withService { service in
            let client = service.client
            var paused = AddOptions()
            paused.paused = true
            let old = try await client.addURL("http://127.0.0.1:9/old", options: paused)
            let serial = try await client.serial()
            let new = try await client.addURL("http://127.0.0.1:9/new", options: paused)
            try await client.remove(old)
            let program = try BuiltProgram("idown").path
            let environment = service.environment
            let follow = try await ChildProcess.start(
                program,
                ["follow", "--since", "\(serial)"],
                environment: environment,
                workingDirectory: service.home.path
            )
            let now = try await client.serial()
            let lines = try await within("three lines") {
                [await follow.nextLine(), await follow.nextLine(), await follow.nextLine()]
            }
            #expect(await follow.stop() != .exited(0))
            #expect(lines[0]?.contains(#""Event":"listed","Id":"\#(new)""#) == true, "\(lines)")
            #expect(lines[1] == #"{"Event":"removed","Id":"\#(old)"}"#)
            let list = try await client.listID()
            #expect(lines[2] == #"{"Event":"whole","ListId":"\#(list)","Serial":\#(now)}"#)
            let other = try await ChildProcess.run(
                program,
                ["follow", "--since", "\(serial)", "--list-id", "another"],
                environment: environment
            )
            #expect(!other.succeeded && other.standardOutput == "", "\(other)")
            let future = try await ChildProcess.run(
                program,
                ["follow", "--since", "\(now + 1)"],
                environment: environment
            )
            #expect(!future.succeeded)
            #expect(future.standardError.contains("Ask for the changes since 0"), "\(future)")
        }
    }

    @Test func `a change of many is told by few signals`() async throws {
        try await withService { service in
            let client = service.client
            var paused = AddOptions()
            paused.paused = true
            let urls = (1...5_000).map { "http://127.0.0.1:9/\($0)" }
            let mark = service.signals.count
            let ids = try await client.addURLs(urls, options: paused)
            let told = service.signals.signals.dropFirst(mark)
            #expect(told.count { $0.member == "TaskAdded" } == 0)
            let added = told.compactMap { Contract.Signal.tasksAdded.contents(of: $0) }
            #expect(added.map(\.0) == [ids])
            #expect(added.first?.1["State"] == .string("paused"))
            #expect(added.first?.2 == (try await client.serial()))
            #expect(told.count { $0.interface == "org.freedesktop.DBus.ObjectManager" } == 0)
            let next = service.signals.count
            _ = try await client.removeTasks(ids)
            let removed = service.signals.signals.dropFirst(next)
            #expect(removed.compactMap { Contract.Signal.tasksRemoved.contents(of: $0) }.count == 1)
            #expect(removed.count { $0.member == "TaskRemoved" } == 0)
        }
    }
}
