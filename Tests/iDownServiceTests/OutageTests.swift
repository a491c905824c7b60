// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@testable import iDownService
@testable import iDownloader

/// Hosts that are down for a while, seen by a clock on which a second takes a millisecond.
@Suite(.timeLimit(.minutes(2))) struct OutageTests {
    private static let content = TestContent(seed: 5, count: 300_000)
    private static let file = ServedFile(content)
    private static let down: [FaultServer.Step] = [.close]

    /// Every wait is as long as its kind allows.
    private static var fastTime: TimeAndChance {
        let start = ContinuousClock.now
        return TimeAndChance(
            readCalendar: { TimeAndChance.system.date },
            readClock: { start + (.now - start) * 1000 },
            wait: { try await Task.sleep(until: start + ($0 - start) / 1000, clock: .continuous) },
            roll: { .max }
        )
    }

    /// Adds a download from a server with this script, and waits until it has ended.
    private func download(
        retryFor: Int64 = RetryPolicy.usualRetryFor,
        _ answer: @escaping @Sendable (RecordedRequest) -> [FaultServer.Step],
        check: (TaskRecord, [RecordedRequest]) throws -> Void
    ) async throws {
        let server = try FaultServer(script: .init(answer))
        defer { server.stop() }
        try await withHub(time: Self.fastTime) { hub in
            let wish = hub.wish(server.url("/file.bin")) {
                $0.connections = 1
                $0.retryFor = retryFor
            }
            let id = try #require(try await hub.coordinator.add([wish], token: nil).first)
            try await soon("the end of the task") {
                let record = try await hub.record(id)
                return record?.state == .completed || record?.state == .failed
            }
            let record = try #require(try await hub.record(id))
            try check(record, server.requests)
            #expect(hub.names.contains("file.bin") == (record.state == .completed))
            #expect(hub.holds(Self.content, as: "file.bin"))
        }
    }

    @Test func `a host that was down for more than eight tries is found when it is back`()
        async throws
    {
        try await download { request in
            switch request.number {
            case 1: Self.file.cutOff(at: 100_000)
            case 2...12: Self.down
            default: Self.file.answer(to: request)
            }
        } check: { record, requests in
            #expect(record.state == .completed)
            #expect(requests.count == 13)
            #expect(requests.last?["Range"] == "bytes=100000-")
        }
    }

    @Test func `that the host has answered is enough`() async throws {
        try await download { request in
            switch request.number {
            case 1: [.head("503 Busy", [("Content-Length", "0")])]
            case 2...12: Self.down
            default: Self.file.answer(to: request)
            }
        } check: { record, requests in
            #expect(record.state == .completed)
            #expect(requests.count == 13)
        }
    }

    @Test func `a host that has never answered is tried eight times`() async throws {
        try await download { _ in
            Self.down
        } check: { record, requests in
            #expect(record.state == .failed)
            #expect(record.failure?.code == .networkReset)
            #expect(requests.count == 8)
        }
    }

    @Test func `a task is given up when its time is over`() async throws {
        try await download(retryFor: 3600) { request in
            request.number == 1 ? Self.file.cutOff(at: 100_000) : Self.down
        } check: { record, requests in
            #expect(record.state == .failed)
            #expect(record.failure?.code == .networkReset)
            #expect(record.waited >= .seconds(3600))
            #expect(requests.count > 8)
            #expect(record.segments.byteCount == 100_000)
        }
    }

    @Test(arguments: [(3600, false), (0, true)] as [(Int64, Bool)])
    func `a server's wish is waited for within the task's time`(
        retryFor: Int64,
        completes: Bool
    ) async throws {
        let wish = [("Retry-After", "4000"), ("Content-Length", "0")]
        try await download(retryFor: retryFor) { request in
            request.number == 1
                ? [.head("503 Busy", wish)] : Self.file.answer(to: request)
        } check: { record, requests in
            #expect(record.state == (completes ? .completed : .failed))
            #expect(record.failure?.code == (completes ? nil : .serverBusy))
            #expect(requests.count == (completes ? 2 : 1))
        }
    }
}
