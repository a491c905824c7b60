// SPDX-License-Identifier: Apache-2.0

import DBus
import Synchronization
import Testing
import iDownBus
import iDownTesting

/// The list that its news make.
@Suite struct LiveListTests {
    private func task(_ id: String, _ serial: UInt64) -> TaskProperties {
        var task = TaskProperties()
        (task.id, task.serial) = (id, serial)
        return task
    }

    @Test func `a late signal brings no task back that the whole answer did not have any more`() {
        var list = LiveList()
        for news in [ListNews.anew, .page([task("1", 3)]), .removed([]), .whole(9)] {
            list.apply(news)
        }
        // Task 2 was added by commit 5 and removed by commit 8, whose signal was lost.
        list.apply(.added([task("2", 5)]))
        #expect(Set(list.tasks.keys) == ["1"])
        list.apply(.added([task("3", 10)]))
        #expect(Set(list.tasks.keys) == ["1", "3"])
    }

    @Test func `that a task was added tells nothing of one whose answer has this serial already`() {
        var list = LiveList()
        var started = task("1", 3)
        started.state = .downloading
        list.apply(.page([started]))
        // One commit has added and started it.
        #expect(list.apply(.added([task("1", 3)])).isEmpty)
        #expect(list.tasks["1"]?.state == .downloading)
    }

    @Test func `without a service nothing moves`() {
        var list = LiveList()
        var running = task("1", 3)
        (running.state, running.speed) = (.downloading, 1_000)
        list.apply(.page([running, task("2", 3)]))
        #expect(list.apply(.left).map(\.new?.id) == ["1"])
        #expect(list.tasks["1"]?.speed == 0 && list.tasks["1"]?.state == .downloading)
    }

    @Test(arguments: [true, false])
    func `what a service did that only hung, it still does`(isSame: Bool) {
        var list = LiveList()
        var running = task("1", 3)
        (running.state, running.activity) = (.downloading, .moving)
        list.apply(.page([running]))
        list.apply(.left)
        if !isSame { list.apply(.came) }
        list.apply(.whole(3))
        #expect(list.tasks["1"]?.activity == (isSame ? .moving : TaskProperties.Activity.none))
    }

    @Test func `of a service without serials every signal counts`() {
        var list = LiveList()
        for news in [ListNews.anew, .page([]), .whole(0)] { list.apply(news) }
        list.apply(.added([task("1", 0)]))
        #expect(Set(list.tasks.keys) == ["1"])
        list.apply(.removed(["1"]))
        #expect(list.tasks.isEmpty)
    }

    @Test(arguments: [0, 1])
    func `an older service that ends in mid-answer, after so many answers more, is outlived`(
        answers: Int
    ) async throws {
        try await withPrivateBus { bus in
            let service = try await Connection.open(.address(bus.address))
            let left = Mutex(Int.max)
            let table = Interface(
                Contract.managerInterface,
                [
                    .method(Contract.Method.listTasks, out: ["tasks"]) {
                        (_: Call) async throws -> [TaskProperties] in
                        try Self.takeAnswer(left)
                        return []
                    },
                    .property("ListId") { (_: Call) async throws -> String in
                        try Self.takeAnswer(left)
                        throw BusError("org.freedesktop.DBus.Error.UnknownProperty", "What?")
                    },
                ]
            )
            try await service.export([table], at: Contract.managerPath)
            _ = try await service.requestName(Contract.busName)
            let client = try await ManagerClient.connect(to: .address(bus.address))
            var news = client.listNews().makeAsyncIterator()
            #expect(try await news.next(until: "whole"))
            left.withLock { $0 = answers }
            try await service.releaseName(Contract.busName)
            _ = try await service.requestName(Contract.busName)
            // The first one is told by the bus, the second one by the question without an answer.
            for _ in 1...2 { #expect(try await news.next(until: "left")) }
            left.withLock { $0 = .max }
            try await service.releaseName(Contract.busName)
            _ = try await service.requestName(Contract.busName)
            #expect(try await news.next(until: "whole"))
            await client.close()
            await service.close()
        }
    }

    @Test func `a service that hangs longer than the client waits is followed again`()
        async throws
    {
        try await withPrivateBus { bus in
            let service = try await Connection.open(.address(bus.address))
            let hangs = Mutex(false)
            let table = Interface(
                Contract.managerInterface,
                [
                    .method(Contract.Method.listTasks, out: ["tasks"]) {
                        (_: Call) async throws -> [TaskProperties] in []
                    },
                    .property("ListId") { (_: Call) async throws -> String in
                        while hangs.withLock(\.self) {
                            try await Task.sleep(for: .milliseconds(10))
                        }
                        throw BusError("org.freedesktop.DBus.Error.UnknownProperty", "What?")
                    },
                ]
            )
            try await service.export([table], at: Contract.managerPath)
            _ = try await service.requestName(Contract.busName)
            let client = try await ManagerClient.connect(
                to: .address(bus.address),
                patience: .seconds(1)
            )
            var news = client.listNews().makeAsyncIterator()
            #expect(try await news.next(until: "whole"))
            hangs.withLock { $0 = true }
            try await service.emit(
                Contract.Signal.tasksAdded,
                at: Contract.managerPath,
                ["9"],
                [:],
                4
            )
            #expect(try await news.next(until: "left"))
            hangs.withLock { $0 = false }
            #expect(try await news.next(until: "whole"))
            await client.close()
            await service.close()
        }
    }

    @Test func `the signals of the list tell when to ask for it, and ask for nothing`() async throws
    {
        try await withPrivateBus { bus in
            // It has no methods: a question would end the sequence.
            let service = try await Connection.open(.address(bus.address))
            let path = Contract.managerPath
            _ = try await service.requestName(Contract.busName)
            let client = try await ManagerClient.connect(to: .address(bus.address))
            var news = client.listSignals().makeAsyncIterator()
            guard case .anew = try await news.next() else { throw Unexpected() }
            try await service.emit(Contract.Signal.taskRemoved, at: path, "7")
            guard case .removed(["7"]) = try await news.next() else { throw Unexpected() }
            try await service.emit(Contract.Signal.tasksRemoved, at: path, ["8"], 3)
            guard case .removed(["8"]) = try await news.next() else { throw Unexpected() }
            // The signal has neither names nor URLs.
            try await service.emit(Contract.Signal.tasksAdded, at: path, ["9"], [:], 4)
            guard case .anew = try await news.next() else { throw Unexpected() }
            try await service.releaseName(Contract.busName)
            guard case .left = try await news.next() else { throw Unexpected() }
            _ = try await service.requestName(Contract.busName)
            guard case .anew = try await news.next() else { throw Unexpected() }
            await service.close()
            await client.close()
        }
    }

    private struct Unexpected: Error {}

    /// The bus answers so for a service that has ended.
    private static func takeAnswer(_ left: borrowing Mutex<Int>) throws {
        let isLeft = left.withLock { left in
            left -= 1
            return left >= 0
        }
        guard isLeft else { throw BusError("org.freedesktop.DBus.Error.NoReply", "it is gone") }
    }
}

extension ListNewsSequence.Iterator {
    /// Takes news until one has this name; false at their end.
    fileprivate mutating func next(until name: String) async throws -> Bool {
        while let news = try await next() {
            if "\(news)".hasPrefix(name) { return true }
        }
        return false
    }
}
