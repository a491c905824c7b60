// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// The real `idown` command with the real service.
@Suite(.timeLimit(.minutes(5)))
struct CommandTests {
    private let content = TestContent(seed: 120, count: 300_000)

    @Test func `get downloads the file, prints its path and ends with 0`() async throws {
        try await withTemporaryFolder { root in
            try content.write(toFile: "\(root)/Grüße aus Köln.bin")
            try TestFile.write("", to: "\(root)/empty")
            try await withNginx(root: root) { nginx in
                try await withService(started: false) { service in
                    try service.installForActivation()
                    let url = nginx.url("/Gr%C3%BC%C3%9Fe%20aus%20K%C3%B6ln.bin")
                    let got = try await idown("get", url, in: service)
                    #expect(got.status == .exited(0), "\(got)")
                    #expect(got.standardOutput == "\(service.home.path)/Grüße aus Köln.bin")
                    #expect(try content.firstDifference(fromFile: got.standardOutput) == nil)

                    let empty = try await idown("get", nginx.url("/empty"), in: service)
                    #expect(empty.status == .exited(0), "\(empty)")
                    #expect(try TestFile.bytes(of: empty.standardOutput) == [])

                    let here = try await idown(
                        "get",
                        "-d",
                        "sub",
                        "-o",
                        "name.bin",
                        "--json",
                        url,
                        in: service
                    )
                    #expect(here.status == .exited(0), "\(here)")
                    let path = try await evaluate("x['Path']", of: here.standardOutput)
                    #expect(path == "\(service.home.path)/sub/name.bin")
                }
            }
        }
    }

    @Test func `get ends with the exit code of the failure`() async throws {
        let server = try FaultServer(
            script: .init { _ in [.head("404 Not Found", [("Content-Length", "0")])] }
        )
        defer { server.stop() }
        try await withService { service in
            let url = server.url("/gone?token=geheim")
            let gone = try await idown("get", url, in: service)
            #expect(gone.status == .exited(11), "\(gone)")
            #expect(gone.standardError.contains("Server.NotFound"), "\(gone)")
            // Standard error is often kept in logs, so it must not show secrets.
            #expect(!gone.standardError.contains("geheim"), "\(gone)")
            #expect(gone.standardOutput == "")
            #expect(try await idown("get", "file:///x", in: service).status == .exited(5))
            #expect(try await idown("get", "no URL", in: service).status == .exited(5))
            let folder = try await idown(
                "get",
                "-d",
                "/proc/x",
                server.url("/x"),
                in: service
            )
            #expect(folder.status == .exited(6), "\(folder)")
            #expect(try await idown("get", in: service).status == .exited(64))
            #expect(try await idown("explode", in: service).status == .exited(64))
        }
    }

    @Test func `add, list and show print the download, and the verbs change its state`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let added = try await idown("add", host.url("/a"), host.url("/b"), in: service)
            #expect(added.status == .exited(0), "\(added)")
            #expect(added.standardOutput == "1\n2")
            try await service.waitForState("downloading", of: "1")

            let list = try await idown("list", "--json", in: service)
            #expect(
                try await evaluate("[t['Id'] for t in x]", of: list.standardOutput) == "['1', '2']"
            )
            let table = try await idown("list", in: service)
            #expect(table.standardOutput.contains("downloading"), "\(table)")
            #expect(!table.standardOutput.contains("\u{1B}"), "no colours in a pipe")

            #expect(try await idown("pause", "1", in: service).status == .exited(0))
            #expect(try await service.state(of: "1") == "paused")
            let shown = try await idown("show", "--json", "1", in: service)
            #expect(try await evaluate("x['State']", of: shown.standardOutput) == "paused")
            #expect(try await idown("show", "1", in: service).standardOutput.contains("paused"))
            let url = host.url("/a?token=2")
            let fresh = try await idown("edit", "1", "--url", url, in: service)
            #expect(fresh.status == .exited(0), "\(fresh)")
            #expect(try await service.client.getTask("1").url == host.url("/a?token=2"))
            #expect(try await idown("resume", "1", in: service).status == .exited(0))
            #expect(try await idown("pause-all", in: service).status == .exited(0))
            #expect(try await service.client.listTasks().allSatisfy { $0.state == .paused })
            #expect(try await idown("start-all", in: service).status == .exited(0))
            #expect(try await idown("cancel", "2", in: service).status == .exited(0))
            #expect(try await service.state(of: "2") == "cancelled")
            #expect(try await idown("retry", "2", in: service).status == .exited(0))
            #expect(try await idown("remove", "2", in: service).status == .exited(0))
            host.letGo()
            try await service.waitForState("completed", of: "1")
            #expect(try await idown("cancel", "1", in: service).status == .exited(4))
            let wrong = try await idown("edit", "1", "--url", "ftp:x", in: service)
            #expect(wrong.status != .exited(0), "\(wrong)")
            let unknown = try await idown("edit", "99", "--url", url, in: service)
            #expect(unknown.status == .exited(3), "\(unknown)")
            #expect(try await idown("show", "99", in: service).status == .exited(3))
            #expect(try await idown("pause", "99", in: service).status == .exited(3))
            #expect(try await idown("clear", in: service).status == .exited(0))
            let nothing = try await idown("list", "--json", in: service)
            #expect(nothing.standardOutput == "[]")
        }
    }

    @Test func `a download that waits is listed, found and sorted by the name its URL suggests`()
        async throws
    {
        try await withService { service in
            let url = "http://127.0.0.1:9/zwei%20w%C3%B6rter.mkv?token=2"
            let id = try await service.add(url) { $0.paused = true }
            let twin = try await service.add(url + "3") { $0.paused = true }
            _ = try await service.add("http://127.0.0.1:9/a.iso") { $0.paused = true }
            let bare = try await service.add("http://127.0.0.1:9/") { $0.paused = true }
            #expect(try await service.client.getTask(id).fileName == "zwei wörter.mkv")
            #expect(try await service.client.getTask(twin).fileName == "zwei wörter.mkv")
            #expect(try await service.client.getTask(bare).fileName == "download")
            let table = try await idown("list", in: service).standardOutput
            #expect(table.contains("zwei wörter.mkv") && !table.contains("%20"), "\(table)")
            var query = TaskQuery()
            query.sort = .name
            let sorted = try await service.client.findTasks(query).page.map(\.fileName)
            #expect(sorted == ["a.iso", "download", "zwei wörter.mkv", "zwei wörter.mkv"])
            query.text = "ZWEI WÖRTER"
            #expect(try await service.client.findTasks(query).total == 2)
            // The name is no option: the same URL is the same download.
            #expect(try await service.add(url) { $0.paused = true } == id)
            // Nor does the exported list make options of it.
            let exported = try await idown("export", in: service).standardOutput
            #expect(!exported.contains("out="), "\(exported)")
            try await service.client.setURL(id, to: "http://127.0.0.1:9/b%21.iso")
            #expect(try await service.client.getTask(id).fileName == "b!.iso")
            query.text = "b!.iso"
            #expect(try await service.client.findTasks(query).total == 1)
        }
    }

    @Test func `the list tells which application added a download, and selects by it`()
        async throws
    {
        try await withService { service in
            let url = "http://127.0.0.1:9/"
            _ = try await idown("add", "--paused", url + "a", in: service)
            let own = try await service.add(url + "b") { $0.paused = true }
            let tasks = try await service.client.listTasks()
            #expect(tasks.map(\.addedBy).first == "idown")
            let listed = try await idown(
                "list",
                "--added-by",
                "idown",
                "--format",
                "{Id} {AddedBy}",
                in: service
            )
            #expect(listed.standardOutput == "1 idown")
            let none = try await idown("list", "2", "--added-by", "idown", "--json", in: service)
            #expect(none.standardOutput == "[]")
            var query = TaskQuery()
            query.addedBy = TaskQuery.me
            #expect(try await service.client.findTasks(query).page.map(\.id) == [own])
            try await service.client.resume("1")
            #expect(try await service.client.getTask("1").addedBy == "idown")
        }
    }

    @Test func `rates, digests and mirrors reach the service`() async throws {
        try await withService { service in
            let digest = "md5=" + String(repeating: "0a", count: 16)
            let added = try await idown(
                "add",
                "--paused",
                "--limit",
                "1.5M",
                "--checksum",
                digest,
                "--mirror",
                "http://127.0.0.1:10/",
                "--mirror",
                "http://127.0.0.1:11/",
                "--connections",
                "3",
                "http://127.0.0.1:9/",
                in: service
            )
            #expect(added.status == .exited(0), "\(added)")
            let task = try await service.client.getTask(added.standardOutput)
            #expect(task.speedLimit == 3 << 19)
            #expect(task.checksum == digest)
            for rate in ["", "fast", "-1", "1e3", "inf", "0x10", "1.2.3", "9999999T", "k", "1 k"] {
                let refused = try await idown(
                    "add",
                    "--limit=\(rate)",
                    "http://127.0.0.1:9/",
                    in: service
                )
                #expect(refused.status == .exited(64), "\(rate): \(refused)")
            }
            let wrong: [([String], Int32)] = [
                (["--checksum", "crc32=00", "http://127.0.0.1:9/"], 6),
                (["--mirror", "javascript:1", "http://127.0.0.1:9/"], 6),
                (["--checksum", digest, "http://127.0.0.1:9/", "http://127.0.0.1:9/2"], 64),
                (["--mirror", "http://a/", "http://127.0.0.1:9/", "http://127.0.0.1:9/2"], 64),
            ]
            for (arguments, status) in wrong {
                let refused = try await idown(["add"] + arguments, in: service)
                #expect(refused.status == .exited(status), "\(arguments): \(refused)")
            }
            #expect(try await service.client.listTasks().count == 1)
        }
    }

    @Test func `every command has a help text`() async throws {
        try await withService(started: false) { service in
            let commands = [
                "add", "get", "open", "reveal", "list", "show", "explain", "wait", "follow",
                "pause",
                "resume", "retry", "cancel", "remove", "edit", "start-all", "pause-all", "clear",
                "export", "config", "service", "login", "logout", "handler", "autostart",
            ]
            let help = try await idown("--help", in: service)
            #expect(help.status == .exited(0))
            for command in commands {
                #expect(
                    help.standardOutput.contains("\n  \(command) ")
                        || help.standardOutput.contains("\n  \(command), "),
                    "\(command)"
                )
                let own = try await idown(command, "--help", in: service)
                #expect(own.status == .exited(0), "\(command)")
                #expect(own.standardOutput.contains("USAGE: idown \(command)"), "\(own)")
            }
        }
    }

    @Test func `help for an unknown command ends with 64`() async throws {
        try await withService(started: false) { service in
            for words in [["nope"], ["list", "nope"], ["handler", "nope"], ["7"]] {
                let refused = try await idown(["help"] + words, in: service)
                #expect(refused.status == .exited(64), "\(words): \(refused)")
                #expect(refused.standardOutput == "")
                #expect(refused.standardError.contains("'\(words.last ?? "")'"), "\(refused)")
            }
            for words in [[], ["help"], ["list"], ["handler", "enable"], ["list", "--help"]] {
                let help = try await idown(["help"] + words, in: service)
                #expect(help.status == .exited(0), "\(words): \(help)")
                #expect(help.standardOutput.contains("USAGE: idown"), "\(words): \(help)")
            }
        }
    }

    @Test func `an idown link starts the service and downloads the file`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService(started: false) { service in
            try service.installForActivation()
            let escaped = host.url("/file.bin?x=1&y=2").replacing("%", with: "%25")
                .replacing(":", with: "%3A").replacing("/", with: "%2F")
                .replacing("?", with: "%3F").replacing("&", with: "%26")
                .replacing("=", with: "%3D")
            let opened = try await idown("open", "idown:?url=\(escaped)", in: service)
            #expect(opened.status == .exited(0), "\(opened)")
            #expect(opened.standardOutput == "")
            let id = try #require(try await service.client.listTasks().first?.id)
            try await service.waitForState("completed", of: id)
            let task = try await service.client.getTask(id)
            #expect(try content.firstDifference(fromFile: task.path) == nil)
            #expect(host.server.requests.map(\.target) == ["/file.bin?x=1&y=2"])
        }
    }

    @Test func `a hostile link changes nothing`() async throws {
        try await withService { service in
            let before = try await Traces.of(service)
            let good = "http%3A%2F%2F127.0.0.1%3A9%2Fx"
            let links = [
                "idown:", "idown:?", "idown:?url=", "idown:\(good)", "idown://?url=\(good)",
                "idown:?url=\(good)&directory=%2Ftmp", "idown:?url=\(good)&filename=x",
                "idown:?directory=%2Ftmp&url=\(good)", "idown:?URL=\(good)",
                "idown:?url=http://127.0.0.1:9/x", "idown:?url=file%3A%2F%2F%2Fetc%2Fpasswd",
                "idown:?url=javascript%3Aalert(1)", "idown:?url=idown%3A%3Furl%3D\(good)",
                "idown:?url=\(good)#fragment", "idown:?url=\(good)%0A", "idown:?url=\(good)%00",
                "idown:?url=\(good)%ZZ", "idown:?url=\(good)%", "idown:?url=\(good)%C3",
                "idown:?url=gopher%3A%2F%2F127.0.0.1%2Fx",
                "javascript:alert(1)", "file:///etc/passwd", "/etc/passwd",
                "idown:?url=file%3A%2F%2F%2Ftmp%2Fa.meta4", "file:///nowhere/a.meta4",
                "nowhere.meta4", "example.org/a",
            ]
            for link in links {
                let opened = try await idown("open", "--", link, in: service)
                #expect(opened.status == .exited(5), "\(link): \(opened)")
                #expect(opened.standardError != "", "\(link)")
            }
            // One bad link among good ones keeps all from being added.
            let mixed = try await idown("open", "idown:?url=\(good)", "idown:?", in: service)
            #expect(mixed.status == .exited(5))
            #expect(try await Traces.of(service) == before)
        }
    }

    @Test func `a local metalink downloads the files that it lists`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService(started: false) { service in
            try service.installForActivation()
            try TestFile.write(
                """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink">
                  <file name="one.bin"><url>\(host.url("/1"))</url></file>
                  <file name="two.bin"><size>\(content.count)</size><url>\(host.url("/2"))</url></file>
                </metalink>
                """,
                to: service.home.path + "/a list%.meta4"
            )
            let opened = try await idown("open", "a list%.meta4", in: service)
            #expect(opened.status == .exited(0), "\(opened)")
            for task in try await service.client.listTasks() {
                try await service.waitForState("completed", of: task.id)
            }
            for name in ["one.bin", "two.bin"] {
                let path = service.home.download(name)
                #expect(try content.firstDifference(fromFile: path) == nil)
            }
        }
    }

    @Test func `a closed pipe ends the command without a message`() async throws {
        try await withService { service in
            let urls = (0..<2000).map { "http://127.0.0.1:9/\($0)" }
            var options = AddOptions()
            options.paused = true
            _ = try await service.client.addURLs(urls, options: options)
            let program = try BuiltProgram("idown").path
            // The pipe's only reader ends before the command writes. PIPESTATUS has the exit code
            // of the command.
            let ended = try await ChildProcess.run(
                "bash",
                ["-c", "'\(program)' list --json | true; echo ${PIPESTATUS[0]}"],
                environment: service.environment
            )
            #expect(ended.standardOutput == "141", "\(ended)")
            #expect(ended.standardError == "")
        }
    }

    @Test func `without a bus or a service the command says what to do and ends with 69`()
        async throws
    {
        try await withService(started: false) { service in
            let missing = try await idown("list", in: service)
            #expect(missing.status == .exited(69), "\(missing)")
            #expect(missing.standardError.contains("idownd"), "\(missing)")
            let program = try BuiltProgram("idown").path
            var environment = service.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(service.home.path)/none"
            let alone = try await ChildProcess.run(program, ["list"], environment: environment)
            #expect(alone.status == .exited(69), "\(alone)")
            #expect(alone.standardError.contains("bus"), "\(alone)")
        }
    }

    @Test
    func `get says that the download was removed, and an interrupt does not stop the download`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let program = try BuiltProgram("idown").path
            let first = try await ChildProcess.start(
                program,
                ["get", host.url("/1")],
                environment: service.environment,
                workingDirectory: service.home.path
            )
            try await service.signals.first("the first task") { $0.member == "TaskAdded" }
            try await service.waitForState("downloading", of: "1")
            // get follows the task once the service has answered Add; the cancel always comes
            // later.
            try await service.client.cancel("1")
            let status = try await within("get to end") { await first.waitForExit() }
            #expect(status == .exited(15), "\(first.standardError)")

            let second = try await ChildProcess.start(
                "sh",
                ["-c", #"exec "$0" get "$1" 2>&1"#, program, host.url("/2")],
                environment: service.environment,
                workingDirectory: service.home.path
            )
            // get shows a state only after its answer; an interrupt before that would just end it.
            let shown = try await within("get to show a state") { await second.nextLine() }
            #expect(shown != nil)
            try await service.waitForState("downloading", of: "2")
            second.send(2)
            let interrupted = try await within("get to end") { await second.waitForExit() }
            #expect(interrupted == .exited(130), "\(shown ?? "")")
            #expect(try await service.state(of: "2") == "downloading")
        }
    }
}
