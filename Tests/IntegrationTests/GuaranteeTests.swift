// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Synchronization
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// What holds after a reply, whatever happens then.
@Suite(.timeLimit(.minutes(2)))
struct GuaranteeTests {
    @Test func `a selection, a priority and a setting survive kill -9 right after the reply`()
        async throws
    {
        try await withService { service in
            let client = service.client
            let urls = (1...20).map { "http://127.0.0.1:9/\($0)" }
            var options = AddOptions()
            options.paused = true
            let ids = try await client.addURLs(urls, options: options)
            try await client.setPriority(9, of: ids[0])
            try await service.restartAfterKill()
            #expect(try await client.getTask(ids[0]).priority == 9)

            #expect(try await client.cancelTasks(Array(ids[..<5])) == 5)
            try await service.restartAfterKill()
            var states = try await client.listTasks().map(\.state)
            #expect(
                states == Array(repeating: .cancelled, count: 5)
                    + Array(repeating: .paused, count: 15)
            )

            #expect(try await client.removeTasks(Array(ids[..<5])) == 5)
            try await service.restartAfterKill()
            #expect(try await client.listTasks().map(\.id) == Array(ids[5...]))

            try await client.set(.keepCompleted, to: .number(30))
            try await client.set(.holdOnMetered, to: .flag(true))
            try await service.restartAfterKill()
            #expect(try await client.value(of: .keepCompleted) == .number(30))

            let task = Proxy(
                service.connection,
                Contract.busName,
                try #require(TaskPath(id: ids[9])).objectPath,
                Contract.taskInterface
            )
            try await task.set("Priority", to: Int32(-4))
            try await service.restartAfterKill()
            #expect(try await task.get("Priority", as: Int32.self) == -4)
            states = try await client.listTasks().map(\.state)
            #expect(states.allSatisfy { $0 == .paused })
        }
    }

    @Test func `every task's signals are sent before the reply that tells of it`() async throws {
        try await withService { service in
            let connection = try await Connection.open(.address(service.bus.address))
            let client = ManagerClient(connection)
            let news = try await client.newsFromNow()
            var options = AddOptions()
            options.paused = true
            let urls = (1...1000).map { "http://127.0.0.1:9/a-rather-long-name-\($0)" }
            let ids = try await client.addURLs(urls, options: options)
            #expect(try await client.cancelTasks(ids) == UInt32(ids.count))
            // What has not arrived by now is not counted.
            await connection.close()
            var (added, cancelled): (Set<String>, Set<String>) = ([], [])
            for try await one in news {
                switch one {
                case .added(let tasks): added.formUnion(tasks.map(\.id))
                case .changed(let ids, .cancelled, _): cancelled.formUnion(ids)
                default: break
                }
            }
            #expect(added == Set(ids))
            #expect(cancelled == Set(ids))
        }
    }

    @Test func `when the service ends, a change of a setting is made or answered as not made`()
        async throws
    {
        try await withService { service in
            let path = service.home.config + "/idown/settings.json"
            for round in 1...8 {
                let manager = service.manager
                let made = Mutex(0)
                // Returns the last number that was stored, and whether the next one was refused.
                let setting = Task {
                    for number in 1...UInt32(100_000) {
                        do throws(BusError) {
                            try await manager.set("KeepCompleted", to: number)
                            made.withLock { $0 += 1 }
                        } catch {
                            return (number - 1, error.name == "org.idown.Error.Stopping")
                        }
                    }
                    return (0, false)
                }
                try await soon("some changes") { made.withLock { $0 > 3 * round } }
                #expect(try await service.terminate() == .exited(0))
                let (last, isRefused) = await setting.value
                let text = try TestFile.text(of: path)
                let stored = text.firstMatch(of: /"KeepCompleted" : ([0-9]+)/).flatMap {
                    UInt32($0.1)
                }
                // Without an answer nobody knows.
                let allowed = isRefused ? [last] : [last, last + 1]
                #expect(allowed.contains(stored ?? 0), "\(last) \(isRefused): \(text)")
                unlink(path)
                try await service.start()
            }
        }
    }
}
