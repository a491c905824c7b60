// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// The options of AddURLWithOptions and AddURLs, by what they do.
@Suite(.timeLimit(.minutes(5)))
struct OptionTests {
    private let content = TestContent(seed: 90, count: 50_000)

    @Test func `a token gives the same id for ever`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let first = try await service.add(host.url()) { $0.token = "once" }
            try await service.waitForState("completed", of: first)
            // Whatever the other arguments are.
            #expect(try await service.add(host.url("/other")) { $0.token = "once" } == first)
            let other = try await service.add(host.url("/other")) { $0.token = "twice" }
            #expect(other != first)
            try await service.waitForState("completed", of: other)
            try await service.client.remove(first)
            #expect(try await service.add(host.url()) { $0.token = "once" } == first)
            try await service.restartAfterKill()
            #expect(try await service.add(host.url()) { $0.token = "once" } == first)
            #expect(try await service.client.listTasks().map(\.id) == [other])
            #expect(host.server.requests.count == 2)
        }
    }

    @Test func `one token stands for all of a list`() async throws {
        try await withService { service in
            var options = AddOptions()
            options.token = "list"
            options.paused = true
            let urls = (1...3).map { "http://127.0.0.1:9/\($0)" }
            let ids = try await service.client.addURLs(urls, options: options)
            #expect(ids.count == 3)
            #expect(try await service.client.addURLs(urls, options: options) == ids)
            #expect(try await service.client.listTasks().count == 3)
        }
    }

    @Test func `calls with one token at the same time make one task`() async throws {
        try await withService { service in
            let client = service.client
            var options = AddOptions()
            options.token = "race"
            options.paused = true
            let chosen = options
            let ids = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await client.addURL("http://127.0.0.1:9/\(number)", options: chosen)
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            #expect(try await client.listTasks().count == 1)
        }
    }

    @Test func `paused adds without a request`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.add(host.url()) { $0.paused = true }
            #expect(try await service.client.getTask(id).state == .paused)
            // The next task is through and this one has asked for nothing.
            let next = try await service.add(host.url("/next"))
            try await service.waitForState("completed", of: next)
            #expect(host.server.requests.map(\.path) == ["/next"])
            try await service.client.resume(id)
            try await service.waitForState("completed", of: id)
        }
    }

    @Test func `directory and filename say where the file stands`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let folder = "\(service.home.path)/Größe/neu"
            let id = try await service.add(host.url()) { options in
                options.directory = folder
                options.filename = "mein Name.bin"
            }
            try await service.waitForState("completed", of: id)
            #expect(try await service.client.getTask(id).path == "\(folder)/mein Name.bin")
            #expect(try content.firstDifference(fromFile: "\(folder)/mein Name.bin") == nil)
        }
    }

    @Test func `files of one name never overwrite each other`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            _ = try await ChildProcess.run("mkdir", [service.home.downloads])
            try TestFile.write("mine", to: service.home.download("file.bin"))
            let ids = try await service.client.addURLs((1...3).map { host.url("/\($0)/file.bin") })
            for id in ids { try await service.waitForState("completed", of: id) }
            #expect(
                TestFile.names(in: service.home.downloads)
                    == ["file (1).bin", "file (2).bin", "file (3).bin", "file.bin"]
            )
            #expect(try TestFile.text(of: service.home.download("file.bin")) == "mine")
        }
    }

    @Test func `on-existing fail refuses a name that is taken, now or when it is known`()
        async throws
    {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            _ = try await ChildProcess.run("mkdir", [service.home.downloads])
            try TestFile.write("mine", to: service.home.download("file.bin"))
            let code = await refusal {
                _ = try await service.add(host.url("/other")) { options in
                    options.filename = "file.bin"
                    options.onExisting = .fail
                }
            }
            #expect(code == .fileExists)
            #expect(try await service.client.listTasks().isEmpty)

            let id = try await service.add(host.url("/file.bin")) { $0.onExisting = .fail }
            try await service.waitForState("failed", of: id)
            #expect(try await service.client.getTask(id).errorCode == "File.Exists")
            #expect(TestFile.names(in: service.home.downloads) == ["file.bin"])
            #expect(try TestFile.text(of: service.home.download("file.bin")) == "mine")
        }
    }

    @Test func `headers reach the origin and stay there`() async throws {
        let elsewhere = try ChangingHost(ServedFile(content))
        defer { elsewhere.stop() }
        let target = elsewhere.url("/target.bin")
        let origin = try FaultServer(
            script: .init(
                guarded { request in
                    let next = request.path == "/start" ? "/second" : target
                    return [.head("302 Found", [("Location", next), ("Content-Length", "0")])]
                }
            )
        )
        defer { origin.stop() }
        try await withService { service in
            let url = origin.url("/start").replacing("http://", with: "http://user:pass@")
            let id = try await service.add(url) { options in
                options.headers = [
                    .init(name: "X-Key", value: "geheim"), .init(name: "Cookie", value: "a=b"),
                ]
                options.referrer = "http://127.0.0.1/page"
                options.userAgent = "tester/1"
            }
            try await service.waitForState("completed", of: id)
            #expect(origin.requests.map(\.path) == ["/start", "/start", "/second"])
            #expect(origin.requests.first?["Authorization"] == nil)
            for request in origin.requests.dropFirst() {
                #expect(request["X-Key"] == "geheim")
                #expect(request["Cookie"] == "a=b")
                #expect(request["Referer"] == "http://127.0.0.1/page")
                #expect(request["User-Agent"] == "tester/1")
                #expect(request["Authorization"] == "Basic dXNlcjpwYXNz")
                #expect(request["Accept-Encoding"] == "identity")
            }
            let foreign = try #require(elsewhere.server.requests.first)
            for name in ["X-Key", "Cookie", "Referer", "Authorization"] {
                #expect(foreign[name] == nil, "\(name)")
            }
        }
    }

    @Test func `headers are sent again after a restart`() async throws {
        let host = try ChangingHost(.held(content, after: 10_000))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host) { options in
                options.headers = [.init(name: "Authorization", value: "Bearer geheim")]
            }
            await host.server.waitForRequest()
            host.change { $0.hold = nil }
            try await service.restartAfterKill()
            try await service.waitForState("completed", of: id)
            let values = host.server.requests.map { $0["Authorization"] }
            #expect(values == ["Bearer geheim", "Bearer geheim"])
        }
    }

    @Test func `connections is taken within its range`() async throws {
        try await withService { service in
            for count in [1, 16] as [UInt32] {
                _ = try await service.add("http://127.0.0.1:9/\(count)") { options in
                    options.connections = count
                    options.paused = true
                }
            }
            #expect(try await service.client.listTasks().count == 2)
        }
    }

    @Test func `an unfinished task stands for its URL, a finished one does not`() async throws {
        let host = try ChangingHost(.held(content, after: 10_000))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.add(host.url()) { $0.paused = true }
            // With `paused` it keeps its state, without it is resumed.
            #expect(try await service.add(host.url()) { $0.paused = true } == id)
            #expect(try await service.client.getTask(id).state == .paused)
            #expect(try await service.add(host.url() + "#part") { $0.priority = 9 } == id)
            try await service.waitForState("downloading", of: id)
            #expect(try await service.client.getTask(id).priority == 0)
            #expect(try await service.add(host.url()) == id)

            let twin = try await service.add(host.url()) { $0.filename = "twin.bin" }
            #expect(twin != id)
            let both = try await service.client.addURLs([host.url("/x"), host.url("/x")])
            #expect(both.count == 2 && both[0] == both[1])

            host.letGo()
            try await service.waitForState("completed", of: id)
            let again = try await service.add(host.url()) { $0.paused = true }
            #expect(again != id)
        }
    }

    @Test func `limits hold a download and let it go`() async throws {
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            // So low that nothing goes for minutes.
            try await service.client.set(.speedLimit, to: .number(1))
            let id = try await service.add(host.url())
            let slow = try await service.add(host.url("/slow.bin")) { $0.speedLimit = 1 }
            for id in [id, slow] { try await service.waitForState("downloading", of: id) }
            await host.server.waitForRequest()
            #expect(try await service.client.getTask(id).speedLimit == 0)
            #expect(try await service.client.getTask(slow).speedLimit == 1)
            #expect(try await service.client.getTask(id).downloadedBytes == 0)

            try await service.client.set(.speedLimit, to: .number(0))
            try await service.waitForState("completed", of: id)
            let held = try await service.client.getTask(slow)
            #expect(held.state == .downloading)
            #expect(held.downloadedBytes == 0)
            // As durable as all else.
            try await service.client.set(.speedLimit, to: .number(1 << 40))
            try await service.restartAfterKill()
            #expect(try await service.client.value(of: .speedLimit) == .number(1 << 40))
            #expect(try await service.client.getTask(slow).speedLimit == 1)

            let task = Proxy(
                service.connection,
                Contract.busName,
                try #require(TaskPath(id: slow)).objectPath,
                Contract.taskInterface
            )
            let code = await refusal { try await task.set("SpeedLimit", to: UInt64.max) }
            #expect(code == .invalidArguments)
            try await task.set("SpeedLimit", to: UInt64(0))
            #expect(try await task.get("SpeedLimit", as: UInt64.self) == 0)
            try await service.waitForState("completed", of: slow)
            for name in ["file.bin", "slow.bin"] {
                let path = service.home.download(name)
                #expect(try content.firstDifference(fromFile: path) == nil)
            }
        }
    }

    @Test func `the connections of a download that runs can be changed`() async throws {
        let host = try ChangingHost(ServedFile(TestContent(seed: 83, count: 4 << 20)))
        defer { host.stop() }
        try await withService { service in
            // So low that it is not over before the end of this.
            try await service.client.set(.speedLimit, to: .number(20_000))
            let id = try await service.add(host.url()) { $0.connections = 1 }
            let path = try #require(TaskPath(id: id)).objectPath
            let task = Proxy(service.connection, Contract.busName, path, Contract.taskInterface)
            #expect(try await task.get("MaxConnections", as: UInt32.self) == 1)
            try await within("the first bytes") {
                while try await service.client.getTask(id).downloadedBytes == 0 {}
            }
            for count in [3, 1] as [UInt32] {
                try await task.set("MaxConnections", to: count)
                try await within("\(count) connections") {
                    while try await task.get("Connections", as: UInt32.self) != count {}
                }
            }
            #expect(
                await refusal { try await task.set("MaxConnections", to: UInt32(17)) }
                    == .invalidArguments
            )
            #expect(
                await refusal { try await task.set("MaxConnections", to: Int32(1)) }
                    == .invalidArguments
            )
            try await task.set("MaxConnections", to: UInt32(2))
            // As durable as all else.
            try await service.restartAfterKill()
            #expect(try await task.get("MaxConnections", as: UInt32.self) == 2)
            try await task.set("MaxConnections", to: UInt32(0))
            try await service.client.set(.speedLimit, to: .number(0))
            try await service.waitForState("completed", of: id)
            #expect(try await task.get("MaxConnections", as: UInt32.self) == 0)
            let file = service.home.download("file.bin")
            #expect(
                try TestContent(seed: 83, count: 4 << 20).firstDifference(fromFile: file) == nil
            )
        }
    }

    @Test func `what a file is to be like is kept, and shown`() async throws {
        try await withService { service in
            let digest = "sha-256=" + String(repeating: "0f", count: 32)
            let id = try await service.add("http://127.0.0.1:9/") { options in
                options.checksum = digest.uppercased()
                options.expectedSize = 7
                options.mirrors = ["http://127.0.0.1:10/"]
                options.paused = true
            }
            try await service.restartAfterKill()
            #expect(try await service.client.getTask(id).checksum == digest)
            for key in ["checksum", "expected-size", "mirrors"] {
                var options = AddOptions()
                switch key {
                case "checksum": options.checksum = digest
                case "mirrors": options.mirrors = ["http://127.0.0.1:10/"]
                default: options.expectedSize = 7
                }
                let code = await refusal {
                    _ = try await service.client.addURLs(
                        ["http://127.0.0.1:9/1", "http://127.0.0.1:9/2"],
                        options: options
                    )
                }
                #expect(code == .invalidOption, "\(key)")
            }
        }
    }
}
