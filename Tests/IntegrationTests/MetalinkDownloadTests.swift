// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// A metalink's URL, and what becomes of it over the bus.
@Suite(.timeLimit(.minutes(5)))
struct MetalinkDownloadTests {
    /// A list of one file, `abc`, at two places of one server.
    private static func list(_ host: String) -> [UInt8] {
        Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <metalink xmlns="urn:ietf:params:xml:ns:metalink">
              <file name="folder/abc.txt">
                <size>3</size>
                <hash type="sha-256">\
            ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad</hash>
                <pieces length="3" type="sha-1">
                  <hash>a9993e364706816aba3e25717850c26c9cd0d89d</hash>
                </pieces>
                <url priority="1">http://\(host)/wrong/abc.txt</url>
                <url priority="2">http://\(host)/right/abc.txt</url>
              </file>
            </metalink>
            """.utf8
        )
    }

    /// A list of two files, `one` and `two`.
    private static func two(_ host: String) -> [UInt8] {
        let files = ["one", "two"].map { name in
            "<file name=\"\(name)\"><url>http://\(host)/\(name)</url></file>"
        }
        return Array(
            "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(files.joined())</metalink>".utf8
        )
    }

    private static func answer(_ request: RecordedRequest) -> [FaultServer.Step] {
        let body =
            switch request.path {
            case "/list.meta4": list(request["Host"] ?? "")
            case "/two.meta4": two(request["Host"] ?? "")
            case "/right/abc.txt": Array("abc".utf8)
            default: Array("abd".utf8)
            }
        return ServedFile(TestContent(body)).answer(to: request)
    }

    @Test func `its files are tasks, whose wrong bytes are fetched from a mirror`() async throws {
        let server = try FaultServer(script: .init { Self.answer($0) })
        defer { server.stop() }
        try await withService { service in
            let id = try await service.add(server.url("/list.meta4"))
            try await service.waitForState("completed", of: id)
            let tasks = try await service.client.listTasks()
            #expect(tasks.map(\.fileName) == ["list.meta4", "abc.txt"])
            let listed = try #require(tasks.last)
            #expect(tasks.map(\.listedTasks) == [[listed.id], []])
            try await service.waitForState("completed", of: listed.id)
            let file = try await service.client.getTask(listed.id)
            #expect(file.integrity == .checksum)
            #expect(file.path == service.home.download("abc.txt"))
            #expect(file.checksum.hasPrefix("sha-256=ba78"))
            #expect(try TestContent(Array("abc".utf8)).firstDifference(fromFile: file.path) == nil)
            #expect(server.requests.contains { $0.path == "/right/abc.txt" })
        }
    }

    @Test func `its list has new tasks and those that were there, and outlives a crash`()
        async throws
    {
        let server = try FaultServer(script: .init { Self.answer($0) })
        defer { server.stop() }
        try await withService { service in
            let known = try await service.add(server.url("/two")) { options in
                options.filename = "two"
                options.paused = true
            }
            let id = try await service.add(server.url("/two.meta4"))
            try await service.waitForState("completed", of: id)
            let list = try await service.client.getTask(id).listedTasks
            #expect(list.count == 2)
            #expect(list.last == known)
            #expect(try await service.client.listTasks().count == 3)
            for listed in list { try await service.waitForState("completed", of: listed) }
            try expectListIsTold(list, of: id, service)

            try await service.restartAfterKill()
            #expect(try await service.client.getTask(id).listedTasks == list)
            var query = TaskQuery()
            query.properties = [.listedTasks]
            let found = try await service.client.findTasks(query).page.map(\.listedTasks)
            #expect(found == [[], list, []])

            try await service.client.retry(id)
            try await service.waitForState("completed", of: id)
            let second = try await service.client.getTask(id).listedTasks
            #expect(second.count == 2)
            #expect(Set(second).isDisjoint(with: list), "both files had been completed")
        }
    }

    @Test func `a metalink of this machine gives ids, and its files go where the call says`()
        async throws
    {
        let server = try FaultServer(script: .init { Self.answer($0) })
        defer { server.stop() }
        try await withService { service in
            let path = service.home.path + "/two list.metalink"
            let host = server.url("/").dropFirst("http://".count).dropLast()
            try TestFile.write(String(decoding: Self.two(String(host)), as: UTF8.self), to: path)
            var options = AddOptions()
            options.directory = service.home.path + "/here"
            options.token = "once"
            let ids = try await service.client.addMetalink(at: path, options: options)
            #expect(ids.count == 2)
            // The reply comes after the change is durable, and a call may be repeated blindly.
            try await service.restartAfterKill()
            #expect(try await service.client.addMetalink(at: path, options: options) == ids)
            #expect(try await service.client.listTasks().map(\.id) == ids)
            for id in ids { try await service.waitForState("completed", of: id) }
            let tasks = try await service.client.listTasks()
            #expect(tasks.map(\.path) == ["one", "two"].map { service.home.path + "/here/" + $0 })
            #expect(tasks.map(\.listedTasks) == [[], []])
        }
    }

    @Test func `what is no metalink of this machine is refused in a sentence`() async throws {
        try await withService { service in
            let folder = service.home.path
            try TestFile.write("<html></html>", to: folder + "/page.meta4")
            try TestFile.write("", to: folder + "/list.txt")
            // All files are added or none: the other one is a torrent.
            try TestFile.write(
                """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink">
                <file name="one"><url>http://127.0.0.1:9/one</url></file>
                <file name="two.iso"><metaurl mediatype="torrent">http://127.0.0.1:9/</metaurl></file>
                </metalink>
                """,
                to: folder + "/half.meta4"
            )
            let half = await #expect(throws: ManagerError.self) {
                _ = try await service.client.addMetalink(at: folder + "/half.meta4")
            }
            #expect(half?.code == .invalidURL && half?.message.contains("“two.iso”") == true)
            let before = try await Traces.of(service)
            for path in ["/page.meta4", "/list.txt", "/gone.meta4"].map({ folder + $0 }) + ["a"] {
                let code = await refusal(path) {
                    _ = try await service.client.addMetalink(at: path)
                }
                #expect(code == .invalidURL, "\(path)")
            }
            #expect(try await Traces.of(service) == before)
        }
    }

    /// Whoever follows the signals knows the list when the metalink is completed.
    private func expectListIsTold(
        _ list: [String],
        of id: String,
        _ service: ServiceUnderTest
    ) throws {
        var told: [String] = []
        for signal in service.signals.signals {
            guard
                case .changed([id], let state, let changed) = ListNews(signal)
            else { continue }
            if let value = changed["ListedTasks"] { told = try [String](busValue: value) }
            if state == .completed { break }
        }
        #expect(told == list)
    }
}
