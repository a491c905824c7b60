// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// A host that serves two connections at a time and answers 403 to every further one.
///
/// It goes on counting a connection for some time after its end, as hosts do that notice the end
/// late or count by the log.
private final class Door: Sendable {
    private struct State {
        var inside: [RecordedRequest] = []
        var refused = 0
        var admitted = 0
    }

    private let state = Mutex(State())
    private let linger: Duration

    init(linger: Duration) { self.linger = linger }

    /// How many requests were refused.
    var refused: Int { state.withLock(\.refused) }
    /// How many requests were served.
    var admitted: Int { state.withLock(\.admitted) }

    func lets(_ request: RecordedRequest) -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            state.inside.removeAll { inside in
                if let end = inside.endedAt { return now - end >= linger }
                return inside.connection == request.connection
            }
            guard state.inside.count < 2 else {
                state.refused += 1
                return false
            }
            state.inside.append(request)
            state.admitted += 1
            return true
        }
    }
}

/// Downloads from hosts that limit connections and say so by refusing.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionLimitTests {
    private static let content = TestContent(seed: 44, count: 6 << 20)

    @Test func `twenty downloads complete where the third connection gets 403`() async throws {
        // Side by side, because each of them waits most of the time.
        try await withThrowingTaskGroup { group in
            for linger in [0, 1, 5] {
                group.addTask { try await downloads(where: .seconds(linger)) }
            }
            try await group.waitForAll()
        }
    }

    /// Downloads from twenty hosts that count a cut connection for some time.
    private func downloads(where linger: Duration) async throws {
        let doors = (0..<20).map { _ in Door(linger: linger) }
        let servers = try doors.enumerated().map { number, door in
            let slow = ServedFile(Self.content).with { $0.bytesPerSecond = 2 << 20 }
            return try FaultServer(
                script: .init { request in
                    guard door.lets(request) else {
                        return [.head("403 Forbidden", [("Content-Length", "0")])]
                    }
                    let answer = slow.answer(to: request)
                    // The host breaks off the first two, so that the next request comes alone.
                    guard door.admitted <= 2 else { return answer }
                    let start = request.range(of: Self.content.count)?.lowerBound ?? 0
                    let end = start + (1 << 20) + Int64(number) * 10_000
                    return answer.prefix(1) + [
                        .sendPattern(Self.content, start..<end, bytesPerSecond: 2 << 20), .close,
                    ]
                }
            )
        }
        defer { for server in servers { server.stop() } }
        try await withService { service in
            try await service.client.set(.maxConcurrentDownloads, to: .number(20))
            var ids: [String] = []
            for server in servers {
                ids.append(try await service.add(server.url("/file.bin")) { $0.connections = 4 })
            }
            try await expectAllCompleted(ids, service)
            #expect(doors.allSatisfy { $0.refused > 0 })
        }
    }

    @Test func `five downloads at once complete where the third connection gets 403`()
        async throws
    {
        let door = Door(linger: .seconds(1))
        let slow = ServedFile(Self.content).with { $0.bytesPerSecond = 2 << 20 }
        let server = try FaultServer(
            script: .init { request in
                guard door.lets(request) else {
                    return [.head("403 Forbidden", [("Content-Length", "0")])]
                }
                return slow.answer(to: request)
            }
        )
        defer { server.stop() }
        try await withService { service in
            try await service.client.set(.maxConcurrentDownloads, to: .number(5))
            var ids: [String] = []
            for number in 0..<5 { ids.append(try await service.add(server.url("/\(number).bin"))) }
            try await expectAllCompleted(ids, service)
            #expect(door.refused > 0)
        }
    }

    private func expectAllCompleted(_ ids: [String], _ service: ServiceUnderTest) async throws {
        for id in ids {
            let state = try await service.waitForState("completed", "failed", of: id)
            let task = try await service.client.getTask(id)
            #expect(state == "completed", "\(task.errorCode): \(task.errorMessage)")
            guard state == "completed" else { continue }
            #expect(try Self.content.firstDifference(fromFile: task.path) == nil)
        }
    }
}
