// SPDX-License-Identifier: Apache-2.0

import DBus
import Synchronization
import Testing
import iDownBus
import iDownTesting

@Suite struct ManagerClientTests {
    @Test func `refusals keep their names and texts`() async throws {
        let refusal = ManagerError(.noSuchTask, "there is no task 99")
        let getTask = Member.method(Contract.Method.getTask, in: ["id"], out: ["task"]) {
            (_: Call, _: String) throws -> TaskProperties in throw refusal.busError
        }
        try await withMethods([getTask]) { scene in
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.getTask("99")
            }
            #expect(error == refusal)
        }
    }

    @Test func `events come in the order of sending, others are passed over`() async throws {
        try await withMethods { scene in
            let news = try await scene.client.newsFromNow()
            var task = TaskProperties.sample
            task.id = "1"
            let sent: [ListNews] = [
                .added([task]), .changed(["1"], .paused, ["Speed": .uint64(0)]), .removed(["1"]),
            ]
            for event in sent {
                let member = try await emit(event, scene)
                try await emit("FromTheFuture", WireWriter("1"), scene)
                try await emit(member, WireWriter(UInt8(1)), scene)
            }
            var received: [ListNews] = []
            for try await one in news {
                received.append(one)
                if received.count == sent.count { break }
            }
            #expect(received == sent)
        }
    }

    /// Sends the signal of an event, and returns its name.
    private func emit(_ news: ListNews, _ scene: BusScene) async throws -> MemberName {
        typealias Known = Contract.Signal
        let (service, path) = (scene.service, Contract.managerPath)
        switch news {
        case .added(let tasks):
            try await service.emit(Known.taskAdded, at: path, tasks[0].id, tasks[0])
            return Known.taskAdded.member
        case .changed(let ids, let state, let changed):
            try await service.emit(Known.taskChanged, at: path, ids[0], state, changed)
            return Known.taskChanged.member
        case .removed(let ids):
            try await service.emit(Known.taskRemoved, at: path, ids[0])
            return Known.taskRemoved.member
        case .anew, .page, .whole, .left, .came: preconditionFailure("no signal says \(news)")
        }
    }

    private func emit(
        _ member: MemberName,
        _ arguments: WireWriter,
        _ scene: BusScene
    ) async throws {
        try await scene.service.emit(
            Contract.managerInterface,
            member,
            at: Contract.managerPath,
            arguments
        )
    }

    @Test func `a list that no message can hold comes in pages`() async throws {
        let tasks = (1...16).map { number in
            var task = TaskProperties()
            task.id = "\(number)"
            task.url = String(repeating: "a", count: 4 << 20)
            return task
        }
        let list = Member.method(Contract.Method.listTasks, .query, out: ["tasks"]) {
            (_: Call) throws -> TaskListing in
            do throws(ManagerError) { return try listing(tasks) } catch { throw error.busError }
        }
        let find = Member.method(
            Contract.Method.findTasks,
            .query,
            in: ["query"],
            out: ["tasks", "total"]
        ) { (_: Call, query: [String: Value]) throws -> (TaskListing, UInt32) in
            do throws(ManagerError) {
                let query = try TaskQuery(query)
                let page = tasks.dropFirst(Int(query.offset ?? 0)).prefix(Int(query.limit ?? 0))
                return (try listing(page), UInt32(tasks.count))
            } catch {
                throw error.busError
            }
        }
        try await withMethods([list, find]) { scene in
            let isWhole = try await scene.client.allTasks() == tasks
            #expect(isWhole)
            var query = TaskQuery()
            query.limit = 15
            let isCut = try await scene.client.allTasks(query) == Array(tasks.dropLast())
            #expect(isCut)
        }
    }

    @Test func `a service that knows no selection of properties tells all of them`() async throws {
        let find = Member.method(
            Contract.Method.findTasks,
            .query,
            in: ["query"],
            out: ["tasks", "total"]
        ) { (_: Call, query: [String: Value]) throws -> ([TaskProperties], UInt32) in
            guard query["properties"] == nil else {
                throw ManagerError(.invalidOption, "There is no key properties.").busError
            }
            return ([.sample], 1)
        }
        try await withMethods([find]) { scene in
            var query = TaskQuery()
            query.text = "as before"
            query.properties = [.id]
            let tasks = try await scene.client.allTasks(query)
            #expect(tasks == [.sample])
        }
    }

    @Test func `what happens after the subscription is not missed`() async throws {
        try await withMethods { scene in
            let news = try await scene.client.newsFromNow()
            _ = try await emit(.removed(["8"]), scene)
            // The answer comes behind the signal.
            _ = try? await scene.client.version()
            var iterator = news.makeAsyncIterator()
            guard case .removed(["8"]) = try await iterator.next() else {
                Issue.record("the signal was missed")
                return
            }
        }
    }

    @Test func `the service's going and coming is told`() async throws {
        try await withMethods { scene in
            var presence = try await scene.client.presence().makeAsyncIterator()
            try await scene.service.releaseName(Contract.busName)
            #expect(try await presence.next() == false)
            _ = try await scene.service.requestName(Contract.busName)
            #expect(try await presence.next() == true)
        }
    }

    @Test func `a call that meets the service's end is made again to the next`() async throws {
        let (old, new) = (CallCount(), CallCount())
        try await withMethods([getTask(old, isStopping: true)]) { scene in
            _ = try await scene.service.requestName(Contract.busName, allowReplacement: true)
            let other = try await Connection.open(.address(scene.bus.address))
            try await other.export(
                [manager([getTask(new, isStopping: false)])],
                at: Contract.managerPath
            )
            let client = scene.client
            let asking = Task { try await client.getTask("7") }
            // Once more as soon as the client hears of changes, and then no more.
            try await soon("the old one to be asked twice") { old.value == 2 }
            _ = try await other.requestName(Contract.busName, replaceExisting: true)
            #expect(try await asking.value == .sample)
            #expect(old.value == 2 && new.value == 1)
            await other.close()
        }
    }

    @Test func `a call that meets the service's end is told that none follows`() async throws {
        let asked = CallCount()
        try await withMethods([getTask(asked, isStopping: true)]) { scene in
            let client = scene.client
            let asking = Task { try await client.getTask("7") }
            try await soon("the service to be asked twice") { asked.value == 2 }
            try await scene.service.releaseName(Contract.busName)
            let error = await #expect(throws: ManagerError.self) { try await asking.value }
            #expect(error?.code == .serviceUnknown)
        }
    }

    @Test func `without a service the error says so`() async throws {
        try await withPrivateBus { bus in
            let client = try await ManagerClient.connect(to: .address(bus.address))
            let error = await #expect(throws: ManagerError.self) {
                try await client.listTasks()
            }
            #expect(error?.code == .serviceUnknown)
            #expect(error?.isUnreachable == true)
            await client.close()
        }
    }

    @Test func `without a bus the error says so`() async throws {
        let error = await #expect(throws: ManagerError.self) {
            try await ManagerClient.connect(to: .address("unix:path=/nonexistent/bus"))
        }
        #expect(error?.isUnreachable == true)
        #expect(error?.message.contains("session bus") == true)
    }

    @Test func `a service that leaves without an answer is told as such`() async throws {
        try await withMethods { scene in
            await scene.client.close()
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.listTasks()
            }
            #expect(error?.code == .disconnected)
        }
    }
}

/// How often a method was called.
private final class CallCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }
}

/// GetTask of a service that gives a task, or is ending.
private func getTask(_ calls: CallCount, isStopping: Bool) -> Member {
    .method(Contract.Method.getTask, in: ["id"], out: ["task"]) {
        (_: Call, _: String) throws -> TaskProperties in
        calls.add()
        guard !isStopping else { throw ManagerError(.stopping, "the service ends").busError }
        return .sample
    }
}

private func listing(
    _ tasks: some Sequence<TaskProperties>
) throws(ManagerError) -> TaskListing {
    var list = TaskListing()
    for task in tasks { try list.append(task) }
    return list
}

private func manager(_ methods: [Member]) -> Interface {
    Interface(Contract.managerInterface, methods)
}

/// What a test of the client needs.
private struct BusScene {
    let service: Connection
    let client: ManagerClient
    let bus: PrivateBus
}

/// Runs `body` with a client on a bus of its own, where the service has these methods alone.
private func withMethods(
    _ methods: [Member] = [],
    _ body: (BusScene) async throws -> Void
) async throws {
    try await withPrivateBus { bus in
        let service = try await Connection.open(.address(bus.address))
        try await service.export([manager(methods)], at: Contract.managerPath)
        _ = try await service.requestName(Contract.busName)
        let client = try await ManagerClient.connect(to: .address(bus.address))
        let scene = BusScene(service: service, client: client, bus: bus)
        let result: Result<Void, any Error>
        do { result = .success(try await body(scene)) } catch { result = .failure(error) }
        await client.close()
        await service.close()
        try result.get()
    }
}
