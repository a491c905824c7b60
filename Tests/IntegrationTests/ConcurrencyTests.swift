// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// MaxConcurrentDownloads and the order in which tasks start.
@Suite(.timeLimit(.minutes(5)))
struct ConcurrencyTests {
    /// The ids of the tasks that download at this moment.
    private func running(_ service: ServiceUnderTest) async throws -> [String] {
        try await service.client.listTasks().filter { $0.state == .downloading }.map(\.id)
    }

    @Test func `three run by default; a change acts at once, is told and is kept`() async throws {
        let host = try ChangingHost(.held(TestContent(seed: 80, count: 1 << 20)))
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            let ids = try await client.addURLs((1...6).map { host.url("/\($0)") })
            for id in ids.prefix(3) { try await service.waitForState("downloading", of: id) }
            #expect(try await running(service) == Array(ids[0..<3]))
            #expect(try await client.activeCount() == 3)
            #expect(try await client.waitingCount() == 3)
            #expect(try await client.getTask(ids[3]).hold == .queue)

            // The last-started go back; what ran before them is not touched.
            try await client.set(.maxConcurrentDownloads, to: .number(1))
            try await service.waitForState("waiting", of: ids[1])
            try await service.waitForState("waiting", of: ids[2])
            #expect(try await running(service) == [ids[0]])
            #expect(try await client.getTask(ids[2]).hold == .queue)

            try await client.set(.maxConcurrentDownloads, to: .number(5))
            for id in ids[1..<5] { try await service.waitForState("downloading", of: id) }
            #expect(try await running(service) == Array(ids[0..<5]))

            let told = service.signals.signals.filter { $0.member == "PropertiesChanged" }
                .compactMap { try? [String: Value](busValue: $0.arguments[1]) }
                .compactMap { $0["MaxConcurrentDownloads"] }
            #expect(told == [.uint32(1), .uint32(5)])

            try await service.restart()
            #expect(try await client.value(of: .maxConcurrentDownloads) == .number(5))
            for id in ids[0..<5] { try await service.waitForState("downloading", of: id) }
            #expect(try await client.getTask(ids[5]).state == .waiting)
        }
    }

    @Test func `a lower limit takes the lowest priority first`() async throws {
        let host = try ChangingHost(.held(TestContent(seed: 81, count: 1 << 20)))
        defer { host.stop() }
        try await withService { service in
            let low = try await service.addHeld(on: host, "/low") { $0.priority = -1 }
            let middle = try await service.addHeld(on: host, "/middle")
            let high = try await service.addHeld(on: host, "/high") { $0.priority = 1 }
            try await service.client.set(.maxConcurrentDownloads, to: .number(2))
            try await service.waitForState("waiting", of: low)
            #expect(try await running(service) == [middle, high])
            try await service.client.set(.maxConcurrentDownloads, to: .number(1))
            try await service.waitForState("waiting", of: middle)
            #expect(try await running(service) == [high])
        }
    }

    @Test func `tasks start by priority, then in the order of adding`() async throws {
        let host = try ChangingHost(.held(TestContent(seed: 82, count: 1 << 20)))
        defer { host.stop() }
        try await withService { service in
            try await service.client.set(.maxConcurrentDownloads, to: .number(1))
            let first = try await service.addHeld(on: host, "/first")
            var last = ""
            for (name, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", 5), ("e", -7)] {
                last = try await service.add(host.url("/\(name)")) { $0.priority = Int32(priority) }
            }
            // A higher priority never displaces what runs.
            #expect(try await running(service) == [first])
            host.letGo()
            try await service.waitForState("completed", of: last)
            #expect(host.server.requests.map(\.path) == ["/first", "/b", "/d", "/a", "/c", "/e"])
        }
    }

    @Test func `the counts are announced when they have changed`() async throws {
        let host = try ChangingHost(ServedFile(TestContent(seed: 83, count: 10)))
        defer { host.stop() }
        try await withService { service in
            let mark = service.signals.count
            _ = try await service.add(host.url()) { $0.paused = true }
            let signal = try await service.signals.first(after: mark, "TaskCount") {
                $0.member == "PropertiesChanged"
            }
            let changed = try [String: Value](busValue: signal.arguments[1])
            #expect(changed["TaskCount"] == .uint32(1))
        }
    }
}
