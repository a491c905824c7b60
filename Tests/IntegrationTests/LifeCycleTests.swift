// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// How the service ends, and what it takes up again.
@Suite(.timeLimit(.minutes(5)))
struct LifeCycleTests {
    private let content = TestContent(seed: 70, count: 4 << 20)

    @Test func `SIGTERM in mid-transfer ends it with 0, and nothing is lost`() async throws {
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            try await service.waitForBytes(1 << 20, of: id)
            #expect(try await service.terminate() == .exited(0))

            host.letGo()
            try await service.start()
            try await service.waitForState("completed", of: id)
            let path = try await service.client.getTask(id).path
            #expect(try content.firstDifference(fromFile: path) == nil)
            let ranges = host.server.requests.map { $0["Range"] }
            #expect(ranges == [nil, "bytes=\(1 << 20)-"])
        }
    }

    @Test func `a session's limit of open files is not the end of its connections`() async throws {
        try await withService(started: false) { service in
            try await service.start(under: ["/bin/sh", "-c", #"ulimit -Sn 512; exec "$0""#])
            let limits = try TestFile.text(of: "/proc/\(try await service.processID())/limits")
            let line = try #require(
                limits.split(separator: "\n").first { $0.hasPrefix("Max open") }
            )
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            #expect(numbers.first == numbers.last.map { min($0, 4096) })
            #expect(try await service.terminate() == .exited(0))
        }
    }

    @Test func `started without standard streams it opens nothing in their place`() async throws {
        try await withService(started: false) { service in
            try await service.start(under: ["/bin/sh", "-c", #"exec "$0" <&- >&- 2>&-"#])
            let folder = "/proc/\(try await service.processID())/fd/"
            for descriptor in 0...2 {
                let open = try await ChildProcess.run("readlink", ["\(folder)\(descriptor)"])
                #expect(open.standardOutput == "/dev/null")
            }
            #expect(try await service.terminate() == .exited(0))
        }
    }

    @Test func `Quit answers, saves and ends with 0`() async throws {
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            try await service.waitForBytes(1 << 20, of: id)
            try await service.client.quit()
            #expect(try await service.waitForEnd() == .exited(0))
            #expect(TestFile.names(in: service.home.downloads) == ["file.bin.part"])
            try await service.start()
            let request = await host.server.waitForRequest(count: 2)
            #expect(request["Range"] == "bytes=\(1 << 20)-")
            host.letGo()
            try await service.waitForState("completed", of: id)
        }
    }

    @Test func `what was paused stays paused over a restart, what ran goes on`() async throws {
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            let paused = try await service.addHeld(on: host, "/paused")
            try await service.waitForBytes(1 << 20, of: paused)
            try await service.pause(paused, with: 1 << 20)
            let running = try await service.addHeld(on: host, "/running")
            try await service.restart()
            try await service.waitForState("downloading", of: running)
            let task = try await service.client.getTask(paused)
            #expect(task.state == .paused)
            #expect(task.downloadedBytes == 1 << 20)
            try await service.waitForLog("task \(running): downloading")
            try await service.waitForLog("tasks in the list: 2")
        }
    }

    @Test func `a task that others made and a part that is gone are both survived`() async throws {
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            try await service.waitForBytes(1 << 20, of: id)
            try await service.pause(id, with: 1 << 20)
            _ = try await service.terminate()
            // Somebody tidied up, and somebody else's file has the name now.
            _ = try await ChildProcess.run("rm", [service.home.download("file.bin.part")])
            try TestFile.write("not ours", to: service.home.download("file.bin.part"))
            host.letGo()
            try await service.start()
            try await service.client.resume(id)
            try await service.waitForState("completed", of: id)
            let path = try await service.client.getTask(id).path
            #expect(try content.firstDifference(fromFile: path) == nil)
            let other = try TestFile.text(of: service.home.download("file.bin.part"))
            #expect(other == "not ours")
        }
    }

    @Test func `a part that is shorter than its record costs only what is missing`() async throws {
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            try await service.waitForBytes(1 << 20, of: id)
            try await service.pause(id, with: 1 << 20)
            _ = try await service.terminate()
            let cut = try await ChildProcess.run(
                "truncate",
                ["--size=500000", service.home.download("file.bin.part")]
            )
            #expect(cut.succeeded)
            host.letGo()
            try await service.start()
            #expect(try await service.recordedBytes(of: id) == 500_000)
            try await service.client.resume(id)
            try await service.waitForState("completed", of: id)
            let path = try await service.client.getTask(id).path
            #expect(try content.firstDifference(fromFile: path) == nil)
        }
    }

    @Test func `a change after Quit is refused as Stopping or not answered at all`() async throws {
        try await withService { service in
            let client = service.client
            try await client.quit()
            var accepted: [String] = []
            do throws(ManagerError) {
                while true {
                    accepted.append(try await client.addURL("http://127.0.0.1:9/\(accepted.count)"))
                }
            } catch {
                #expect(error.code == .stopping || error.isUnreachable, "\(error)")
            }
            _ = try await service.waitForEnd()
            try await service.start()
            // What was answered is there; so may be the one whose answer was not sent any more.
            let there = try await client.listTasks().map(\.id)
            #expect(there.starts(with: accepted) && there.count <= accepted.count + 1, "\(there)")
        }
    }
}
