// SPDX-License-Identifier: Apache-2.0

import DBus
import Synchronization
import Testing
import iDownBus
import iDownTesting

/// What waits for a server or for the network, and how long.
@Suite(.timeLimit(.minutes(2))) struct WaitingTests {
    private let content = TestContent(seed: 92, count: 50_000)

    /// When the requests to a server came.
    private final class Arrivals: Sendable {
        private let times = Mutex<[ContinuousClock.Instant]>([])

        func note() { times.withLock { $0.append(.now) } }

        /// Between the first request and the second.
        var gap: Duration? { times.withLock { $0.count < 2 ? nil : $0[1] - $0[0] } }
    }

    @Test(arguments: ["408", "429", "500", "502", "503"])
    func `a server that asks for two seconds gets them, and every other one is asked at once`(
        status: String
    ) async throws {
        let arrivals = Arrivals()
        let goesOn = FaultServer.Gate()
        let host = try FaultServer(
            script: .init { [content] request in
                arrivals.note()
                guard request.number == 1 else {
                    return [.wait(for: goesOn)] + ServedFile(content).answer(to: request)
                }
                let fields = [("Retry-After", "2"), ("Content-Length", "0")]
                return [.head("\(status) Later", fields)]
            }
        )
        defer { host.stop() }
        let other = try ChangingHost(ServedFile(content))
        defer { other.stop() }
        try await withService { service in
            let id = try await service.add(host.url("/a"))
            await host.waitForRequest()
            // It ends while the first host has not answered a second time.
            let elsewhere = try await service.add(other.url("/b"))
            try await service.waitForState("completed", of: elsewhere)
            goesOn.open()
            try await service.waitForState("completed", of: id)
            let gap = try #require(arrivals.gap)
            #expect(gap >= .seconds(2), "\(gap)")
            #expect(host.requests.count == 2)
        }
    }

    @Test func `a server that asks for minutes holds all its tasks, and says until when`()
        async throws
    {
        let host = try FaultServer(
            script: .init { _ in
                [.head("503 Busy", [("Retry-After", "600"), ("Content-Length", "0")])]
            }
        )
        defer { host.stop() }
        try await withService { service in
            let first = try await service.add(host.url("/a"))
            try await service.waitForHold(.retry, of: first)
            let second = try await service.add(host.url("/b"))
            try await service.waitForHold(.retry, of: second)
            let tasks = try await service.client.listTasks()
            #expect(tasks.map(\.attempts) == [1, 0])
            #expect(tasks.allSatisfy { $0.retryAt > $0.createdAt + 500_000_000 })
            #expect(tasks[0].errorCode == "Server.Busy")
            #expect(host.requests.count == 1)
            try await service.restartAfterKill()
            let again = try await service.client.listTasks()
            #expect(again.allSatisfy { $0.hold == .retry && $0.retryAt > 0 })
            #expect(host.requests.count == 1)
        }
    }

    @Test(.enabled("needs a network of its own") { await Privilege.canUnshareNetwork() })
    func `without a network a task waits, and goes on when there is a way out`() async throws {
        try await withService(started: false) { service in
            try await service.start(under: ["unshare", "--net"])
            // A documentation address (RFC 5737): nobody answers there.
            let id = try await service.add("http://192.0.2.1/file")
            try await service.waitForHold(.offline, of: id)
            #expect(try await service.client.getTask(id).attempts == 0)
            let pid = "\(try await service.processID())"
            for command in [
                "link add out type veth peer name far", "address add 198.51.100.2/24 dev out",
                "link set far up", "link set out up", "route add default dev out",
            ] {
                let words = command.split(separator: " ").map(String.init)
                let done = try await ChildProcess.run("nsenter", ["-t", pid, "-n", "ip"] + words)
                #expect(done.succeeded, "\(done.standardError)")
            }
            try await service.waitForState("downloading", of: id)
        }
    }
}

extension ServiceUnderTest {
    /// Waits until a task waits for something.
    func waitForHold(_ hold: TaskProperties.Hold, of id: String) async throws {
        while true {
            let mark = signals.count
            let task = try await client.getTask(id)
            if task.hold == hold { return }
            try await signals.first(
                after: mark,
                "task \(id), \(task.state), to wait for \(hold)"
            ) { signal in
                signal.member == "TaskChanged" && signal.arguments.first == .string(id)
            }
        }
    }
}
