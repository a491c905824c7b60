// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownState
import iDownTesting
import iDownloader

/// What breaks on the way, and under which code it is reported.
@Suite(.timeLimit(.minutes(5))) struct TransferFailureTests {
    /// One answer, one attempt.
    private func download(
        _ steps: [Step],
        check: (Site, RecordingJournal) throws -> Void
    ) async throws {
        try await withServer({ _ in steps }) { server in
            try await withSite { site in
                try check(site, try await site.download(server.url("/file.bin")))
            }
        }
    }

    // MARK: The line

    @Test func `a port that nobody listens at`() async throws {
        let server = try FaultServer.serving(Sample.file)
        server.stop()
        try await withSite { site in
            let journal = try await site.download(server.url("/file.bin"))
            expectFailure(.networkUnreachable, isTransient: true, site, journal)
            #expect(journal.kinds == [.failed])
        }
    }

    @Test func `a host that nobody knows`() async throws {
        try await withSite { site in
            let journal = try await site.download("http://idown-test.invalid/file.bin")
            expectFailure(.networkDNS, isTransient: true, site, journal)
        }
    }

    @Test func `a proxy that is not found or not reached is named, without its login`()
        async throws
    {
        let closed = "127.0.0.1:\(try FreePort.find())"
        let rows: [(proxy: String, shown: String, code: FailureCode)] = [
            ("http://me:geheim@idown-test.invalid", "idown-test.invalid:1080", .networkDNS),
            ("socks5h://me:geheim@idown-test.invalid:9", "idown-test.invalid:9", .networkDNS),
            ("http://me:geheim@\(closed)", closed, .networkUnreachable),
            ("https://me:geheim@\(closed)", closed, .networkUnreachable),
            ("socks5h://me:geheim@\(closed)", closed, .networkUnreachable),
        ]
        for row in rows {
            var network = NetworkConfiguration()
            network.proxies = ProxyRules(proxy: row.proxy, exceptions: "")
            try await withSite(network: network) { site in
                let journal = try await site.download("http://nowhere.test/file.bin")
                expectFailure(row.code, isTransient: true, site, journal)
                let message = journal.record.failure?.message ?? ""
                #expect(message.contains("The proxy \(row.shown) "), "\(message)")
                let history = site.engine.history(of: journal.record.id)
                let asked = history.filter { $0.what == .asked }
                #expect(asked.map { $0.details["via"] } == [.text(row.shown)])
                #expect(!"\(message) \(history)".contains("geheim"))
            }
        }
    }

    @Test func `for a proxy that no download can use, the message says how to set another`()
        async throws
    {
        var network = NetworkConfiguration()
        network.proxies = ProxyRules(proxy: "ftp://h", exceptions: "")
        try await withSite(network: network) { site in
            let journal = try await site.download("http://nowhere.test/file.bin")
            expectFailure(.networkUnreachable, isTransient: false, site, journal)
            let message = journal.record.failure?.message ?? ""
            #expect(message.contains("`idown config proxy URL`"), "\(message)")
        }
    }

    @Test(arguments: [Step.close, .reset])
    func `a connection that ends without an answer`(end: Step) async throws {
        try await download([end]) { site, journal in
            expectFailure(.networkReset, isTransient: true, site, journal)
            #expect(site.files.isEmpty)
        }
    }

    @Test func `a reset in mid-body keeps what came`() async throws {
        // A reset throws away what is still on its way, so it waits until all has come.
        let hasCome = Gate()
        try await withServer({ request in
            guard request.number == 1 else { return Sample.file.answer(to: request) }
            return Sample.file.cutOff().dropLast() + [.wait(for: hasCome), .reset]
        }) { server in
            try await withSite(checkpointInterval: .milliseconds(1)) { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await journal.waitUntil { $0.segments.byteCount == Sample.cut }
                hasCome.open()
                await transfer.ended()
                expectFailure(.networkReset, isTransient: true, site, journal)
                let message = journal.record.failure?.message ?? ""
                #expect(message.hasPrefix("The connection broke ("), "\(message)")
                expectTrueClaims(Sample.content, site, journal)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.last?["Range"] == "bytes=\(Sample.cut)-")
            }
        }
    }

    @Test func `a body shorter than its length keeps what came`() async throws {
        try await download(Sample.file.cutOff()) { site, journal in
            expectFailure(.serverTruncated, isTransient: true, site, journal)
            let message = journal.record.failure?.message ?? ""
            #expect(message.hasPrefix("The server's answer ended too early ("), "\(message)")
            #expect(journal.kinds == [.opened, .checkpointed, .failed])
            #expect(journal.record.segments.prefixLength == Sample.cut)
            expectTrueClaims(Sample.content, site, journal)
        }
    }

    @Test func `a server without ranges that always breaks off is not asked for ever`()
        async throws
    {
        var file = Large.file
        file.acceptsRanges = false
        let (served, cut) = (file, 2 * RetryPolicy.progress)
        try await withServer({ _ in served.cutOff(at: cut) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) { $0.retryFor = 100 }
                journal.waitLongest()
                var attempts: UInt32 = 0
                repeat {
                    try await site.run(journal)
                    attempts += 1
                } while journal.record.state.kind == .waiting && attempts < 20
                #expect(journal.record.state == .failed)
                #expect(journal.record.failure?.code == .serverTruncated)
                #expect(attempts == RetryPolicy.tries)
                expectTrueClaims(Large.content, site, journal)
            }
        }
    }

    @Test func `a length without a body is a truncated one`() async throws {
        let steps: [Step] = [.head("200 OK", [("Content-Length", "5")]), .close]
        try await download(steps) { site, journal in
            expectFailure(.serverTruncated, isTransient: true, site, journal)
        }
    }

    // MARK: Statuses

    @Test(
        arguments: [
            (404, .serverNotFound, false), (410, .serverNotFound, false),
            (403, .serverForbidden, false), (451, .serverForbidden, false),
            (401, .serverAuthRequired, false), (407, .serverAuthRequired, false),
            (408, .serverBusy, true), (425, .serverBusy, true), (429, .serverBusy, true),
            (503, .serverBusy, true), (416, .serverRangeRefused, false),
            (500, .serverFailed, true), (502, .serverFailed, true), (504, .serverFailed, true),
            (520, .serverFailed, true), (529, .serverFailed, true), (501, .serverFailed, false),
            (505, .serverFailed, false), (400, .serverBadResponse, false),
        ] as [(Int, FailureCode, Bool)]
    )
    func `a status that says no`(
        status: Int,
        code: FailureCode,
        isTransient: Bool
    ) async throws {
        for body in ["", "<html>no</html>"] {
            let fields = [("Content-Length", "\(body.utf8.count)"), ("ETag", "\"v1\"")]
            try await download([.head("\(status) No", fields), .text(body)]) { site, journal in
                expectFailure(code, isTransient: isTransient, site, journal)
                #expect(site.files.isEmpty)
                #expect(journal.kinds == [.failed])
            }
        }
    }

    @Test func `a cookie file that cannot be read is told, and fails only what is refused`()
        async throws
    {
        try await withTemporaryFolder { home in
            try TestFile.write("", to: home + "/cookies")
            let own = HeaderField(name: "cookie", value: "a=b")
            let rows: [(status: Int, file: String, headers: [HeaderField], isTold: Bool)] = [
                (403, "none", [], true), (401, "none", [], true), (200, "none", [], false),
                (500, "none", [], false), (403, "cookies", [], false), (403, "none", [own], false),
            ]
            for row in rows {
                var network = NetworkConfiguration()
                network.cookieFile = "\(home)/\(row.file)"
                try await withServer({ request in
                    row.status == 200
                        ? Sample.file.answer(to: request)
                        : [.head("\(row.status) No", [("Content-Length", "0")])]
                }) { server in
                    try await withSite(network: network) { site in
                        let journal = try await site.download(server.url("/file.bin")) {
                            $0.headers = row.headers
                        }
                        #expect((journal.record.failure == nil) == (row.status == 200))
                        let message = journal.record.failure?.message ?? ""
                        #expect(message.contains("cookie file") == row.isTold, "\(message)")
                        let started = site.engine.history(of: journal.record.id).first
                        let isMissing =
                            row.status != 200 && row.file == "none" && row.headers.isEmpty
                        #expect((started?.details["cookies"] == .text("missing")) == isMissing)
                    }
                }
            }
        }
    }

    @Test func `a status whose body never ends is taken at once`() async throws {
        try await download([.head("404 Not Found"), .stall]) { site, journal in
            expectFailure(.serverNotFound, isTransient: false, site, journal)
        }
    }

    @Test func `a wish to be left alone is kept`() async throws {
        let fields = [("Retry-After", "120"), ("Content-Length", "0")]
        try await download([.head("503 Busy", fields)]) { _, journal in
            #expect(journal.record.failure?.retryAfter == .seconds(120))
            let retry = RecordingJournal.now.advanced(by: .seconds(120))
            #expect(journal.record.state == .waiting(.retry(at: retry)))
        }
    }

    @Test(arguments: ["", "making it"])
    func `a file that is still being made is asked for again, and no other one waits`(
        body: String
    ) async throws {
        let fields = [("Retry-After", "120"), ("Content-Length", "\(body.utf8.count)")]
        try await withServer({ request in
            request.number == 1
                ? [.head("202 Accepted", fields), .text(body)] : Sample.file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectFailure(.serverBusy, isTransient: true, site, journal)
                #expect(journal.record.failure?.message.contains("202 Accepted") == true)
                let retry = RecordingJournal.now.advanced(by: .seconds(120))
                #expect(journal.record.state == .waiting(.retry(at: retry)))
                site.engine.hosts.restoreRest(from: journal.record, at: RecordingJournal.now)
                #expect(site.engine.hosts.rests.isEmpty)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a date is taken against the answer's own`() async throws {
        let fields = [
            Sample.date, ("Retry-After", "Sat, 21 Nov 2026 09:01:30 GMT"), ("Content-Length", "0"),
        ]
        try await download([.head("429 Too Many Requests", fields)]) { _, journal in
            #expect(journal.record.failure?.retryAfter == .seconds(90))
        }
    }

    @Test func `a date without the answer's own is taken against our clock`() async throws {
        let fields = [("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), ("Content-Length", "0")]
        try await download([.head("503 Busy", fields)]) { site, journal in
            expectFailure(.serverBusy, isTransient: true, site, journal)
            #expect(journal.record.failure?.retryAfter == .seconds(3600))
        }
    }

    @Test(arguments: [(86_400, true), (86_401, false)])
    func `a wish beyond the task's own time is not waited for`(
        seconds: Int,
        isTransient: Bool
    ) async throws {
        let fields = [("Retry-After", "\(seconds)"), ("Content-Length", "0")]
        try await download([.head("503 Busy", fields)]) { site, journal in
            expectFailure(.serverBusy, isTransient: isTransient, site, journal)
            #expect(site.engine.hosts.rests.isEmpty == !isTransient)
        }
    }

    @Test func `a host that is busy for all tasks is left alone, without a wish`() async throws {
        let busy = [Step.head("429 Too Many Requests", [("Content-Length", "0")])]
        try await withServer({ request in
            request.path == "/file.bin" ? Sample.file.answer(to: request) : busy
        }) { server in
            try await withSite { site in
                let most = HostRests.patience
                for path in (1...most).map({ "/\($0)" }) + ["/file.bin"] {
                    _ = try await site.download(server.url(path))
                }
                // One was served in between.
                for _ in 1...most { _ = try await site.download(server.url("/again")) }
                #expect(site.engine.hosts.rests.isEmpty)
                _ = try await site.download(server.url("/last"))
                #expect(site.engine.hosts.rests.count == 1)
                let count = server.requests.count
                let held = try await site.download(server.url("/held"))
                #expect(held.record.tries == 0)
                #expect(held.record.failure == nil)
                #expect(server.requests.count == count)
            }
        }
    }

    @Test func `a server that announces more than it has is given up`() async throws {
        let end = Sample.content.count - 10
        let refusal = [("Content-Range", "bytes */\(end)"), ("Content-Length", "0")]
        try await withServer({ request in
            request["Range"] == nil
                ? Sample.file.cutOff(at: end)
                : [.head("416 Range Not Satisfiable", Sample.file.fieldsOfAnswer + refusal)]
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                for _ in 1...RetryPolicy.tries {
                    try await site.run(journal)
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                }
                try await site.run(journal)
                expectFailure(.serverTruncated, isTransient: false, site, journal)
                #expect(journal.record.segments.prefixLength == end)
                #expect(server.requests.count { $0["Range"] == nil } == RetryPolicy.tries + 1)
            }
        }
    }

    @Test(arguments: [404, 451, 500, 503])
    func `a status in mid-download leaves the bytes alone`(status: Int) async throws {
        try await withServer({ request in
            switch request.number {
            case 1: Sample.file.cutOff()
            case 2: [.head("\(status) No", [("Content-Length", "7")]), .text("no file")]
            default: Sample.file.answer(to: request)
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                try await site.run(journal)
                #expect(journal.record.failure != nil)
                #expect(journal.record.segments.prefixLength == Sample.cut)
                expectTrueClaims(Sample.content, site, journal)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.last?["Range"] == "bytes=\(Sample.cut)-")
            }
        }
    }

    @Test(arguments: [421, 500, 503])
    func `the next try does not ask the server that has failed over the same connection`(
        status: Int
    ) async throws {
        try await withServer({ request in
            request.connection == 1
                ? [.head("\(status) No", [("Content-Length", "0")])]
                : Sample.file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                #expect(journal.record.state.isBackOff)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    // MARK: Secrets

    @Test(arguments: ["/missing", "/close", "/elsewhere"])
    func `no sentence repeats a secret`(target: String) async throws {
        try await withServer({ request in
            switch request.path {
            case "/missing": [.head("404 Not Found", [("Content-Length", "0")])]
            case "/close": [.close]
            default:
                [
                    .head(
                        "302 Found",
                        [("Location", "ftp://x:secret@h/?secret"), ("Content-Length", "0")]
                    )
                ]
            }
        }) { server in
            try await withSite { site in
                let url = "http://me:secret@127.0.0.1:\(server.port)\(target)?token=secret"
                let journal = try await site.download(url) {
                    $0.headers = [.init(name: "X-Key", value: "secret")]
                }
                let failure = try #require(journal.record.failure)
                #expect(!failure.message.contains("secret"))
                #expect(!failure.message.isEmpty)
            }
        }
    }
}
