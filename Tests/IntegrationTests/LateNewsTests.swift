// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// Commands whose list changes between reading it and acting on it.
@Suite(.timeLimit(.minutes(5)))
struct LateNewsTests {
    private let content = TestContent(seed: 124, count: 200_000)

    /// Starts a command whose lines and errors are read together.
    private func start(
        _ words: [String],
        in service: ServiceUnderTest
    ) async throws -> ChildProcess {
        try await ChildProcess.start(
            "sh",
            ["-c", #"exec "$0" "$@" 2>&1"#, try BuiltProgram("idown").path] + words,
            environment: service.environment,
            workingDirectory: service.home.downloads
        )
    }

    /// Starts a command that waits, and stops the service under it.
    private func startBeforeStop(
        _ words: [String],
        in service: ServiceUnderTest
    ) async throws -> ChildProcess {
        let waiting = try await start(words, in: service)
        _ = try await within("the command to wait") { await waiting.nextLine() }
        let stopped = try await idown("service", "stop", in: service)
        #expect(stopped.status == .exited(0), "\(stopped)")
        return waiting
    }

    @Test func `wait knows that a download was completed before it was cleared`() async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            let waiting = try await start(["wait", "--progress", id], in: service)
            let shown = try await within("wait to show a state") { await waiting.nextLine() }
            #expect(shown != nil)
            // The stopped command reads these signals later, all together.
            waiting.send(SIGSTOP)
            host.letGo()
            try await service.waitForState("completed", of: id)
            #expect(try await service.client.clearCompleted() == 1)
            waiting.send(SIGCONT)
            let status = try await within("wait to end") { await waiting.waitForExit() }
            #expect(status == .exited(0))
        }
    }

    @Test func `wait goes on with the next service, which it starts`() async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            try service.installForActivation()
            let id = try await service.addHeld(on: host)
            let waiting = try await start(["wait", "--progress", id], in: service)
            let shown = try await within("wait to show a state") { await waiting.nextLine() }
            #expect(shown != nil)
            try await service.kill9()
            host.letGo()
            let status = try await within("wait to end") { await waiting.waitForExit() }
            #expect(status == .exited(0))
            #expect(try await service.state(of: id) == "completed")
        }
    }

    @Test(arguments: [["wait", "--progress"], ["get"]])
    func `a stopped service stays stopped, and a waiting command goes on with the next one`(
        command: [String]
    ) async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService(started: false) { service in
            try service.installForActivation()
            let id = try await service.addHeld(on: host)
            let task = try await service.client.getTask(id)
            let words = command + [command == ["get"] ? task.url : id]
            let waiting = try await startBeforeStop(words, in: service)
            let said = try await within("a line about the stop") {
                while let line = await waiting.nextLine() {
                    if line.contains("service") { return line }
                }
                return ""
            }
            #expect(said.contains("has stopped") && said.contains("idown service start"), "\(said)")
            host.letGo()
            #expect(try await !service.client.isRunning())
            let started = try await idown("service", "start", in: service)
            #expect(started.status == .exited(0), "\(started)")
            let status = try await within("the command to end") { await waiting.waitForExit() }
            #expect(status == .exited(0))
            #expect(try await service.state(of: id) == "completed")
        }
    }

    @Test func `Ctrl-C while the service is stopped does not say that it downloads`() async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService(started: false) { service in
            try service.installForActivation()
            let id = try await service.addHeld(on: host)
            let task = try await service.client.getTask(id)
            let waiting = try await startBeforeStop(["get", task.url], in: service)
            func line(with word: String) async throws -> String {
                try await within("a line with \(word)") {
                    while let line = await waiting.nextLine() {
                        if line.contains(word) { return line }
                    }
                    return ""
                }
            }
            _ = try await line(with: "has stopped")
            waiting.send(SIGINT)
            let said = try await line(with: "service")
            #expect(said.contains("is stopped") && said.contains("next start: \(id)"), "\(said)")
            let status = try await within("the command to end") { await waiting.waitForExit() }
            #expect(status == .exited(130))
        }
    }

    @Test func `follow prints what changed while the service was away`() async throws {
        try await withService { service in
            var paused = AddOptions()
            paused.paused = true
            let urls = ["http://127.0.0.1:9/1", "http://127.0.0.1:9/2"]
            let ids = try await service.client.addURLs(urls, options: paused)
            let follower = try await ChildProcess.start(
                try BuiltProgram("idown").path,
                ["follow", "--list"],
                environment: service.environment
            )
            _ = try await within("the list") {
                [await follower.nextLine(), await follower.nextLine()]
            }
            try await service.client.setPriority(3, of: ids[0])
            // The stopped command reads what comes now after the restart, all together.
            follower.send(SIGSTOP)
            try await service.kill9()
            try await service.start()
            try await service.client.setPriority(4, of: ids[1])
            follower.send(SIGCONT)
            try await service.client.remove(ids[0])
            var told: [String] = []
            while told.last != #"{"Event":"removed","Id":"1"}"#,
                let line = try await within("a line", { await follower.nextLine() })
            {
                told.append(line)
            }
            #expect(await follower.stop() != .exited(0))
            let events = try await evaluate(
                "' '.join(e['Event'] for e in x)",
                of: "[\(told.joined(separator: ","))]"
            )
            // The second change is told by the list and, if the removal comes later, by its signal.
            let some = ["listed removed", "listed changed removed"]
            #expect(some.map { "changed service service \($0)" }.contains(events), "\(events)")
        }
    }

    @Test func `follow prints an end that happened while the service was away`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/") { $0.paused = true }
            let follower = try await ChildProcess.start(
                try BuiltProgram("idown").path,
                ["follow", "--list", id],
                environment: service.environment
            )
            let first = try await within("the first line") { await follower.nextLine() } ?? ""
            #expect(try await evaluate("x['Event']", of: first) == "listed")
            try await service.kill9()
            for name in TestFile.names(in: service.home.state) {
                unlink("\(service.home.state)/\(name)")
            }
            try await service.start()
            var lines: [String] = []
            while let line = try await within("a line", { await follower.nextLine() }) {
                lines.append(line)
            }
            #expect(await follower.waitForExit() == .exited(0))
            let events = try await evaluate(
                "' '.join(e['Event'] for e in x), x[-1].get('Id')",
                of: "[\(lines.joined(separator: ","))]"
            )
            #expect(events == "service service removed \(id)")
        }
    }

    /// Three tasks that wait for a retry; the second is removed after the list was read.
    private func list(
        kept: Set<String> = [],
        lost: Set<String> = [],
        _ change: @escaping @Sendable (inout [TaskProperties]) -> Void = { $0.remove(at: 1) }
    ) -> ChangingList {
        let tasks = (1...3).map { number in
            var task = TaskProperties()
            task.id = "\(number)"
            task.state = .waiting
            task.hold = .retry
            return task
        }
        return ChangingList(tasks, kept: kept, lost: lost, change: change)
    }

    @Test func `a verb acts on the tasks that match when it runs`() async throws {
        let removed = list()
        let ended = try await removed.idown("remove", "all")
        #expect(ended.status == .exited(0), "\(ended)")
        #expect(ended.standardError.contains("2 of 2"), "\(ended)")
        #expect(removed.asked == ["remove 1", "remove 3"])
        let named = try await list().idown("remove", "2", "all")
        #expect(named.status == .exited(3), "\(named)")
    }

    @Test func `a download removed by another program is not reported as one without a trash`()
        async throws
    {
        let noTrash = "cannot be moved to a trash"
        let both = try await list(kept: ["1"], lost: ["2"], { _ in })
            .idown("remove", "--trash", "all")
        #expect(both.status == .exited(12), "\(both)")
        #expect(both.standardError.contains("1 of 3 downloads removed."), "\(both)")
        #expect(both.standardError.contains("Other programs removed 1 of them"), "\(both)")
        #expect(both.standardError.contains("the file of one download \(noTrash)"), "\(both)")

        let lost = try await list(lost: ["2", "3"], { _ in }).idown("remove", "--trash", "1-3")
        #expect(lost.status == .exited(0), "\(lost)")
        #expect(lost.standardError.contains("Other programs removed 2 of them"), "\(lost)")
        #expect(!lost.standardError.contains(noTrash), "\(lost)")

        let kept = try await list(kept: ["2"], { _ in }).idown("remove", "--trash", "1-3")
        #expect(kept.status == .exited(12), "\(kept)")
        #expect(!kept.standardError.contains("ther program"), "\(kept)")

        let named = try await list(lost: ["2"], { _ in }).idown("remove", "--trash", "2")
        #expect(named.status == .exited(15), "\(named)")
        #expect(
            named.standardError.contains("download 2 was removed by another program"),
            "\(named)"
        )
        #expect(!named.standardError.contains(noTrash), "\(named)")
    }

    @Test func `edit and explain ignore tasks removed meanwhile, unless they were named by ID`()
        async throws
    {
        let edited = list()
        let edit = try await edited.idown("edit", "all", "--priority", "1")
        #expect(edit.status == .exited(0), "\(edit)")
        #expect(edited.asked == ["edit 1", "edit 3"])
        let explained = try await list().idown("explain", "1-3")
        #expect(explained.status == .exited(0), "\(explained)")
        #expect(explained.standardOutput == "1\twhy 1\n3\twhy 3", "\(explained)")
        let named = try await list().idown("explain", "2", "all")
        #expect(named.status == .exited(3), "\(named)")
    }

    @Test func `edit uses the calls of an older service, and says what that one cannot change`()
        async throws
    {
        let old = list { _ in }
        let edited = try await old.idown("edit", "3", "--priority", "1", "--url", "http://a/b")
        #expect(edited.status == .exited(0), "\(edited)")
        #expect(old.asked == ["link 3", "edit 3"])
        for options in [["--output", "x", "--priority", "1"], ["--checksum", ""]] {
            let refused = try await old.idown(["edit", "1"] + options)
            #expect(refused.status == .exited(1), "\(refused)")
            #expect(refused.standardError.contains("older than this command"), "\(refused)")
            #expect(refused.standardError.contains("idown service restart"), "\(refused)")
        }
        let file = try await old.idown("edit", "1", "--output", "x", "--directory", "/d")
        #expect(file.standardError.contains("cannot change directory, filename;"), "\(file)")
        for command in [
            ["verify", "1"], ["follow", "--since", "0"], ["get", "--probe", "http://a/"],
            ["explain", "--json", "1"], ["explain", "--history", "1"],
            ["list", "--added-by", "idown"], ["config", "proxy", "http://proxy:3128"],
        ] {
            let refused = try await old.idown(command)
            #expect(refused.status == .exited(1), "\(refused)")
            #expect(refused.standardError.contains("older than this command"), "\(refused)")
        }
        #expect(old.asked.count == 2)
    }

    @Test func `retry does not repeat a download that completed meanwhile`() async throws {
        let retried = list { tasks in
            tasks[0].state = .completed
            tasks[0].hold = .none
            tasks.remove(at: 1)
        }
        let ended = try await retried.idown("retry", "all")
        #expect(ended.status == .exited(0), "\(ended)")
        #expect(retried.asked == ["retry 3"])
    }
}
