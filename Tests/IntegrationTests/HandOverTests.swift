// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Synchronization
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// Downloads that a browser hands over while it holds its own response.
@Suite(.timeLimit(.minutes(5)))
struct HandOverTests {
    private let content = TestContent(seed: 320, count: 300_000)

    private var file: ServedFile { ServedFile(content) }

    /// What a browser knows of ``file``.
    private func seen(_ token: String) -> HandOverOptions {
        var options = HandOverOptions(token: token)
        options.download.connections = 1
        options.status = 200
        options.size = UInt64(content.count)
        options.entityTag = "\"v1\""
        options.mimeType = "application/octet-stream; charset=binary"
        return options
    }

    /// Nothing can be seen of a task that is provisional, or was withdrawn.
    private func expectNothing(
        _ service: ServiceUnderTest,
        of id: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let client = service.client
        #expect(try await client.listTasks().isEmpty, sourceLocation: sourceLocation)
        #expect(try await client.findTasks().total == 0, sourceLocation: sourceLocation)
        #expect(try await client.taskCount() == 0, sourceLocation: sourceLocation)
        #expect(
            TestFile.names(in: service.home.downloads).isEmpty,
            sourceLocation: sourceLocation
        )
        guard let id else { return }
        let code = await refusal { _ = try await client.getTask(id) }
        #expect(code == .noSuchTask, sourceLocation: sourceLocation)
    }

    private func expectFile(_ service: ServiceUnderTest, of id: String) async throws {
        try await service.waitForState("completed", of: id)
        let task = try await service.client.getTask(id)
        #expect(try content.firstDifference(fromFile: task.path) == nil)
    }

    // MARK: The way of most

    @Test func `a provisional task is nowhere, and goes on with the same answer once confirmed`()
        async throws
    {
        let host = try FaultServer.serving(file)
        defer { host.stop() }
        try await withService { service in
            let mark = service.signals.count
            var options = seen("t")
            options.suggestedName = "../a b/.c\u{202E}.bin"
            options.download.cookies = "a=b"
            let id = try await service.client.handOver(host.url("/x"), options: options)
            try await expectNothing(service, of: id)
            #expect(service.signals.signals.dropFirst(mark).isEmpty)
            let serial = try await service.client.serial()
            #expect(try await service.client.confirm("t") == id)
            let changes = try await service.client.changes(since: serial)
            #expect(changes.tasks.map(\.id) == [id])
            #expect(
                service.signals.signals.dropFirst(mark).contains {
                    $0.member == "TaskAdded" && $0.arguments.first == .string(id)
                }
            )
            try await expectFile(service, of: id)
            #expect(host.requests.count == 1)
            #expect(host.requests.first?["Cookie"] == "a=b")
            // Confirm can be repeated, also when the task is gone.
            #expect(try await service.client.confirm("t") == id)
            try await service.client.remove(id)
            #expect(try await service.client.confirm("t") == id)
            let names = TestFile.names(in: service.home.downloads)
            #expect(names.count == 1 && names.allSatisfy { !$0.contains("/") && $0.first != "." })
        }
    }

    @Test func `a repeated HandOver gives the id of the provisional and of the confirmed task`()
        async throws
    {
        let host = try FaultServer.serving(file)
        defer { host.stop() }
        try await withService { service in
            let (client, url) = (service.client, host.url("/x"))
            let first = Task { try await client.handOver(url, options: seen("t")) }
            let second = Task { try await client.handOver(url, options: seen("t")) }
            let id = try await first.value
            #expect(try await second.value == id)
            #expect(try await client.handOver(url, options: seen("t")) == id)
            #expect(host.requests.count == 1)
            _ = try await client.confirm("t")
            #expect(try await client.handOver(url, options: seen("t")) == id)
            try await expectFile(service, of: id)
            #expect(try await client.listTasks().count == 1)
            #expect(host.requests.count == 1)
        }
    }

    @Test func `a confirmed task that finds no slot keeps its answer and waits`() async throws {
        let held = try ChangingHost(.held(TestContent(seed: 321, count: 1 << 20), after: 10_000))
        let once = Mutex(false)
        let file = file
        // The link works only once.
        let host = try FaultServer(
            script: .init { request in
                let isFirst = once.withLock { isUsed in
                    defer { isUsed = true }
                    return !isUsed
                }
                guard isFirst else {
                    return [.head("403 Forbidden", [("Content-Length", "0")])]
                }
                return file.answer(to: request)
            }
        )
        defer {
            held.stop()
            host.stop()
        }
        try await withService { service in
            try await service.client.set(.maxConcurrentDownloads, to: .number(1))
            let first = try await service.addHeld(on: held)
            let id = try await service.client.handOver(host.url("/x"), options: seen("t"))
            _ = try await service.client.confirm("t")
            #expect(try await service.state(of: id) == "waiting")
            try await service.client.setPriority(-1, of: id)
            held.letGo()
            try await service.waitForState("completed", of: first)
            try await expectFile(service, of: id)
            #expect(host.requests.count == 1)
        }
    }

    @Test func `a second click joins the task that brings the URL, and Withdraw leaves it alone`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 10_000))
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            let id = try await service.addHeld(on: host)
            _ = try await client.handOver(host.url(), options: seen("t"))
            #expect(try await client.confirm("t") == id)
            #expect(try await client.handOver(host.url(), options: seen("t")) == id)
            #expect(try await client.listTasks().map(\.id) == [id])
            try await client.withdraw("t")
            #expect(try await service.state(of: id) == "downloading")
            host.letGo()
            try await expectFile(service, of: id)
        }
    }

    @Test func `a task that stands for another token, too, stays until both are withdrawn`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 10_000))
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            let id = try await client.handOver(host.url(), options: seen("t"))
            for token in ["t", "u", "v"] {
                _ = try await client.handOver(host.url(), options: seen(token))
                #expect(try await client.confirm(token) == id)
            }
            try await service.waitForBytes(1, of: id)
            for token in ["t", "u"] {
                try await client.withdraw(token)
                #expect(await refusal { _ = try await client.confirm(token) } == .noSuchTask)
                try await service.waitForState("downloading", of: id)
                try await service.restartAfterKill()
                #expect(try await client.confirm("v") == id)
            }
            try await client.withdraw("v")
            try await expectNothing(service, of: id)
        }
    }

    // MARK: Disagreement

    @Test func `another answer than the browser's leaves nothing, and the token is free`()
        async throws
    {
        let isSecond = Mutex(false)
        let file = file
        let host = try FaultServer(
            script: .init { request in
                let answer = file.answer(to: request)
                switch request.path {
                case "/once":
                    return isSecond.withLock { $0 }
                        ? answer : [.head("403 Forbidden", [("Content-Length", "0")])]
                case "/login":
                    let page = "<html>Who are you?</html>"
                    return [
                        .head(
                            "200 OK",
                            [
                                ("Content-Type", "text/html"),
                                ("Content-Length", "\(page.utf8.count)"),
                            ]
                        ), .text(page),
                    ]
                case "/reset": return [.reset]
                default: return answer
                }
            }
        )
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            func expectDisagreement(
                _ path: String,
                _ comment: Comment,
                _ change: (inout HandOverOptions) -> Void = { _ in }
            ) async throws {
                var options = seen("t")
                change(&options)
                let code = await refusal {
                    _ = try await client.handOver(host.url(path), options: options)
                }
                #expect(code == .disagreed, comment)
                #expect(await refusal { _ = try await client.confirm("t") } == .noSuchTask, comment)
                try await expectNothing(service)
            }
            try await expectDisagreement("/once", "403")
            try await expectDisagreement("/login", "HTML")
            try await expectDisagreement("/login", "HTML of unknown type") {
                ($0.mimeType, $0.entityTag, $0.size) = (nil, nil, nil)
            }
            try await expectDisagreement("/reset", "reset")
            try await expectDisagreement("/x", "size") { $0.size = 1 }
            try await expectDisagreement("/x", "tag") { $0.entityTag = "\"v2\"" }
            try await expectDisagreement("/x", "date") { $0.lastModified = "yesterday" }
            try await expectDisagreement("/x", "type") { $0.mimeType = "image/png" }
            try await expectDisagreement("/x", "status") { $0.status = 203 }
            // A restart finds nothing either.
            try await service.restartAfterKill()
            try await expectNothing(service)
            isSecond.withLock { $0 = true }
            let id = try await client.handOver(host.url("/once"), options: seen("t"))
            _ = try await client.confirm("t")
            try await expectFile(service, of: id)
        }
    }

    @Test func `a server that does not answer in three seconds loses the download`() async throws {
        let host = try FaultServer(script: .init { _ in [.stall] })
        defer { host.stop() }
        try await withService { service in
            let start = ContinuousClock.now
            let code = await refusal {
                _ = try await service.client.handOver(host.url("/x"), options: seen("t"))
            }
            #expect(code == .disagreed)
            let took = ContinuousClock.now - start
            #expect(took > .seconds(2.5) && took < .seconds(10), "\(took)")
            try await expectNothing(service)
        }
    }

    @Test func `what a page must not choose is refused, and nothing is asked for`() async throws {
        let host = try FaultServer.serving(file)
        defer { host.stop() }
        try await withService { service in
            for (key, value) in [
                ("directory", .string("/tmp")), ("filename", .string("a")),
                ("paused", .boolean(true)), ("when-done", .string("open")), ("size", .uint64(1)),
                ("unknown", .string("")), ("token", .string("")),
            ] as [(String, Value)] {
                var options: [String: Value] = ["token": .string("t")]
                options[key] = value
                let sent = options
                let code = await refusal {
                    _ = try await service.manager.call(
                        "HandOver",
                        host.url("/x"),
                        sent,
                        returning: String.self
                    )
                }
                #expect(code == .invalidOption, "\(key)")
            }
            let code = await refusal {
                let none: [String: Value] = [:]
                _ = try await service.manager.call(
                    "HandOver",
                    host.url("/x"),
                    none,
                    returning: String.self
                )
            }
            #expect(code == .invalidOption)
            #expect(host.requests.isEmpty)
        }
    }

    // MARK: Withdrawal

    @Test func `Withdraw holds before the HandOver, over Confirm, a restart, and for ever`()
        async throws
    {
        let host = try FaultServer.serving(file)
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            func expectWithdrawn(_ token: String) async {
                let url = host.url("/x")
                #expect(
                    await refusal { _ = try await client.handOver(url, options: seen(token)) }
                        == .invalidState
                )
                #expect(await refusal { _ = try await client.confirm(token) } == .noSuchTask)
            }
            // Nobody knows the first; the second is provisional.
            try await client.withdraw("early")
            let id = try await client.handOver(host.url("/x"), options: seen("provisional"))
            try await client.withdraw("provisional")
            for _ in 0..<2 {
                await expectWithdrawn("early")
                await expectWithdrawn("provisional")
                try await expectNothing(service, of: id)
                try await service.restartAfterKill()
            }
            try await client.withdraw("early")
            await expectWithdrawn("early")
        }
    }

    @Test func `Withdraw after Confirm takes the task, and leaves a finished file`() async throws {
        let host = try ChangingHost(file)
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            let id = try await client.handOver(host.url(), options: seen("done"))
            _ = try await client.confirm("done")
            try await expectFile(service, of: id)
            let path = try await client.getTask(id).path
            try await client.withdraw("done")
            #expect(try await client.listTasks().isEmpty)
            #expect(try content.firstDifference(fromFile: path) == nil)
            #expect(await refusal { _ = try await client.confirm("done") } == .noSuchTask)

            host.change { $0.hold = .init(afterBytes: 10_000) }
            let half = try await client.handOver(host.url("/y"), options: seen("half"))
            _ = try await client.confirm("half")
            try await service.waitForBytes(1, of: half)
            try await client.withdraw("half")
            #expect(try await client.listTasks().isEmpty)
            #expect(TestFile.names(in: service.home.downloads) == ["file.bin"])
            try await service.restartAfterKill()
            #expect(try await client.listTasks().isEmpty)
        }
    }

    @Test func `Withdraw while the answer is awaited ends the HandOver`() async throws {
        let host = try FaultServer(script: .init { _ in [.stall] })
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            let pending = Task { try await client.handOver(host.url("/x"), options: seen("t")) }
            await host.waitForRequest()
            try await client.withdraw("t")
            #expect(await refusal { _ = try await pending.value } == .invalidState)
            try await expectNothing(service)
        }
    }

    @Test func `a caller that has left before the answer has withdrawn`() async throws {
        let gate = FaultServer.Gate()
        let file = file
        let host = try FaultServer(
            script: .init { [.wait(for: gate)] + file.answer(to: $0) }
        )
        defer { host.stop() }
        try await withService { service in
            let caller = try await Connection.open(.address(service.bus.address))
            let client = ManagerClient(caller)
            let call = Task { try await client.handOver(host.url("/x"), options: seen("t")) }
            await host.waitForRequest()
            await caller.close()
            _ = await call.result
            gate.open()
            // A call with the token would be answered, and so keep it.
            try await soon("the hand-over to be withdrawn") {
                let look = try await ChildProcess.run(
                    "/usr/bin/python3",
                    [
                        "-c",
                        """
                        import sqlite3, sys
                        list = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True)
                        print(list.execute('SELECT token, state FROM handOver').fetchall())
                        """, service.home.store,
                    ]
                )
                return look.standardOutput == "[('t', 'withdrawn')]"
            }
            let code = await refusal {
                _ = try await service.client.handOver(host.url("/x"), options: seen("t"))
            }
            #expect(code == .invalidState)
            try await expectNothing(service)
        }
    }

    @Test func `a private download leaves its file, and nothing that tells of it`() async throws {
        let host = try FaultServer.serving(file)
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            var options = seen("t")
            options.isPrivate = true
            options.suggestedName = "geheim.bin"
            options.download.referrer = "http://127.0.0.1/geheim"
            let id = try await client.handOver(host.url("/geheim?geheim"), options: options)
            let mark = service.signals.count
            _ = try await client.confirm("t")
            try await service.signals.first(after: mark, "the task to be gone") { signal in
                signal.member == "TaskRemoved" && signal.arguments.first == .string(id)
            }
            #expect(try await client.listTasks().isEmpty)
            let path = service.home.download("geheim.bin")
            #expect(try content.firstDifference(fromFile: path) == nil)
            let attributes = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", "import os, sys; print(os.listxattr(sys.argv[1]))", path]
            )
            #expect(!attributes.standardOutput.contains("xdg"), "\(attributes)")
            #expect(!service.log.contains("geheim"))
            let secret = Array("geheim".utf8)
            try await soon("no file of the list to hold the name") {
                TestFile.names(in: service.home.state).allSatisfy { name in
                    let bytes = try? TestFile.bytes(of: service.home.state + "/" + name)
                    return bytes?.firstRange(of: secret) == nil
                }
            }
            #expect(try await client.confirm("t") == id)
        }
    }

    // MARK: Restarts

    @Test func `kill -9 between HandOver and Confirm loses nothing`() async throws {
        let host = try FaultServer.serving(file)
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            var options = seen("t")
            options.suggestedName = "mine.bin"
            options.download.cookies = "a=b"
            options.download.referrer = "http://127.0.0.1/page"
            options.download.priority = 3
            let id = try await client.handOver(host.url("/x?y=z"), options: options)
            try await service.restartAfterKill()
            try await expectNothing(service, of: id)
            // The token gives the id, without another question to the server.
            #expect(try await client.handOver(host.url("/x"), options: seen("t")) == id)
            #expect(host.requests.count == 1)
            #expect(try await client.confirm("t") == id)
            try await expectFile(service, of: id)
            let task = try await client.getTask(id)
            #expect(task.fileName == "mine.bin")
            #expect(task.priority == 3)
            #expect(task.referrer == "http://127.0.0.1/page")
            #expect(host.requests.map(\.target) == ["/x?y=z", "/x?y=z"])
            #expect(host.requests.map { $0["Cookie"] } == ["a=b", "a=b"])
            try await service.restartAfterKill()
            #expect(try await client.confirm("t") == id)
            #expect(try await client.listTasks().map(\.id) == [id])
        }
    }
}
