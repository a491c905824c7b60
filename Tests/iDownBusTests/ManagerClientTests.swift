// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownSettings
import iDownTesting

@Suite struct ManagerClientTests {
    @Test func `every method reaches the service`() async throws {
        try await withFakeManager { scene in
            let client = scene.client
            #expect(try await client.addURL("https://a.org/") == "1")
            #expect(try await client.addURLs(["https://b.org/", "https://c.org/"]) == ["2", "3"])
            #expect(try await client.addMetalink(at: "/a.meta4") == ["4"])
            let file = try await client.probe("https://e.org/")
            #expect(file.name == "a.iso" && file.size == nil && file.resumable)
            #expect(file.url == "https://e.org/")
            var handOver = HandOverOptions(token: "t")
            handOver.size = 5
            #expect(try await client.handOver("https://f.org/", options: handOver) == "5")
            #expect(try await client.confirm("t") == "1")
            try await client.withdraw("t")
            try await client.remove("5")
            try await client.remove("4")
            try await client.pause("1")
            try await client.resume("1")
            try await client.retry("1")
            try await client.remove("3")
            #expect(try await client.startAll() == 1)
            #expect(try await client.pauseAll() == 2)
            #expect(try await client.clearCompleted() == 3)
            try await client.setURL("1", to: "https://d.org/")
            try await client.setSpeedLimit(5, of: "2")
            try await client.setMaxConnections(3, of: "2")
            #expect(try await client.getTask("2").url == "https://b.org/")
            #expect(try await client.listTasks().map(\.id) == ["1", "2"])
            #expect(
                scene.manager.asked == [
                    "add https://a.org/", "add https://b.org/", "add https://c.org/",
                    "add metalink /a.meta4", "probe https://e.org/",
                    "add hand over https://f.org/", "confirm t", "withdraw t", "remove 5",
                    "remove 4", "pause 1",
                    "resume 1", "retry 1", "remove 3", "resume-all", "pause-all", "remove-all",
                    "set https://d.org/ 1", "SpeedLimit \(Value.uint64(5)) 2",
                    "MaxConnections \(Value.uint32(3)) 2", "get 2",
                ]
            )
        }
    }

    @Test func `options arrive as they were given`() async throws {
        try await withFakeManager { scene in
            var options = AddOptions()
            options.priority = 9
            options.headers = [.init(name: "X-A", value: "ü"), .init(name: "X-B", value: "")]
            _ = try await scene.client.addURL("https://a.org/", options: options)
            #expect(scene.manager.options == [options])
        }
    }

    @Test func `a whole task arrives as it was sent`() async throws {
        try await withFakeManager { scene in
            scene.manager.show([.sample])
            let tasks = try await scene.client.listTasks()
            #expect(tasks == [.sample])
        }
    }

    @Test func `refusals keep their names and texts`() async throws {
        try await withFakeManager { scene in
            let unknown = await #expect(throws: ManagerError.self) {
                try await scene.client.pause("99")
            }
            #expect(unknown == ManagerError(.noSuchTask, "there is no task 99"))
            _ = try await scene.client.addURL("https://a.org/")
            let wrong = await #expect(throws: ManagerError.self) {
                try await scene.client.cancel("1")
            }
            #expect(wrong?.code == .invalidState)
            let stopping = await #expect(throws: ManagerError.self) {
                try await scene.client.quit()
            }
            #expect(stopping?.code == .stopping)
        }
    }

    @Test func `properties are read and set`() async throws {
        try await withFakeManager { scene in
            let client = scene.client
            #expect(try await client.version() == "0.0-fake")
            #expect(try await client.explainCodes("1").map(\.code) == ["queue", "space"])
            #expect(try await client.capabilities() == Set(Capability.allCases))
            #expect(try await client.taskCount() == 0)
            #expect(try await client.waitingCount() == 5)
            #expect(try await client.activeCount() == 6)
            #expect(try await client.speed() == 1 << 40)
            try await client.set(.maxConcurrentDownloads, to: .number(64))
            #expect(try await client.value(of: .maxConcurrentDownloads) == .number(64))
            try await client.set(.downloadDirectory, to: .text("/srv"))
            #expect(try await client.value(of: .downloadDirectory) == .text("/srv"))
        }
    }

    @Test(arguments: [0, 65] as [UInt64])
    func `a property out of its range is InvalidArgs`(count: UInt64) async throws {
        try await withFakeManager { scene in
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.set(.maxConcurrentDownloads, to: .number(count))
            }
            #expect(error?.code == .invalidArguments)
        }
    }

    @Test func `a folder that is not taken keeps its own error`() async throws {
        try await withFakeManager { scene in
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.set(.downloadDirectory, to: .text("/refused"))
            }
            #expect(error == ManagerError(.invalidDestination, "the folder is refused"))
        }
    }

    @Test func `events come in the order of sending, others are passed over`() async throws {
        try await withFakeManager { scene in
            let events = try await scene.client.events()
            var task = TaskProperties.sample
            task.id = "1"
            let sent: [ManagerEvent] = [
                .added(task),
                .changed(id: "1", state: .paused, changed: ["Speed": .uint64(0)]),
                .removed(id: "1"),
            ]
            for event in sent {
                let member = try await emit(event, scene)
                try await emit("FromTheFuture", WireWriter("1"), scene)
                try await emit(member, WireWriter(UInt8(1)), scene)
            }
            var received: [ManagerEvent] = []
            for try await event in events {
                received.append(event)
                if received.count == sent.count { break }
            }
            #expect(received == sent)
        }
    }

    /// Sends the signal of an event, and returns its name.
    private func emit(_ event: ManagerEvent, _ scene: BusScene) async throws -> MemberName {
        typealias Known = Contract.Signal
        let (service, path) = (scene.service, Contract.managerPath)
        switch event {
        case .added(let task):
            try await service.emit(Known.taskAdded, at: path, task.id, task)
            return Known.taskAdded.member
        case .changed(let id, let state, let changed):
            try await service.emit(Known.taskChanged, at: path, id, state, changed)
            return Known.taskChanged.member
        case .removed(let id):
            try await service.emit(Known.taskRemoved, at: path, id)
            return Known.taskRemoved.member
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
        try await withFakeManager { scene in
            var tasks: [TaskProperties] = []
            for number in 1...16 {
                var task = TaskProperties()
                task.id = "\(number)"
                task.url = String(repeating: "a", count: 4 << 20)
                tasks.append(task)
            }
            scene.manager.show(tasks)
            let isWhole = try await scene.client.allTasks() == tasks
            #expect(isWhole)
            #expect(scene.manager.asked.count > 2)
            var query = TaskQuery()
            query.limit = 15
            let isCut = try await scene.client.allTasks(query) == Array(tasks.dropLast())
            #expect(isCut)
        }
    }

    @Test func `a service that knows no selection of properties tells all of them`() async throws {
        try await withFakeManager { scene in
            scene.manager.show([.sample])
            var query = TaskQuery()
            query.text = "as before"
            query.properties = [.id]
            let tasks = try await scene.client.allTasks(query)
            #expect(tasks.first == .sample)
        }
    }

    @Test func `what happens after the subscription is not missed`() async throws {
        try await withFakeManager { scene in
            let events = try await scene.client.events()
            _ = try await emit(.removed(id: "8"), scene)
            _ = try await scene.client.listTasks()
            var iterator = events.makeAsyncIterator()
            #expect(try await iterator.next() == .removed(id: "8"))
        }
    }

    @Test func `the service's going and coming is told`() async throws {
        try await withFakeManager { scene in
            var presence = try await scene.client.presence().makeAsyncIterator()
            try await scene.service.releaseName(Contract.busName)
            #expect(try await presence.next() == false)
            _ = try await scene.service.requestName(Contract.busName)
            #expect(try await presence.next() == true)
        }
    }

    @Test func `a call that meets the service's end is made again to the next`() async throws {
        try await withFakeManager { scene in
            let old = scene.manager
            old.stop()
            _ = try await scene.service.requestName(Contract.busName, allowReplacement: true)
            let new = FakeManager()
            new.show([.sample])
            let other = try await Connection.open(.address(scene.bus.address))
            try await other.export(new)
            let client = scene.client
            let asking = Task { try await client.getTask(TaskProperties.sample.id) }
            // Once more as soon as the client hears of changes, and then no more.
            try await soon("the old one to be asked twice") { old.asked.count == 2 }
            _ = try await other.requestName(Contract.busName, replaceExisting: true)
            #expect(try await asking.value == .sample)
            #expect(old.asked.count == 2 && new.asked.count == 1)
            await other.close()
        }
    }

    @Test func `a call that meets the service's end is told that none follows`() async throws {
        try await withFakeManager { scene in
            let manager = scene.manager
            manager.stop()
            let client = scene.client
            let asking = Task { try await client.getTask("1") }
            try await soon("the service to be asked twice") { manager.asked.count == 2 }
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
        try await withFakeManager { scene in
            await scene.client.close()
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.listTasks()
            }
            #expect(error?.code == .disconnected)
        }
    }
}
