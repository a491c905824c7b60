// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// `idown` as the native host of browsers.
@Suite(.timeLimit(.minutes(5)))
struct BrowserHostTests {
    private let content = TestContent(seed: 323, count: 200_000)

    private var file: ServedFile { ServedFile(content) }

    /// The keys of a hand-over.
    private func keys(_ url: String, _ token: String) -> String {
        #""url":"\#(url)","token":"\#(token)","status":200,"size":\#(content.count)"#
            + #","mime":"application/octet-stream","name":"a.bin","cookies":"s=geheim""#
    }

    private func task(_ answer: String) throws -> String {
        let start = try #require(answer.firstRange(of: #""task":""#), "\(answer)").upperBound
        return String(answer[start...].prefix { $0 != "\"" })
    }

    @Test(
        arguments: [
            [NativeHost.origin], ["browser-host", NativeHost.origin],
            ["/x/org.idown.browser.json", "browser@idown.org"],
        ]
    )
    func `hello tells the rules and how many downloads are under way`(
        arguments: [String]
    ) async throws {
        try await withService { service in
            try await withNativeHost(arguments, in: service) { host in
                host.ask(3, "hello")
                let answer = try await host.answer()
                #expect(
                    answer
                        == #"{"id":3,"ok":true,"rules":{"hosts":[],"least-size":1048576,"#
                        + #""leave-hosts":[],"leave-types":[],"on":true,"private":false,"#
                        + #""types":[]},"running":0}"#
                )
            }
        }
    }

    @Test func `a file is handed over and confirmed, with what the browser sent`() async throws {
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withService { service in
            try await withNativeHost(in: service) { host in
                host.ask(
                    1,
                    "hand-over",
                    keys(server.url("/x"), "t")
                        + #","referrer":"http://127.0.0.1/p","accept-language":"de","etag":"""#
                )
                let id = try task(await host.answer())
                #expect(try await service.client.listTasks().isEmpty)
                host.ask(2, "confirm", #""token":"t""#)
                #expect(try await host.answer() == #"{"id":2,"ok":true,"task":"\#(id)"}"#)
                try await service.waitForState("completed", of: id)
                let task = try await service.client.getTask(id)
                #expect(try content.firstDifference(fromFile: task.path) == nil)
                #expect(task.addedBy == "browser" && task.fileName == "a.bin")
                let request = try #require(server.requests.first)
                #expect(request["Cookie"] == "s=geheim" && request["Accept-Language"] == "de")
                #expect(request["Referer"] == "http://127.0.0.1/p")
                #expect(server.requests.count == 1)
                host.ask(3, "withdraw", #""token":"t""#)
                #expect(try await host.answer() == #"{"id":3,"ok":true}"#)
                #expect(try await service.client.listTasks().isEmpty)
                host.endInput()
                #expect(await host.process.waitForExit() == .exited(0))
                #expect(!host.process.standardError.contains("geheim"))
                #expect(!service.log.contains("geheim"))
            }
        }
    }

    @Test func `requests are answered as they are done, each with its number`() async throws {
        let gate = FaultServer.Gate()
        let file = file
        let server = try FaultServer(
            script: .init { request in
                switch request.path {
                case "/held": [.wait(for: gate)] + file.answer(to: request)
                case "/once": [.head("403 Forbidden", [("Content-Length", "0")])]
                default: file.answer(to: request)
                }
            }
        )
        defer { server.stop() }
        try await withService { service in
            try await withNativeHost(in: service) { host in
                host.ask(1, "hand-over", keys(server.url("/held"), "held"))
                await server.waitForRequest()
                host.ask(2, "hand-over", keys(server.url("/once"), "once"))
                let refusal = try await host.answer()
                #expect(refusal.hasPrefix(#"{"error":"Disagreed","id":2,"message":""#))
                host.ask(3, "hello", #""colour":"red""#)
                let unknown = try await host.answer()
                #expect(
                    unknown
                        == #"{"error":"InvalidOption","id":3,"message":"unknown key “colour”","#
                        + #""ok":false}"#
                )
                host.send(String(repeating: " ", count: 70_000))
                #expect(try await host.answer().contains(#""error":"LimitExceeded""#))
                host.ask(4, "confirm", #""token":"nobody""#)
                #expect(try await host.answer().contains(#""error":"NoSuchTask","id":4"#))
                gate.open()
                _ = try task(await host.answer())
            }
        }
    }

    @Test func `leave and switch change the rules, one after the other`() async throws {
        try await withService { service in
            try await withNativeHost(in: service) { host in
                for id in 0..<20 { host.ask(id, "leave", #""host":"h\#(id % 10).org""#) }
                for _ in 0..<20 { #expect(try await host.answer().contains(#""ok":true"#)) }
                host.ask(20, "switch", #""on":false"#)
                #expect(try await host.answer().contains(#""on":false"#))
                let hosts = try await service.client.value(of: .browserLeaveHosts)
                #expect(hosts == .words((0..<10).map { "h\($0).org" }))
                #expect(try await service.client.value(of: .browserHandOver) == .flag(false))
                for id in 21..<30 { host.ask(id, "take", #""host":"h\#(id % 10).org""#) }
                for _ in 21..<30 { #expect(try await host.answer().contains(#""ok":true"#)) }
                // A rule for a domain holds for what lies below it, and not for what ends alike.
                host.ask(30, "take", #""host":"a.xh0.org""#)
                #expect(try await host.answer().contains(#""leave-hosts":["h0.org"]"#))
                host.ask(31, "take", #""host":"a.h0.org""#)
                #expect(try await host.answer().contains(#""leave-hosts":[]"#))
            }
        }
    }

    @Test(
        arguments: [
            ["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"], ["browser-host"],
            ["/x/org.idown.browser.json", "other@idown.org"],
            ["browser-host", "http://dofnlljjpebfojmpiecjbnkaemhcdfpm/"],
        ]
    )
    func `another extension is refused, and hears nothing`(arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            let home = ServiceHome(in: folder)
            let host = try await NativeHost.start(
                arguments,
                in: folder,
                environment: home.variables
            )
            host.ask(1, "hello")
            #expect(await host.process.waitForExit() == .exited(64))
        }
    }

    @Test func `without a bus the service is unreachable`() async throws {
        try await withTemporaryFolder { folder in
            var variables = ServiceHome(in: folder).variables
            variables["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(folder)/none"
            let host = try await NativeHost.start(in: folder, environment: variables)
            host.ask(1, "hello")
            #expect(try await host.answer().hasPrefix(#"{"error":"Unreachable","id":1,"#))
            host.ask(2, "hand-over", keys("http://127.0.0.1:1/", "t"))
            #expect(try await host.answer().hasPrefix(#"{"error":"Unreachable","id":2,"#))
            host.endInput()
            #expect(await host.process.waitForExit() == .exited(0))
        }
    }

    // MARK: Ends

    @Test func `a hand-over without an answer is withdrawn with the end of the input`()
        async throws
    {
        let server = try FaultServer(script: .init { _ in [.stall] })
        defer { server.stop() }
        try await withService { service in
            try await withNativeHost(in: service) { host in
                host.ask(1, "hand-over", keys(server.url("/x"), "t"))
                await server.waitForRequest()
                host.endInput()
                #expect(await host.process.waitForExit() == .exited(0))
                try await expectWithdrawn("t", service)
            }
        }
    }

    @Test func `a hand-over that was answered outlives the host`() async throws {
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withService { service in
            for (token, end) in [("killed", SIGKILL), ("ended", 0)] {
                try await withNativeHost(in: service) { host in
                    host.ask(1, "hand-over", keys(server.url("/\(token)"), token))
                    let id = try task(await host.answer())
                    if end == 0 { host.endInput() } else { host.process.send(end) }
                    await host.process.waitForExit()
                    #expect(try await service.client.confirm(token) == id)
                }
            }
        }
    }

    @Test func `a service that hangs is unreachable, and withdraws when it goes on`() async throws {
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withService { service in
            try await withNativeHost(in: service) { host in
                // The service knows who calls from then on, and need not ask a process that has ended.
                host.ask(0, "withdraw", #""token":"other""#)
                _ = try await host.answer()
                let process = try #require(try await service.client.processID())
                kill(pid_t(process), SIGSTOP)
                defer { kill(pid_t(process), SIGCONT) }
                host.ask(1, "hand-over", keys(server.url("/x"), "t"))
                #expect(try await host.answer().hasPrefix(#"{"error":"Unreachable","id":1,"#))
                // The browser may kill its host at any time.
                host.endInput()
                await host.process.waitForExit()
                kill(pid_t(process), SIGCONT)
                try await expectWithdrawn("t", service)
                #expect(TestFile.names(in: service.home.downloads).isEmpty)
            }
        }
    }

    @Test func `a service that is killed meanwhile is asked again`() async throws {
        let gate = FaultServer.Gate()
        let isFirst = Mutex(true)
        let file = file
        let server = try FaultServer(
            script: .init { request in
                let waits = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                return (waits ? [.wait(for: gate)] : []) + file.answer(to: request)
            }
        )
        defer { server.stop() }
        try await withService { service in
            try await withNativeHost(in: service) { host in
                host.ask(1, "hand-over", keys(server.url("/x"), "t"))
                await server.waitForRequest()
                try service.installForActivation()
                try await service.kill9()
                gate.open()
                let id = try task(await host.answer())
                host.ask(2, "confirm", #""token":"t""#)
                #expect(try task(await host.answer()) == id)
                try await service.waitForState("completed", of: id)
                #expect(try await service.client.listTasks().map(\.id) == [id])
            }
        }
    }

    private func expectWithdrawn(_ token: String, _ service: ServiceUnderTest) async throws {
        let options = HandOverOptions(token: token)
        var code: ManagerError.Code?
        // A busy disk may answer about the folder too late, and the service may still have to read
        // the withdrawal.
        repeat {
            code = await refusal {
                _ = try await service.client.handOver("http://127.0.0.1:1/", options: options)
            }
        } while code == .invalidDestination || code == .disagreed
        #expect(code == .invalidState)
        #expect(try await service.client.listTasks().isEmpty)
    }
}
