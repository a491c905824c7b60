// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownTesting

/// The session bus goes away and comes back at the same address.
@Suite(.timeLimit(.minutes(2)))
struct BusReturnTests {
    private let content = TestContent(seed: 70, count: 4 << 20)

    /// Starts a bus in the place of the one that was killed, and waits until the service is there.
    private func withNewBus(
        _ service: ServiceUnderTest,
        _ body: (Connection, SignalLog) async throws -> Void
    ) async throws {
        let socket = service.bus.address.dropFirst("unix:path=".count).prefix { $0 != "," }
        let bus = try await PrivateBus.start(socket: String(socket))
        do {
            let connection = try await Connection.open(.address(bus.address))
            let owners = try await SignalLog(
                .ownerChanges(of: ServiceUnderTest.busName),
                on: connection
            )
            if (try? await connection.owner(of: ServiceUnderTest.busName)) == nil {
                try await owners.first("the service to come back") {
                    $0.arguments.last != .string("")
                }
            }
            let signals = try await SignalLog(
                MatchRule(sender: ServiceUnderTest.busName),
                on: connection
            )
            try await body(connection, signals)
            await connection.close()
        } catch {
            await bus.stop()
            throw error
        }
        await bus.stop()
    }

    @Test func `transfers go on without a bus; name, objects and signals come back with it`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            try await service.waitForBytes(1 << 20, of: id)
            let process = try await service.processID()
            await service.bus.kill()
            host.letGo()
            try await within("the file to be complete") {
                while !TestFile.exists(service.home.download("file.bin")) {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            try await withNewBus(service) { connection, signals in
                let client = ManagerClient(connection)
                #expect(try await client.wait(for: id) == .completed)
                let object = Proxy(
                    connection,
                    ServiceUnderTest.busName,
                    try #require(TaskPath(id: id)).objectPath,
                    Contract.taskInterface
                )
                #expect(try await object.get("State", as: String.self) == "completed")
                let next = try await client.addURL(host.url("/next"))
                #expect(try await client.wait(for: next) == .completed)
                try await signals.first("the new task's end") { signal in
                    signal.member == "TaskChanged" && signal.arguments.first == .string(next)
                        && signal.arguments[1] == .string("completed")
                }
            }
            #expect(kill(process, SIGTERM) == 0)
            #expect(try await service.waitForEnd() == .exited(0))
            let path = service.home.download("file.bin")
            #expect(try content.firstDifference(fromFile: path) == nil)
            try await service.waitForLog("the session bus is gone")
        }
    }

    @Test func `a bus that takes nothing does not hold up the end`() async throws {
        try await withService { service in
            let urls = (0..<20_000).map { "http://127.0.0.1:9/\($0)" }
            var options = AddOptions()
            options.paused = true
            let ids = try await service.client.addURLs(urls, options: options)
            let process = try await service.processID()
            let mark = service.signals.count
            let call = Task { try await service.client.cancelTasks(ids) }
            try await service.signals.first(after: mark, "the first of the signals") { _ in true }
            // Megabytes of signals are still to come.
            #expect(kill(service.bus.processID, SIGSTOP) == 0)
            defer { kill(service.bus.processID, SIGCONT) }
            #expect(kill(process, SIGTERM) == 0)
            let status = try await within("the service to end", limit: .seconds(20)) {
                try await service.waitForEnd()
            }
            #expect(status == .exited(0))
            #expect(service.signals.count < mark + 20_000)
            kill(service.bus.processID, SIGCONT)
            _ = await call.result
        }
    }

    @Test func `calls that wait are dropped with their bus, and the service is whole after that`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            let call = Task { try await service.client.wait(for: id) }
            try await service.waitForBytes(1 << 20, of: id)
            await service.bus.kill()
            _ = await call.result
            try await withNewBus(service) { connection, _ in
                let client = ManagerClient(connection)
                async let end = client.wait(for: id)
                host.letGo()
                #expect(try await end == .completed)
                try await client.quit()
            }
            #expect(try await service.waitForEnd() == .exited(0))
        }
    }

    @Test func `the next session's service goes on with what runs, where the last bus is gone`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            try await service.waitForBytes(1 << 20, of: id)
            await service.bus.kill()
            try await withPrivateBus { bus in
                let next = try await service.launch(
                    environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
                )
                let client = try await ManagerClient.connect(to: .address(bus.address))
                var presence = try await client.presence().makeAsyncIterator()
                #expect(try await presence.next() == true)
                host.letGo()
                #expect(try await client.wait(for: id) == .completed)
                await client.close()
                await next.stop()
            }
            try await service.waitForLog("another session's service needs the list")
            let path = service.home.download("file.bin")
            #expect(try content.firstDifference(fromFile: path) == nil)
        }
    }
}
