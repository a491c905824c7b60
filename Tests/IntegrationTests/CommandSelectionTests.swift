// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// Selections, waiting, following, explaining and editing by the real command.
@Suite(.timeLimit(.minutes(5)))
struct CommandSelectionTests {
    private let content = TestContent(seed: 121, count: 200_000)

    /// The IDs and states of the list, as idown list prints them.
    private func list(_ service: ServiceUnderTest, _ words: String...) async throws -> String {
        let ended = try await idown(["list", "--format", "{Id}:{State}"] + words, in: service)
        #expect(ended.status == .exited(0), "\(ended)")
        return ended.standardOutput.replacing("\n", with: " ")
    }

    @Test func `every verb accepts ranges, states and all`() async throws {
        try await withService { service in
            for number in 1...6 {
                _ = try await service.add("http://127.0.0.1:9/\(number)") { $0.paused = true }
            }
            #expect(try await idown("cancel", "2-3", in: service).status == .exited(0))
            #expect(try await list(service, "cancelled") == "2:cancelled 3:cancelled")
            #expect(try await list(service, "1-2", "6") == "1:paused 2:cancelled 6:paused")
            #expect(try await list(service, "all", "-n", "1") == "1:paused")
            #expect(try await list(service, "--reverse", "-n", "2") == "6:paused 5:paused")
            #expect(try await list(service, "--search", "9/4") == "4:paused")
            // A selected ID must exist, even if --search does not match it.
            #expect(try await list(service, "4", "--search", "9/5") == "")
            #expect(try await list(service, "3-5", "--search", "9/4") == "4:paused")
            #expect(try await list(service, "paused", "--search", "9/4") == "4:paused")
            let missing = try await idown("list", "99", "--search", "9/4", in: service)
            #expect(missing.status == .exited(3), "\(missing)")
            #expect(try await list(service, "--state", "cancelled") == "2:cancelled 3:cancelled")
            #expect(
                try await list(service, "paused", "cancelled", "-n", "2") == "1:paused 2:cancelled"
            )
            for wrong in [["-n", "0"], ["paused", "--state", "failed"]] {
                let refused = try await idown(["list"] + wrong, in: service)
                #expect(refused.status == .exited(64), "\(refused)")
            }
            let byNUL = try await idown("list", "cancelled", "--format", "{Id}\\0", in: service)
            #expect(byNUL.standardOutput == "2\u{0}3\u{0}", "\(byNUL)")

            let removed = try await idown("remove", "cancelled", "5-9", in: service)
            #expect(removed.status == .exited(0), "\(removed)")
            #expect(try await list(service) == "1:paused 4:paused")
            #expect(try await idown("remove", "--trash", "4", in: service).status == .exited(0))

            // No download has this state, so there is nothing to do, which is a success.
            let nothing = try await idown("resume", "failed", in: service)
            #expect(nothing.status == .exited(0), "\(nothing)")
            let mixed = try await idown("retry", "all", in: service)
            #expect(mixed.status == .exited(0), "\(mixed)")
            #expect(try await service.state(of: "1") != "paused")
            let paused = try await idown("pause", "all", in: service)
            #expect(paused.status == .exited(0), "\(paused)")
        }
    }

    @Test func `what is done to many downloads takes few commits, and tells of each refusal`()
        async throws
    {
        try await withService { service in
            var ids: [String] = []
            for number in 1...40 {
                ids.append(
                    try await service.add("http://127.0.0.1:9/\(number)") { $0.paused = true }
                )
            }
            let client = service.client
            for id in ["7", "33"] { try await client.cancel(id) }
            let before = try await client.serial()
            let edited = try await idown("edit", "all", "--priority", "3", in: service)
            #expect(edited.status == .exited(0), "\(edited)")
            let after = try await client.serial()
            #expect(after > before && after < before + 30, "\(before) \(after)")
            #expect(try await client.listTasks().allSatisfy { $0.priority == 3 })

            let resumed = try await idown(["resume"] + ids + ["99", "1"], in: service)
            #expect(resumed.status == .exited(3), "\(resumed)")
            #expect(
                resumed.standardError
                    == "idown: there is no download 99; to see the IDs: idown list\n"
            )
            let twice = try await idown("remove", "-y", "1", "2", "1", in: service)
            #expect(twice.status == .exited(0) && twice.standardError == "", "\(twice)")
        }
    }

    @Test func `the list is sorted by host, and by the time left of what runs`() async throws {
        var file = ServedFile(TestContent(seed: 122, count: 1 << 20))
        file.bytesPerSecond = 40_000
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withService { service in
            let client = service.client
            for host in ["b.example", "a.example"] {
                _ = try await service.add("http://\(host)/1") { $0.paused = true }
            }
            let long = try await service.add(server.url("/long")) { $0.speedLimit = 10_000 }
            let short = try await service.add(server.url("/short"))
            try await soon("both times") {
                guard let more = try await client.getTask(long).timeLeft,
                    let less = try await client.getTask(short).timeLeft
                else { return false }
                return more > 2 * less
            }
            func ids(_ words: String...) async throws -> String {
                try await idown(["list", "--format", "{Id}"] + words, in: service).standardOutput
                    .replacing("\n", with: " ")
            }
            #expect(try await ids("--sort", "time-left") == "4 3 1 2")
            #expect(try await ids("--sort", "time-left", "--reverse") == "3 4 1 2")
            #expect(try await ids("--sort", "host") == "3 4 2 1")
        }
    }

    @Test func `wait ends with the code of the first download that did not complete`() async throws
    {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let held = try await service.addHeld(on: host)
            let program = try BuiltProgram("idown").path
            let waiting = try await ChildProcess.start(
                program,
                ["wait", held],
                environment: service.environment
            )
            let cancelled = try await service.add("http://127.0.0.1:9/") { $0.paused = true }
            try await service.client.cancel(cancelled)
            host.letGo()
            let status = try await within("wait to end") { await waiting.waitForExit() }
            #expect(status == .exited(0), "\(waiting.standardError)")
            #expect(waiting.standardError == "")
            let both = try await idown("wait", held, cancelled, in: service)
            #expect(both.status == .exited(15), "\(both)")
            #expect(both.standardError.contains("was cancelled"), "\(both)")
            #expect(try await idown("wait", "failed", in: service).status == .exited(0))
        }
    }

    @Test func `follow prints each change as a line of JSON`() async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let program = try BuiltProgram("idown").path
            let held = try await service.addHeld(on: host)
            let follower = try await ChildProcess.start(
                program,
                ["follow", "--list", held],
                environment: service.environment
            )
            let first = try await within("the first line") { await follower.nextLine() } ?? ""
            #expect(try await evaluate("x['Event'], x['Id']", of: first) == "listed 1")
            host.letGo()
            var lines: [String] = []
            while let line = try await within("a line", { await follower.nextLine() }) {
                lines.append(line)
            }
            #expect(await follower.waitForExit() == .exited(0))
            let states = try await evaluate(
                "x[-1]['State'], x[-1]['Changed']['State'], {e['Event'] for e in x}",
                of: "[\(lines.joined(separator: ","))]"
            )
            #expect(states == "completed completed {'changed'}")
        }
    }

    @Test func `explain prints reasons, and edit changes limits, priority and URL`() async throws {
        try await withService { service in
            let first = try await service.add("http://127.0.0.1:9/1") { $0.paused = true }
            let second = try await service.add("http://127.0.0.1:9/2") { $0.paused = true }
            let why = try await idown("explain", first, in: service)
            #expect(why.standardOutput == "paused by the user", "\(why)")
            let both = try await idown("explain", "paused", in: service)
            #expect(
                both.standardOutput == "1\tpaused by the user\n2\tpaused by the user",
                "\(both)"
            )
            let json = try await idown("explain", "--json", second, in: service)
            #expect(
                try await evaluate("x", of: json.standardOutput)
                    == "{'2': [{'Code': 'paused', 'Values': {}}]}"
            )

            let edited = try await idown(
                "edit",
                "1-2",
                "--priority",
                "-3",
                "--limit",
                "1.5MiB/s",
                "--connections",
                "3",
                in: service
            )
            #expect(edited.status == .exited(0), "\(edited)")
            for id in [first, second] {
                let task = try await service.client.getTask(id)
                #expect(task.priority == -3)
                #expect(task.speedLimit == 3 << 19)
                #expect(task.maxConnections == 3)
            }
            let fresh = try await idown(
                "edit",
                first,
                "--limit",
                "off",
                "--connections",
                "default",
                "--url",
                "http://127.0.0.1:9/fresh",
                in: service
            )
            #expect(fresh.status == .exited(0), "\(fresh)")
            #expect(try await service.client.getTask(first).url == "http://127.0.0.1:9/fresh")
            #expect(try await service.client.getTask(first).speedLimit == 0)
            #expect(try await service.client.getTask(first).maxConnections == 0)
            // If one value is refused, no other value is changed.
            let wrong = try await idown(
                "edit",
                second,
                "--url",
                "no URL",
                "--priority",
                "9",
                in: service
            )
            #expect(wrong.status == .exited(5), "\(wrong)")
            #expect(try await service.client.getTask(second).priority == -3)
        }
    }

    @Test func `edit ends once the file of a running download is moved, or cannot be`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: 300_000)
        let content = TestContent(seed: 95, count: 1 << 20)
        let host = try FaultServer.serving(
            ServedFile(content, entityTag: "\"1\"").with { $0.hold = hold }
        )
        defer { host.stop() }
        try await withService { service in
            let id = try await service.add(host.url("/a.bin"))
            try await service.waitForBytes(300_000, of: id)
            let moved = try await idown("edit", id, "--output", "b.bin", in: service)
            #expect(moved.status == .exited(0), "\(moved)")
            #expect(try await service.client.getTask(id).fileName == "b.bin")
            #expect(try await service.client.getTask(id).state == .downloading)
            hold.until.open()
            try await service.waitForState("completed", of: id)
        }
    }

    @Test func `edit changes every option, and an empty value takes one away`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/1") { $0.paused = true }
            let digest = "md5=" + String(repeating: "0", count: 32)
            let edited = try await idown(
                "edit",
                id,
                "--directory",
                service.home.path + "/new",
                "--output",
                "name.bin",
                "--checksum",
                digest,
                "--expected-size",
                "12",
                "--mirror",
                "http://127.0.0.1:9/2",
                "--header",
                "X-Key: 1",
                "--referrer",
                "http://page/",
                "--user-agent",
                "Agent/1",
                "--on-existing",
                "fail",
                "--when-done",
                "reveal",
                "--retry-for",
                "1m",
                in: service
            )
            #expect(edited.status == .exited(0), "\(edited)")
            var task = try await service.client.getTask(id)
            #expect(task.directory == service.home.path + "/new" && task.fileName == "name.bin")
            #expect(task.checksum == digest && task.expectedSize == 12)
            #expect(task.mirrors == ["http://127.0.0.1:9/2"] && task.headerNames == ["X-Key"])
            #expect(task.referrer == "http://page/" && task.userAgent == "Agent/1")
            #expect(task.onExisting == "fail" && task.whenDone == "reveal" && task.retryFor == 60)

            let cleared = try await idown(
                "edit",
                id,
                "--checksum",
                "",
                "--expected-size",
                "0",
                "--mirror",
                "",
                "--header",
                "",
                "--referrer",
                "",
                "--user-agent",
                "",
                "--when-done",
                "nothing",
                in: service
            )
            #expect(cleared.status == .exited(0), "\(cleared)")
            task = try await service.client.getTask(id)
            #expect(task.checksum == "" && task.expectedSize == 0 && task.mirrors == [])
            #expect(task.headerNames == [] && task.referrer == "" && task.userAgent == "")
            #expect(task.whenDone == "" && task.onExisting == "fail")

            for wrong in [["--checksum", "md5=0"], ["--output", ".a"], ["--mirror", "nonsense"]] {
                let refused = try await idown(["edit", id] + wrong, in: service)
                #expect(refused.status == .exited(6), "\(refused)")
            }
            #expect(try await service.client.getTask(id) == task)
        }
    }

    @Test func `config shows and sets every property with its unit`() async throws {
        try await withService { service in
            let changes = [
                ("max-concurrent-downloads", "7", "7"),
                ("MaxConnectionsPerDownload", "4", "4"),
                ("speed-limit", "1.5GiB/s", "1536M"),
                ("speed-limit", "off", "off"),
                ("keep-completed", "4w", "28d"),
                ("download-directory", "sub", "\(service.home.path)/sub"),
            ]
            for (name, value, shown) in changes {
                let set = try await idown("config", name, value, in: service)
                #expect(set.status == .exited(0), "\(name): \(set)")
                #expect(set.standardOutput == "")
                let got = try await idown("config", name, in: service)
                #expect(got.standardOutput == shown, "\(name): \(got)")
                // A value can be set as it is shown.
                #expect(try await idown("config", name, shown, in: service).status == .exited(0))
            }
            let all = try await idown("config", in: service)
            #expect(all.standardOutput.contains("keep-completed"), "\(all)")
            let json = try await idown("config", "--json", in: service)
            #expect(
                try await evaluate(
                    "x['MaxConcurrentDownloads'], x['SpeedLimit']",
                    of: json.standardOutput
                ) == "7 0"
            )
        }
    }

    @Test func `get of several URLs prints the paths in the order of the URLs`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let got = try await idown("get", host.url("/a"), host.url("/b"), in: service)
            #expect(got.status == .exited(0), "\(got)")
            #expect(
                got.standardOutput
                    == "\(service.home.path)/a\n\(service.home.path)/b"
            )
            let quiet = try await idown(
                "get",
                "-q",
                "--json",
                host.url("/c"),
                host.url("/d"),
                in: service
            )
            #expect(quiet.standardError == "", "\(quiet)")
            #expect(
                try await evaluate("[t['FileName'] for t in x]", of: quiet.standardOutput)
                    == "['c', 'd']"
            )
            let named = try await idown(
                "get",
                "-o",
                "x",
                host.url("/e"),
                host.url("/f"),
                in: service
            )
            #expect(named.status == .exited(64), "\(named)")
        }
    }
}
