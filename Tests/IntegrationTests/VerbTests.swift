// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// The contract's table: every verb in every state, over the bus, on real tasks.
@Suite(.timeLimit(.minutes(5)))
struct VerbTests {
    private enum Verb: String, CaseIterable {
        case pause = "Pause"
        case resume = "Resume"
        case retry = "Retry"
        case cancel = "Cancel"
        case remove = "Remove"
        case startAll = "StartAll"
    }

    private enum Outcome {
        /// The state afterwards.
        case state(TaskProperties.State)
        case invalidState
        case gone
    }

    /// The contract's table, row by row; the last column is StartAll.
    ///
    /// The one slot is taken, so that `waiting` stays what it is.
    private static let table: [(state: TaskProperties.State, outcomes: [Outcome])] = [
        (
            .waiting,
            [
                .state(.paused), .state(.waiting), .state(.waiting), .state(.cancelled), .gone,
                .state(.waiting),
            ]
        ),
        (
            .downloading,
            [
                .state(.paused), .state(.downloading), .state(.downloading), .state(.cancelled),
                .gone, .state(.downloading),
            ]
        ),
        (
            .paused,
            [
                .state(.paused), .state(.waiting), .state(.waiting), .state(.cancelled), .gone,
                .state(.waiting),
            ]
        ),
        (
            .failed,
            [
                .invalidState, .state(.waiting), .state(.waiting), .state(.cancelled), .gone,
                .state(.waiting),
            ]
        ),
        (
            .completed,
            [
                .invalidState, .invalidState, .state(.waiting), .invalidState, .gone,
                .state(.completed),
            ]
        ),
        (
            .cancelled,
            [
                .invalidState, .state(.waiting), .state(.waiting), .state(.cancelled), .gone,
                .state(.cancelled),
            ]
        ),
    ]

    @Test(arguments: 0..<6)
    func `every verb in every state does what the contract's table says`(row: Int) async throws {
        let (state, outcomes) = Self.table[row]
        let held = try ChangingHost(.held(TestContent(seed: 60, count: 1 << 20)))
        let small = TestContent(seed: 61, count: 1000)
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
            let blocker = try await service.addHeld(on: held, "/blocker") { $0.priority = 100 }
            for (verb, outcome) in zip(Verb.allCases, outcomes) {
                let id = try await task(in: state, verb, service, held, host)
                try await check(verb, on: id, in: state, outcome, service)
                if try await service.client.listTasks().contains(where: { $0.id == id }) {
                    try await service.client.remove(id)
                }
            }
            #expect(try await service.client.listTasks().map(\.id) == [blocker])
            #expect(try await service.state(of: blocker) == "downloading")
        }
    }

    /// Brings a new task into a state by the means that users have.
    private func task(
        in state: TaskProperties.State,
        _ verb: Verb,
        _ service: ServiceUnderTest,
        _ held: ChangingHost,
        _ host: FaultServer
    ) async throws -> String {
        let client = service.client
        let target = "/\(state)-\(verb).bin"
        // A second slot for what has to run first.
        try await client.set(.maxConcurrentDownloads, to: .number(2))
        let id: String
        switch state {
        case .downloading:
            id = try await service.addHeld(on: held, target)
            return id
        case .failed:
            id = try await client.addURL(host.url("/gone" + target))
            try await service.waitForState("failed", of: id)
        case .completed:
            id = try await client.addURL(host.url(target))
            try await service.waitForState("completed", of: id)
        default:
            try await client.set(.maxConcurrentDownloads, to: .number(1))
            id = try await client.addURL(held.url(target))
            if state == .paused { try await client.pause(id) }
            if state == .cancelled { try await client.cancel(id) }
        }
        try await client.set(.maxConcurrentDownloads, to: .number(1))
        #expect(try await client.getTask(id).state == state)
        return id
    }

    private func check(
        _ verb: Verb,
        on id: String,
        in state: TaskProperties.State,
        _ outcome: Outcome,
        _ service: ServiceUnderTest
    ) async throws {
        let comment: Comment = "\(verb) in \(state)"
        let before = try await service.client.getTask(id)
        if case .invalidState = outcome {
            let code = await refusal("\(comment)") {
                _ = try await service.manager.call(MemberName(validating: verb.rawValue), id)
            }
            #expect(code == .invalidState, comment)
            #expect(try await service.client.getTask(id) == before, comment)
            return
        }
        if verb == .startAll {
            let isStarted = state == .paused || state == .failed
            #expect(try await service.client.startAll() == (isStarted ? 1 : 0), comment)
        } else {
            _ = try await service.manager.call(MemberName(validating: verb.rawValue), id)
        }
        guard case .state(let expected) = outcome else {
            let code = await refusal("\(comment)") { _ = try await service.client.getTask(id) }
            #expect(code == .noSuchTask, comment)
            if state == .completed { #expect(TestFile.exists(before.path), comment) }
            return
        }
        let after = try await service.client.getTask(id)
        #expect(after.state == expected, comment)
        // A failure is forgotten when the task is started again, not when it is given up.
        #expect((after.errorCode != "") == (state == .failed && expected != .waiting), comment)
    }

    @Test func `Retry of a completed task fetches it anew under a free name`() async throws {
        let content = TestContent(seed: 62, count: 5000)
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.add(host.url())
            try await service.waitForState("completed", of: id)
            let old = try await service.client.getTask(id).path
            let newer = TestContent(seed: 63, count: 6000)
            host.change { ($0.content, $0.entityTag) = (newer, "\"v2\"") }
            let mark = service.signals.count
            try await service.client.retry(id)
            try await service.signals.first(after: mark, "the second completion") { signal in
                signal.member == "TaskChanged" && signal.arguments[1] == .string("completed")
            }
            let task = try await service.client.getTask(id)
            #expect(task.path == service.home.download("file (1).bin"))
            #expect(try content.firstDifference(fromFile: old) == nil)
            #expect(try newer.firstDifference(fromFile: task.path) == nil)
        }
    }

    @Test func `Retry ends a back-off`() async throws {
        let content = TestContent(seed: 64, count: 5000)
        let server = try FaultServer(
            script: .init { request in
                request.number == 1
                    ? [
                        .head(
                            "503 Service Unavailable",
                            [("Retry-After", "3000"), ("Content-Length", "0")]
                        )
                    ] : ServedFile(content).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withService { service in
            let id = try await service.add(server.url("/file.bin"))
            try await service.signals.first("the back-off") { signal in
                signal.member == "TaskChanged" && signal.arguments[1] == .string("waiting")
            }
            let waiting = try await service.client.getTask(id)
            #expect(waiting.hold == .retry)
            #expect(waiting.retryAt > waiting.createdAt + 2_900_000_000)
            #expect(waiting.errorCode == "Server.Busy")
            try await service.client.retry(id)
            try await service.waitForState("completed", of: id)
            #expect(try await service.client.getTask(id).errorCode == "")
        }
    }

    @Test func `Cancel and Remove delete what is partial and nothing else`() async throws {
        let host = try ChangingHost(.held(TestContent(seed: 65, count: 1 << 20)))
        defer { host.stop() }
        try await withService { service in
            for verb in ["Cancel", "Remove"] as [MemberName] {
                let id = try await service.addHeld(on: host)
                try await service.waitForBytes(256 << 10, of: id)
                #expect(TestFile.names(in: service.home.downloads) == ["file.bin.part"])
                try TestFile.write("mine", to: service.home.download("file.bin.part.mine"))
                _ = try await service.manager.call(verb, id)
                #expect(TestFile.names(in: service.home.downloads) == ["file.bin.part.mine"])
                try TestFile.write("mine", to: service.home.download("file.bin.part"))
                if verb == "Cancel" {
                    #expect(try await service.recordedBytes(of: id) == 0)
                    try await service.client.remove(id)
                }
                // A file that idown did not make stays, whatever it is called.
                #expect(TestFile.exists(service.home.download("file.bin.part")))
                _ = try await ChildProcess.run("rm", ["-r", service.home.downloads])
            }
        }
    }

    @Test func `StartAll, PauseAll and ClearCompleted count what they change`() async throws {
        let held = try ChangingHost(.held(TestContent(seed: 66, count: 1 << 20)))
        let small = try ChangingHost(ServedFile(TestContent(seed: 67, count: 10)))
        defer {
            held.stop()
            small.stop()
        }
        try await withService { service in
            let client = service.client
            let completed = try await client.addURLs([small.url("/a"), small.url("/b")])
            for id in completed { try await service.waitForState("completed", of: id) }
            let paths = try await client.listTasks().map(\.path)
            let running = try await client.addURLs((1...4).map { held.url("/\($0)") })
            for id in running.prefix(3) { try await service.waitForState("downloading", of: id) }
            let cancelled = try await service.add(held.url("/c")) { $0.paused = true }
            try await client.cancel(cancelled)

            #expect(try await client.pauseAll() == 4)
            #expect(try await client.pauseAll() == 0)
            #expect(try await client.startAll() == 4)
            #expect(try await client.startAll() == 0)
            #expect(try await client.state(of: cancelled) == .cancelled)
            #expect(try await client.clearCompleted() == 2)
            #expect(try await client.clearCompleted() == 0)
            #expect(paths.allSatisfy { TestFile.exists($0) })
            #expect(try await client.listTasks().map(\.id) == running + [cancelled])
            #expect(try await client.taskCount() == 5)
        }
    }
}

extension ManagerClient {
    fileprivate func state(of id: String) async throws(ManagerError) -> TaskProperties.State {
        try await getTask(id).state
    }
}
