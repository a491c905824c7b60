// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// `idown get` and `idown add` of URLs that are in the list already.
@Suite(.timeLimit(.minutes(5)))
struct ListedURLTests {
    private let content = TestContent(seed: 133, count: 50_000)
    private let wrong = "sha-256=" + String(repeating: "0", count: 64)

    private func digest(of path: String) async throws -> String {
        let summed = try await ChildProcess.run("sha256sum", [path])
        return "sha-256=" + summed.standardOutput.prefix { $0 != " " }
    }

    @Test func `a digest that is given later counts for the unfinished download`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let url = host.url("/a.bin")
            let added = try await idown("add", "--paused", "-d", ".", url, in: service)
            #expect(added.standardOutput == "1", "\(added)")
            let got = try await idown("get", "-q", "--checksum", wrong, url, in: service)
            #expect(got.status == .exited(13), "\(got)")
            #expect(try await service.client.listTasks().map(\.id) == ["1"])
        }
    }

    @Test func `headers and cookies that are given later are sent`() async throws {
        let served = content
        let server = try FaultServer(
            script: .init { request in
                guard request["X-Key"] == "1" || request["Cookie"] == "k=1" else {
                    return [.head("403 Forbidden", [("Content-Length", "0")])]
                }
                return ServedFile(served).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withService { service in
            for (name, option) in [("a", ["-H", "X-Key: 1"]), ("b", ["-b", "k=1"])] {
                let url = server.url("/\(name)")
                let refused = try await idown("get", "-q", url, in: service)
                #expect(refused.status == .exited(11), "\(refused)")
                let got = try await idown(["get", "-q"] + option + [url], in: service)
                #expect(got.status == .exited(0), "\(got)")
                #expect(got.standardOutput == "\(service.home.path)/\(name)")
            }
            #expect(try await service.client.listTasks().count == 2)
        }
    }

    @Test func `cookies that are given later take the place of the older ones, and of no header`()
        async throws
    {
        let served = content
        let server = try FaultServer(
            script: .init { request in
                guard request["X-Key"] == "1", request["Cookie"] == "k=2" else {
                    return [.head("403 Forbidden", [("Content-Length", "0")])]
                }
                return ServedFile(served).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withService { service in
            let url = server.url("/a")
            let older = ["-H", "X-Key: 1", "-b", "k=1"]
            let refused = try await idown(["get", "-q"] + older + [url], in: service)
            #expect(refused.status == .exited(11), "\(refused)")
            let got = try await idown("get", "-q", "-b", "k=2", url, in: service)
            #expect(got.status == .exited(0), "\(got)")
        }
    }

    @Test func `options of a list, and of one call for several URLs, reach listed downloads`()
        async throws
    {
        try await withService { service in
            for number in 1...2 {
                _ = try await service.add("http://127.0.0.1:9/\(number)") { $0.paused = true }
            }
            let list = "http://127.0.0.1:9/1\n  checksum=\(wrong)\n  priority=3"
            let listed = try await idown("add", "--paused", "-i", "-", in: service, input: list)
            #expect(listed.status == .exited(0) && listed.standardOutput == "1", "\(listed)")
            var task = try await service.client.getTask("1")
            #expect(task.checksum == wrong && task.priority == 3 && task.state == .paused)
            let urls = [3, 2].map { "http://127.0.0.1:9/\($0)" }
            let added = try await idown(["add", "-A", "me/1"] + urls, in: service)
            #expect(added.standardOutput == "3\n2", "\(added)")
            for id in ["2", "3"] {
                task = try await service.client.getTask(id)
                #expect(task.userAgent == "me/1" && task.state != .paused, "\(task)")
            }
        }
    }

    @Test func `with -c and a digest the file has to have it`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let url = host.url("/a.bin")
            let path = try await idown("get", "-q", url, in: service).standardOutput
            let right = try await digest(of: path)
            let again = try await idown("get", "-qc", "--checksum", right, url, in: service)
            #expect(again.status == .exited(0) && again.standardOutput == path, "\(again)")
            try TestFile.write(String(repeating: "x", count: 50_000), to: path)
            let changed = try await idown("get", "-qc", "--checksum", right, url, in: service)
            #expect(changed.status == .exited(0), "\(changed)")
            #expect(changed.standardOutput == service.home.path + "/a (1).bin", "\(changed)")
            let never = try await idown("get", "-qc", "--checksum", wrong, url, in: service)
            #expect(never.status == .exited(13), "\(never)")
            // The good file of before keeps its digest.
            let good = try await service.client.getTask("2")
            #expect(good.checksum == right && good.integrity == .checksum, "\(good)")
            #expect(good.errorCode == "")
        }
    }

    @Test func `-c knows URLs as they are typed, works in lists, and is refused for metalinks`()
        async throws
    {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let url = host.url("/\u{E4} b.bin")
            let path = try await idown("get", "-q", url, in: service).standardOutput
            #expect(path == service.home.path + "/\u{E4} b.bin")
            let again = try await idown("get", "-qc", url, in: service)
            #expect(again.standardOutput == path, "\(again)")
            let list = "\(host.url("/c.bin"))\n\(url)"
            let listed = try await idown(
                "add",
                "-c",
                "-d",
                ".",
                "-i",
                "-",
                in: service,
                input: list
            )
            #expect(listed.standardOutput == "2\n1", "\(listed)")
            let metalink = try await idown("get", "-c", "m.meta4", in: service)
            #expect(metalink.status == .exited(64), "\(metalink)")
        }
    }
}
