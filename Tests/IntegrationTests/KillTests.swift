// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// `kill -9` of the service at the worst moments.
@Suite(.timeLimit(.minutes(5)))
struct KillTests {
    /// Tasks in states that a crash must not touch.
    private func fillList(of service: ServiceUnderTest, _ host: ChangingHost) async throws {
        let gone = try FaultServer(
            script: .init { _ in [.head("404 Not Found", [("Content-Length", "0")])] }
        )
        defer { gone.stop() }
        let completed = try await service.add(host.url("/small"))
        try await service.waitForState("completed", of: completed)
        let failed = try await service.add(gone.url("/gone"))
        try await service.waitForState("failed", of: failed)
        _ = try await service.add(host.url("/paused?q=1")) { $0.paused = true }
        let cancelled = try await service.add(host.url("/cancelled")) { $0.paused = true }
        try await service.client.cancel(cancelled)
    }

    @Test func `ten kills in mid-transfer cost no task, no byte and no second fetch`()
        async throws
    {
        let size: Int64 = 24 << 20
        let step: Int64 = 1 << 20
        let content = TestContent(seed: 10, count: size)
        let small = try ChangingHost(ServedFile(TestContent(seed: 11, count: 1000)))
        let host = try ChangingHost(.held(content, after: step))
        defer {
            small.stop()
            host.stop()
        }
        try await withService { service in
            try await fillList(of: service, small)
            let id = try await service.add(host.url())
            let others = try await service.client.listTasks().filter { $0.id != id }
            #expect(others.map(\.state) == [.completed, .failed, .paused, .cancelled])

            // From here on the first body after the latest kill came.
            var base: Int64 = 0
            for round in 0..<10 {
                try await service.waitForBytes(base + step, of: id)
                // Every second time the record is brought up to what has come, and the next
                // bytes are on their way when the kill comes.
                if round % 2 == 0 {
                    let asked = host.server.requests.count
                    try await service.client.pause(id)
                    try await service.client.resume(id)
                    let second = try await within("the request after Resume") {
                        await host.server.waitForRequest(count: asked + 1)
                    }
                    #expect(second.range(of: size)?.lowerBound == base + step)
                    try await service.waitForBytes(base + 2 * step, of: id)
                    base += step
                }
                #expect(try await service.recordedBytes(of: id) >= base)
                let recorded = base
                let requests = host.server.requests.count
                try await service.restartAfterKill()

                let first = try await within("the request after kill \(round)") {
                    await host.server.waitForRequest(count: requests + 1)
                }
                // Not equal: on a slow machine a checkpoint may come after it was looked at.
                base = first.range(of: size)?.lowerBound ?? 0
                #expect(base >= recorded)
                #expect(try await service.recordedBytes(of: id) >= base)
                let now = try await service.client.listTasks()
                #expect(now.filter { $0.id != id } == others)
                #expect(now.map(\.id) == others.map(\.id) + [id])
            }

            host.letGo()
            try await service.waitForState("completed", of: id)
            let task = try await service.client.getTask(id)
            #expect(try content.firstDifference(fromFile: task.path) == nil)
            #expect(task.integrity == .validators)
            #expect(!TestFile.names(in: service.home.downloads).contains { $0.hasSuffix(".part") })
        }
    }

    @Test func `a host that still counts the killed connection and says 403 is asked again`()
        async throws
    {
        let content = TestContent(seed: 12, count: 4 << 20)
        let file = ServedFile(content)
        let server = try FaultServer(
            script: .init { request in
                switch request.number {
                case 1:
                    file.answer(to: request).prefix(1) + [
                        .sendPattern(content, 0..<(1 << 20)), .stall,
                    ]
                // The rest, and the whole, because some hosts forbid only ranges.
                case 2, 3: [.head("403 Forbidden", [("Content-Length", "0")])]
                default: file.answer(to: request)
                }
            }
        )
        defer { server.stop() }
        try await withService { service in
            let id = try await service.add(server.url("/file.bin"))
            try await service.waitForBytes(1 << 20, of: id)
            try await service.restartAfterKill()
            let state = try await service.waitForState("completed", "failed", of: id)
            #expect(state == "completed")
            #expect(server.requests.count >= 3)
        }
    }

    @Test func `after 64 MiB a kill costs at most what came since`() async throws {
        try await withTemporaryFolder { root in
            let size: Int64 = 80 << 20
            let made = try await ChildProcess.run(
                "dd",
                ["if=/dev/urandom", "of=\(root)/file.bin", "bs=1M", "count=\(size >> 20)"]
            )
            #expect(made.succeeded)
            // The rest of the first body takes for ever; the second is short of that point.
            let slow = "limit_rate_after 70m; limit_rate 1k;"
            let log = "access_log \(root)/access.log;"
            try await withNginx(root: root, locationDirectives: slow, extraConfig: log) { nginx in
                try await withService { service in
                    let id = try await service.add(nginx.url("/file.bin"))
                    // At a thousand bytes a second the checkpoint is long done by then, also on a
                    // disk that others use.
                    try await service.waitForBytes(70 << 20 + 15_000, of: id)
                    let recorded: Int64 = 64 << 20
                    try await service.restartAfterKill()
                    #expect(try await service.recordedBytes(of: id) >= recorded)
                    try await service.waitForState("completed", of: id)

                    let path = try await service.client.getTask(id).path
                    let comparison = try await ChildProcess.run("cmp", ["\(root)/file.bin", path])
                    #expect(comparison.succeeded, "\(comparison)")
                    let lines = try TestFile.text(of: "\(root)/access.log").split(separator: "\n")
                    let last = try #require(lines.last { $0.contains(" 206 ") })
                    let sent = last.split(separator: " 206 ").last?.prefix { $0 != " " }
                    let again = try #require(sent.flatMap { Int64($0) }, "\(lines)")
                    #expect(again <= size - recorded)
                }
            }
        }
    }

    @Test func `a kill right after the reply loses no change`() async throws {
        let host = try ChangingHost(.held(TestContent(seed: 12, count: 1 << 20)))
        defer { host.stop() }
        try await withService { service in
            var ids: [String] = []
            for number in 0..<5 {
                ids.append(try await service.add(host.url("/\(number)")))
                try await service.restartAfterKill()
            }
            #expect(try await service.client.listTasks().map(\.id) == ids)

            try await service.client.pause(ids[0])
            try await service.restartAfterKill()
            #expect(try await service.state(of: ids[0]) == "paused")
            try await service.client.cancel(ids[1])
            try await service.restartAfterKill()
            #expect(try await service.state(of: ids[1]) == "cancelled")
            try await service.client.remove(ids[2])
            try await service.restartAfterKill()
            #expect(try await service.client.listTasks().map(\.id) == [0, 1, 3, 4].map { ids[$0] })
            try await service.client.set(.maxConcurrentDownloads, to: .number(7))
            try await service.restartAfterKill()
            #expect(try await service.client.value(of: .maxConcurrentDownloads) == .number(7))
        }
    }

    @Test func `an id does not come again after a kill`() async throws {
        let host = try ChangingHost(ServedFile(TestContent(seed: 13, count: 10)))
        defer { host.stop() }
        try await withService { service in
            var seen: Set<String> = []
            for number in 0..<4 {
                let id = try await service.add(host.url("/\(number)")) { $0.paused = true }
                #expect(seen.insert(id).inserted, "\(id) again")
                try await service.client.remove(id)
                try await service.restartAfterKill()
            }
        }
    }

    /// Where the kernel ends the service: at the n-th such call of one of its threads.
    struct CrashPoint: CustomTestStringConvertible, Sendable {
        let call: String
        let number: Int

        var testDescription: String { "\(call) \(number)" }

        static let all =
            [CrashPoint(call: "renameat2", number: 1)]
            + (1...3).map { CrashPoint(call: "fsync", number: $0) }
            + (1...10).map { CrashPoint(call: "fdatasync", number: $0) }
    }

    @Test(arguments: CrashPoint.all)
    func `a crash at a sync or a rename leaves one task and one whole file`(
        point: CrashPoint
    ) async throws {
        let content = TestContent(seed: 14, count: 300_000)
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService(started: false) { service in
            // A client that repeats its call until it is answered.
            func add() async throws -> String {
                try await service.add(host.url()) { $0.token = "repeated" }
            }
            let crash = "inject=\(point.call):signal=SIGKILL:when=\(point.number)"
            do {
                try await service.start(
                    under: ["strace", "-f", "-o", "/dev/null", "-e", crash]
                )
                let id = try await add()
                let race = Race<Void>()
                race.run { _ = try await service.waitForState("completed", of: id) }
                race.run { _ = try await service.waitForEnd() }
                try await race.result()
                // Its threads were too many for the number to come up: a plain end then.
                _ = try? await service.terminate()
            } catch is ManagerError {
            } catch is BusError {
            } catch is ServiceUnderTest.StartFailure {
            }
            _ = try await service.waitForEnd()

            try await service.start()
            let id = try await add()
            try await service.waitForState("completed", of: id)
            let tasks = try await service.client.listTasks()
            #expect(tasks.map(\.id) == [id])
            #expect(TestFile.names(in: service.home.downloads) == ["file.bin"])
            #expect(try content.firstDifference(fromFile: service.home.download("file.bin")) == nil)
        }
    }
}
