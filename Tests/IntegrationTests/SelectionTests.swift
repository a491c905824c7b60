// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// Verbs for many tasks, and what is asked of many, over the bus.
@Suite(.timeLimit(.minutes(2)))
struct SelectionTests {
    /// A task in each state, in the contract's order; the one slot is taken by another.
    private func withTasks(
        _ body: (ServiceUnderTest, _ ids: [String]) async throws -> Void
    ) async throws {
        let held = try ChangingHost(.held(TestContent(seed: 68, count: 1 << 20)))
        let small = TestContent(seed: 69, count: 1000)
        let host = try FaultServer(
            script: .init { request in
                request.path.hasPrefix("/gone")
                    ? [.head("404 Not Found", [("Content-Length", "0")])]
                    : ServedFile(small).answer(to: request)
            }
        )
        defer {
            held.stop()
            host.stop()
        }
        try await withService { service in
            let client = service.client
            try await client.set(.maxConcurrentDownloads, to: .number(1))
            let completed = try await service.add(host.url("/done.bin"))
            #expect(try await client.wait(for: completed) == .completed)
            let failed = try await service.add(host.url("/gone.bin"))
            #expect(try await client.wait(for: failed) == .failed)
            let running = try await service.addHeld(on: held, "/running.bin")
            let waiting = try await service.add(held.url("/waiting.bin"))
            let paused = try await service.add(held.url("/paused.bin")) { $0.paused = true }
            let cancelled = try await service.add(held.url("/off.bin")) { $0.paused = true }
            try await client.cancel(cancelled)
            try await body(service, [waiting, running, paused, completed, failed, cancelled])
        }
    }

    private func states(
        _ service: ServiceUnderTest,
        _ ids: [String]
    ) async throws -> [TaskProperties.State] {
        var states: [TaskProperties.State] = []
        for id in ids { states.append(try await service.client.getTask(id).state) }
        return states
    }

    @Test func `PauseTasks pauses what waits or runs, and passes over the rest`() async throws {
        try await withTasks { service, ids async throws in
            let paths = ids.map { "/org/idown/Manager1/task/\($0)" }
            #expect(try await service.client.pauseTasks(paths + ids) == 2)
            #expect(
                try await states(service, ids)
                    == [.paused, .paused, .paused, .completed, .failed, .cancelled]
            )
        }
    }

    @Test func `StartTasks brings all back that is not completed`() async throws {
        try await withTasks { service, ids async throws in
            #expect(try await service.client.startTasks(ids) == 3)
            #expect(
                try await states(service, ids)
                    == [.waiting, .downloading, .waiting, .completed, .waiting, .waiting]
            )
        }
    }

    @Test func `CancelTasks cancels all that is not completed, its bytes gone with the reply`()
        async throws
    {
        try await withTasks { service, ids async throws in
            #expect(try await service.client.cancelTasks(ids) == 4)
            #expect(
                try await states(service, ids)
                    == [.cancelled, .cancelled, .cancelled, .completed, .cancelled, .cancelled]
            )
            #expect(TestFile.names(in: service.home.downloads) == ["done.bin"])
        }
    }

    @Test func `RemoveTasks takes all off the list, finished files to the trash if asked`()
        async throws
    {
        try await withTasks { service, ids async throws in
            var options = RemoveOptions()
            options.trashFiles = true
            #expect(try await service.client.removeTasks(ids, options: options) == 6)
            #expect(try await service.client.listTasks().isEmpty)
            #expect(TestFile.names(in: service.home.downloads).isEmpty)
            let trash = service.home.path + "/.local/share/Trash"
            #expect(TestFile.names(in: trash + "/files") == ["done.bin"])
            let info = try TestFile.text(of: trash + "/info/done.bin.trashinfo")
            #expect(info.contains("Path=\(service.home.downloads)/done.bin\n"), "\(info)")
        }
    }

    @Test func `a finished file that no trash takes stays, and the command says so`() async throws {
        try await withTasks { service, ids async throws in
            mkdir(service.home.path + "/.local/share", 0o700)
            try TestFile.write("in the way", to: service.home.path + "/.local/share/Trash")
            let refused = try await idown("remove", "--trash", ids[3], in: service)
            #expect(refused.status == .exited(12), "\(refused)")
            #expect(refused.standardError.contains("cannot be moved to a trash"), "\(refused)")
            #expect(try await service.state(of: ids[3]) == "completed")
            #expect(TestFile.names(in: service.home.downloads).contains("done.bin"))
            let rest = try await idown("remove", "--trash", "all", in: service)
            #expect(rest.status == .exited(12), "\(rest)")
            #expect(rest.standardError.contains("5 of 6"), "\(rest)")
            #expect(rest.standardError.contains("cannot be moved to a trash"), "\(rest)")
            #expect(try await service.client.listTasks().map(\.id) == [ids[3]])
        }
    }

    @Test func `FindTasks and Explain tell of every state`() async throws {
        try await withTasks { service, ids async throws in
            var query = TaskQuery()
            query.text = "BIN"
            query.sort = .state
            query.limit = 4
            let (page, total) = try await service.client.findTasks(query)
            #expect(total == 6)
            #expect(page.map(\.id) == Array(ids[..<4]))
            query.states = [.failed, .cancelled]
            #expect(try await service.client.findTasks(query).page.map(\.id) == Array(ids[4...]))
            let missing =
                "The server answered HTTP 404 Not Found. Check the URL, or give a fresh link"
                + " with `idown edit \(ids[4]) --url URL`."
            let expected = [
                ["queue: 1 of 1 running"], [], ["paused by the user"], [], [missing],
                ["cancelled by the user"],
            ]
            for (id, reasons) in zip(ids, expected) {
                #expect(try await service.client.explain(id) == reasons)
            }
        }
    }

    @Test func `ObjectManager tells what ListTasks tells`() async throws {
        try await withTasks { service, ids async throws in
            let manager = Proxy(
                service.connection,
                ServiceUnderTest.busName,
                ServiceUnderTest.managerPath,
                "org.freedesktop.DBus.ObjectManager"
            )
            let objects = try await manager.call(
                "GetManagedObjects",
                returning: [ObjectPath: [String: [String: Value]]].self
            )
            #expect(objects.count == ids.count)
            for task in try await service.client.listTasks() {
                let path = try #require(TaskPath(id: task.id)).objectPath
                let told = objects[path]?["org.idown.Task1"].map { TaskProperties($0) }
                // What runs moves on between the two questions.
                if task.state != .downloading { #expect(told == task) }
                let object = Proxy(
                    service.connection,
                    ServiceUnderTest.busName,
                    path,
                    "org.idown.Task1"
                )
                #expect(try await object.getAll().keys.sorted() == task.dictionary.keys.sorted())
            }
        }
    }

    @Test func `a thousand pending calls of Wait are a client's share`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            let other = try await Connection.open(.address(service.bus.address))
            let patient = ManagerClient(other)
            // One too many is refused; the others wait.
            let refused = try await within("the limit") {
                try await withThrowingTaskGroup(of: ManagerError.Code?.self) { group in
                    for _ in 0...1000 {
                        group.addTask {
                            do throws(ManagerError) {
                                _ = try await patient.wait(for: id)
                                return nil
                            } catch {
                                return error.code
                            }
                        }
                    }
                    let first = try await group.next() ?? nil
                    group.cancelAll()
                    return first
                }
            }
            #expect(refused == .limitExceeded)
            // Others are not concerned, and a client that leaves takes its calls along.
            async let end = service.client.wait(for: id)
            await other.close()
            try await service.client.cancel(id)
            #expect(try await end == .cancelled)
        }
    }
}
