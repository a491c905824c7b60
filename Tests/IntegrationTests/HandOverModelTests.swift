// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownTesting

/// A browser that hands over, cancels its own download and confirms, or withdraws, while the service
/// is killed at random moments.
///
/// Twelve rounds, or as many as `HAND_OVER_KILLS` says, at most 300; `HAND_OVER_SEED` repeats a run.
@Suite(.timeLimit(.minutes(20)))
struct HandOverModelTests {
    /// What the browser has come to with one download.
    private enum End: Equatable {
        /// It has cancelled its own, and idown has the file.
        case idown(id: String)
        /// It goes on by itself.
        case browser
    }

    private static let content = TestContent(seed: 330, count: 40_000)

    private static func number(_ name: String, _ usual: Int) -> Int {
        guard let text = getenv(name) else { return usual }
        return Int(String(cString: text)) ?? usual
    }

    private func options(_ token: String) -> HandOverOptions {
        var options = HandOverOptions(token: token)
        options.status = 200
        options.size = UInt64(Self.content.count)
        options.entityTag = "\"v1\""
        return options
    }

    /// A call that is repeated until a service answers it.
    private func insist<Value: Sendable>(
        _ body: @Sendable () async throws(ManagerError) -> Value
    ) async throws -> Value {
        while true {
            do throws(ManagerError) {
                return try await body()
            } catch {
                guard error.isUnreachable || error.code == .noReply else { throw error }
            }
        }
    }

    /// What a browser does with one download, whatever happens to the service meanwhile.
    private func browse(
        _ url: String,
        _ token: String,
        _ service: ServiceUnderTest,
        using dice: inout SeededGenerator
    ) async throws -> End {
        let client = service.client
        let options = options(token)
        if Int.random(in: 0..<8, using: &dice) == 0 {
            // Its patience has ended before the message was sent.
            try await insist { () throws(ManagerError) in try await client.withdraw(token) }
        }
        do {
            // A lost answer is asked for again while the response is held, or given up.
            let asksAgain = Bool.random(using: &dice)
            if asksAgain {
                _ = try await insist { () throws(ManagerError) in
                    try await client.handOver(url, options: options)
                }
            } else {
                _ = try await client.handOver(url, options: options)
            }
        } catch is ManagerError {
            try await insist { () throws(ManagerError) in try await client.withdraw(token) }
            return .browser
        }
        let changesItsMind = Int.random(in: 0..<4, using: &dice) == 0
        if !changesItsMind || Bool.random(using: &dice) {
            let id = try await insist { () throws(ManagerError) in
                try await client.confirm(token)
            }
            guard changesItsMind else { return .idown(id: id) }
        }
        try await insist { () throws(ManagerError) in try await client.withdraw(token) }
        return .browser
    }

    @Test func `whenever the service is killed, each file is with the browser or in the list`()
        async throws
    {
        let rounds = min(300, Self.number("HAND_OVER_KILLS", 12))
        let seed = Self.number("HAND_OVER_SEED", Int(getpid()))
        var dice = SeededGenerator(seed: UInt64(seed))
        let comment: Comment = "HAND_OVER_SEED=\(seed)"
        let host = try FaultServer.serving(ServedFile(Self.content))
        defer { host.stop() }
        try await withService(started: false) { service in
            try service.installForActivation()
            let client = service.client
            // The bus starts it.
            _ = try await client.listTasks()
            var ends: [(token: String, url: String, end: End)] = []
            for round in 0..<rounds {
                let (token, url) = ("token \(round)", host.url("/\(round).bin"))
                // It runs, so that the kill meets the calls and not its start, or it starts.
                if Int.random(in: 0..<8, using: &dice) > 0 {
                    _ = try await insist { () throws(ManagerError) in
                        try await client.taskCount()
                    }
                }
                let delay = Duration.microseconds(Int.random(in: 0..<30_000, using: &dice))
                let killer = Task {
                    try await Task.sleep(for: delay)
                    if let id = try? await service.processID() { kill(id, SIGKILL) }
                }
                let end = try await browse(url, token, service, using: &dice)
                try await killer.value
                ends.append((token, url, end))
            }
            try await check(ends, service, comment)
            // A last kill changes nothing of it.
            if let id = try? await service.processID() { kill(id, SIGKILL) }
            try await check(ends, service, comment)
        }
    }

    private func check(
        _ ends: [(token: String, url: String, end: End)],
        _ service: ServiceUnderTest,
        _ comment: Comment
    ) async throws {
        let client = service.client
        let tasks = try await insist { () throws(ManagerError) in try await client.listTasks() }
        var expected: Set<String> = []
        for (token, url, end) in ends {
            switch end {
            case .idown(let id):
                expected.insert(id)
                #expect(tasks.filter { $0.url == url }.map(\.id) == [id], comment)
                let state = try await insist { () throws(ManagerError) in
                    try await client.wait(for: id)
                }
                #expect(state == .completed, comment)
                let path = try await client.getTask(id).path
                #expect(try Self.content.firstDifference(fromFile: path) == nil, comment)
            case .browser:
                #expect(!tasks.contains { $0.url == url }, comment)
                let code = await refusal {
                    _ = try await client.handOver(url, options: options(token))
                }
                #expect(code == .invalidState, comment)
                #expect(
                    await refusal { _ = try await client.confirm(token) } == .noSuchTask,
                    comment
                )
            }
        }
        #expect(Set(tasks.map(\.id)) == expected, comment)
        let parts = TestFile.names(in: service.home.downloads).filter { $0.hasSuffix(".part") }
        #expect(parts.isEmpty, comment)
    }
}
