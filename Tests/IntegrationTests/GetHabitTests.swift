// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// What users of curl, wget and aria2 expect of `idown get` and `idown add`.
@Suite(.timeLimit(.minutes(5)))
struct GetHabitTests {
    private let content = TestContent(seed: 131, count: 50_000)

    @Test func `get saves into the current folder, and add into the download folder`() async throws
    {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let folder = service.home.path + "/work"
            mkdir(folder, 0o700)
            let got = try await idown("get", host.url("/a.bin"), in: service, folder: folder)
            #expect(got.status == .exited(0), "\(got)")
            #expect(got.standardOutput == folder + "/a.bin")
            #expect(try content.firstDifference(fromFile: folder + "/a.bin") == nil)
            let added = try await idown("add", host.url("/b.bin"), in: service, folder: folder)
            try await service.waitForState("completed", of: added.standardOutput)
            let path = try await service.client.getTask(added.standardOutput).path
            #expect(path == service.home.download("b.bin"))
            let named = ["get", "-d", "sub", "-o", "c.bin", host.url("/x")]
            let elsewhere = try await idown(named, in: service, folder: folder)
            #expect(elsewhere.standardOutput == folder + "/sub/c.bin", "\(elsewhere)")
        }
    }

    @Test func `a URL without a scheme gets https, and the command says so`() async throws {
        try await withService { service in
            let added = try await idown(
                "add",
                "--paused",
                "127.0.0.1:9/x.iso?key=geheim",
                in: service
            )
            #expect(added.status == .exited(0), "\(added)")
            #expect(
                added.standardError == "idown: assuming https://127.0.0.1:9/x.iso\n",
                "\(added)"
            )
            let url = try await service.client.getTask(added.standardOutput).url
            #expect(url == "https://127.0.0.1:9/x.iso?key=geheim")
            let edited = try await idown("edit", "1", "--url", "localhost:9/y", in: service)
            #expect(edited.standardError == "idown: assuming https://localhost:9/y\n", "\(edited)")
            #expect(try await service.client.getTask("1").url == "https://localhost:9/y")
            // An argument that is the name of a file is not taken for a host.
            try TestFile.write("", to: service.home.path + "/disk.iso")
            for wrong in ["disk.iso", "foo", "./disk.iso", "me@example.org/x"] {
                let refused = try await idown("get", wrong, in: service)
                #expect(refused.status == .exited(5), "\(wrong): \(refused)")
            }
            let blank = try await idown("get", " ", in: service)
            #expect(blank.status == .exited(5), "\(blank)")
            #expect(blank.standardError == "idown: the URL is empty\n", "\(blank)")
        }
    }

    @Test func `referer, user agent, cookies and headers reach the server as with curl`()
        async throws
    {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let folder = service.home.path
            try TestFile.write("X-One: 1\nAuthorization: Bearer geheim\n", to: folder + "/headers")
            try TestFile.write(
                "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tabc\n"
                    + "127.0.0.1\tFALSE\t/other\tFALSE\t0\tother\tx\n",
                to: folder + "/cookies.txt"
            )
            let calls: [[String]] = [
                ["-e", "http://page.example/", "-A", "me/1", "-H", "@headers", "-b", "a=1; b=2"],
                ["--referer", "http://page.example/", "--user-agent", "me/1", "-H", "X-One: 1"]
                    + ["-H", "@-", "--load-cookies", "cookies.txt"],
                [
                    "--referrer", "http://page.example/", "-H", "@headers", "--cookie",
                    "cookies.txt",
                ],
                [
                    "--referrer", "http://page.example/", "-H", "@headers", "-b", "a=1", "-b",
                    "b=2",
                ],
            ]
            for (number, options) in calls.enumerated() {
                let got = try await idown(
                    ["get", "-q"] + options + [host.url("/\(number).bin")],
                    in: service,
                    input: "Authorization: Bearer geheim\n"
                )
                #expect(got.status == .exited(0), "\(options): \(got)")
            }
            let cookies = ["a=1; b=2", "session=abc", "session=abc", "a=1; b=2"]
            for (number, cookie) in cookies.enumerated() {
                let seen = host.server.requests.filter { $0.path == "/\(number).bin" }
                let request = try #require(seen.first)
                #expect(request["Referer"] == "http://page.example/")
                #expect(request["Cookie"] == cookie)
                #expect(request["X-One"] == "1")
                #expect(request["Authorization"] == "Bearer geheim")
                if number < 2 { #expect(request["User-Agent"] == "me/1") }
            }
            let twice = ["get", "-b", "a=1", "-H", "Cookie: b=2", host.url()]
            #expect(try await idown(twice, in: service).status == .exited(64))
            let missing = ["get", "--load-cookies", "none.txt", host.url()]
            #expect(try await idown(missing, in: service).status == .exited(12))
            try TestFile.write("<html>geheim</html>", to: folder + "/page.html")
            let page = try await idown("get", "-b", "page.html", host.url(), in: service)
            #expect(page.status == .exited(6), "\(page)")
            #expect(!page.standardError.contains("geheim"), "\(page)")
        }
    }

    @Test func `cookies of a file go only to their own hosts, also with several URLs`() async throws
    {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            try TestFile.write(
                "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tabc\n",
                to: service.home.path + "/cookies.txt"
            )
            let stranger = host.url("/b.bin").replacing("127.0.0.1", with: "localhost")
            let urls = [host.url("/a.bin"), stranger, host.url("/c.bin")]
            let got = try await idown(
                ["get", "-q", "--load-cookies", "cookies.txt"] + urls,
                in: service
            )
            #expect(got.status == .exited(0), "\(got)")
            let names = got.standardOutput.split(separator: "\n").map { $0.suffix(5) }
            #expect(names == ["a.bin", "b.bin", "c.bin"])
            for request in host.server.requests {
                #expect(request["Cookie"] == (request.path == "/b.bin" ? nil : "session=abc"))
            }
        }
    }

    @Test func `with -c a completed file is not downloaded again`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let first = try await idown("get", host.url("/a.bin"), in: service)
            #expect(first.status == .exited(0), "\(first)")
            let count = host.server.requests.count
            for url in [host.url("/a.bin"), " " + host.url("/./b/../a.bin")] {
                let again = try await idown("get", "-c", url, in: service)
                #expect(again.status == .exited(0), "\(again)")
                #expect(again.standardOutput == first.standardOutput)
            }
            #expect(host.server.requests.count == count)
            let both = ["get", "-c", host.url("/b.bin"), host.url("/a.bin")]
            let paths = try await idown(both, in: service).standardOutput
            #expect(paths == "\(service.home.path)/b.bin\n\(first.standardOutput)")
            // With another folder, or a file that was cut short, the URL is downloaded.
            let other = try await idown("get", "-c", "-d", "sub", host.url("/a.bin"), in: service)
            #expect(other.standardOutput == service.home.path + "/sub/a.bin", "\(other)")
            truncate(first.standardOutput, 100)
            let cut = try await idown("get", "-c", host.url("/a.bin"), in: service)
            #expect(cut.standardOutput == service.home.path + "/a (1).bin", "\(cut)")
        }
    }

    @Test func `the name that a download shows is the same download, and its file gets it`()
        async throws
    {
        let named = ServedFile(content).with {
            $0.fields = [("Content-Disposition", "attachment; filename=other.bin")]
        }
        let host = try ChangingHost(named)
        defer { host.stop() }
        try await withService { service in
            let url = host.url("/a.bin")
            let added = try await idown("add", "--paused", "-d", ".", url, in: service)
            let words = ["get", "-o", "a.bin", url]
            let got = try await idown(words, in: service)
            #expect(got.standardOutput == service.home.path + "/a.bin", "\(got)")
            let tasks = try await service.client.allTasks(TaskQuery())
            #expect(tasks.map(\.id) == [added.standardOutput])
        }
    }

    @Test func `get of a metalink waits for its files and prints their paths`() async throws {
        let served = content
        let server = try FaultServer(
            script: .init { request in
                guard request.path == "/list.meta4" else {
                    return ServedFile(served).answer(to: request)
                }
                let list = Self.metalink(of: "http://\(request["Host"] ?? "")")
                return ServedFile(TestContent(Array(list.utf8))).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withService { service in
            let remote = try await idown("get", server.url("/list.meta4"), in: service)
            let folder = service.home.path
            #expect(remote.status == .exited(0), "\(remote)")
            #expect(remote.standardOutput == "\(folder)/one.bin\n\(folder)/two.bin")
            #expect(try content.firstDifference(fromFile: folder + "/two.bin") == nil)
            try TestFile.write(Self.metalink(of: server.url("")), to: folder + "/local.meta4")
            let local = try await idown(
                "get",
                "-d",
                "sub",
                "local.meta4",
                server.url("/three.bin"),
                in: service
            )
            #expect(local.status == .exited(0), "\(local)")
            let names = ["one", "two", "three"].map { "\(folder)/sub/\($0).bin" }
            #expect(local.standardOutput == names.joined(separator: "\n"))
            let named = try await idown("get", "-o", "x", "local.meta4", in: service)
            #expect(named.status == .exited(64), "\(named)")
            mkdir(folder + "/folder.meta4", 0o700)
            mkfifo(folder + "/pipe.meta4", 0o600)
            for (name, reason) in [
                ("missing", "No such file or directory"), ("folder", "Is a directory"),
                ("pipe", "it is not a regular file"),
            ] {
                for verb in ["get", "add"] {
                    let refused = try await idown(verb, "\(name).meta4", in: service)
                    #expect(refused.status == .exited(12), "\(refused)")
                    let told = "\(folder)/\(name).meta4 cannot be read: \(reason)"
                    #expect(refused.standardError.contains(told), "\(refused)")
                }
            }
            // get also waits for the files of a metalink that was added earlier.
            let id = try await service.add(server.url("/list.meta4"))
            let waited = try await idown("wait", id, in: service)
            #expect(waited.status == .exited(0), "\(waited)")
            for task in try await service.client.listTasks() {
                #expect(task.state == .completed, "\(task.fileName)")
            }
        }
    }

    @Test func `get of a metalink that lists only metalinks fails in words`() async throws {
        let server = try FaultServer(
            script: .init { request in
                let list = """
                    <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="b.meta4">
                    <url>http://\(request["Host"] ?? "")/b.meta4</url></file></metalink>
                    """
                return ServedFile(TestContent(Array(list.utf8))).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withService { service in
            let got = try await idown("get", server.url("/a.meta4"), in: service)
            #expect(got.status != .exited(0) && got.standardOutput.isEmpty, "\(got)")
            #expect(got.standardError.contains("only other metalinks"), "\(got)")
        }
    }

    private static func metalink(of base: String) -> String {
        """
        <metalink xmlns="urn:ietf:params:xml:ns:metalink">
          <file name="one.bin"><url>\(base)/1</url></file>
          <file name="two.bin"><url>\(base)/2</url></file>
        </metalink>
        """
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `after a signal a file that was read for another digest has its own one again`(
        signal: Int32
    ) async throws {
        // Read for longer than it takes to press Ctrl-C; if it was not, the outcome is the same.
        let large = TestContent(seed: 132, count: 64 << 20)
        let host = try ChangingHost(ServedFile(large))
        defer { host.stop() }
        try await withService { service in
            let (client, url) = (service.client, host.url("/a.bin"))
            let own = "md5=" + String(repeating: "0", count: 32)
            let id = try await service.add(url)
            try await service.waitForState("completed", of: id)
            var options = EditOptions()
            options.values.checksum = own
            try await client.setOptions(options, of: id)
            let folder = try await client.getTask(id).directory
            let other = "sha-512=" + String(repeating: "0", count: 128)
            let child = try await ChildProcess.start(
                try BuiltProgram("idown").path,
                ["get", "-c", "-d", folder, "--checksum", other, url],
                environment: service.environment
            )
            try await soon("the other digest") { try await client.getTask(id).checksum == other }
            child.send(signal)
            let end = await child.waitForExit()
            #expect(end == .exited(128 + signal), "\(child.standardError)")
            #expect(try await client.getTask(id).checksum == own)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends the command also once a file was read for another digest`(
        signal: Int32
    ) async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let (client, url) = (service.client, host.url("/a.bin"))
            let id = try await service.add(url)
            try await service.waitForState("completed", of: id)
            let folder = try await client.getTask(id).directory
            host.change { $0.hold = ServedFile.Hold(afterBytes: 1_000) }
            let child = try await ChildProcess.start(
                try BuiltProgram("idown").path,
                [
                    "get", "-c", "-d", folder,
                    "--checksum", "md5=" + String(repeating: "0", count: 32), url,
                ],
                environment: service.environment
            )
            try await soon("the file anew") {
                try await client.listTasks().contains { $0.state == .downloading }
            }
            child.send(signal)
            #expect(await child.waitForExit() == .exited(128 + signal), "\(child.standardError)")
        }
    }

    @Test func `an option for one file is refused for a list, with the option to write there`()
        async throws
    {
        try await withService { service in
            try TestFile.write("http://127.0.0.1:9/x\n", to: service.home.path + "/urls")
            for option in [["-o", "x"], ["--checksum", "md5=00"], ["--mirror", "http://a/"]] {
                let refused = try await idown(["add", "-i", "urls"] + option, in: service)
                #expect(refused.status == .exited(64), "\(refused)")
                #expect(refused.standardError.contains("out="), "\(refused)")
            }
            try TestFile.write(
                "http://127.0.0.1:9/x\n https://b/?a=1",
                to: service.home.path + "/urls"
            )
            let indented = try await idown("add", "-i", "urls", in: service)
            #expect(indented.status == .exited(6), "\(indented)")
            #expect(indented.standardError.contains("line 2"), "\(indented)")
            #expect(try await service.client.listTasks().isEmpty)
        }
    }
}
