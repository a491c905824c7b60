// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Chains of redirects, and what their servers get to see.
@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
    /// A chain of `/20`, `/19`, …, `/0`, which is the file.
    private static func chain(_ request: RecordedRequest) -> [Step] {
        let number = Int(request.path.dropFirst()) ?? 0
        guard number > 0 else { return Sample.file.answer(to: request) }
        return redirect(to: "/\(number - 1)")
    }

    private static func redirect(to location: String, _ status: String = "302 Found") -> [Step] {
        [.head(status, [("Location", location), ("Content-Length", "5")]), .text("moved")]
    }

    @Test func `twenty redirects are followed`() async throws {
        try await withServer({ Self.chain($0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/20"))
                expectComplete(Sample.content, as: "0", site, journal)
                #expect(server.requests.count == 21)
            }
        }
    }

    @Test(arguments: [
        ("file:///etc/geheim", "redirects to file:, but idown only follows http and https"),
        ("data:,geheim", "redirects to data:, but idown only follows http and https"),
        ("ftp://geheim/", "redirects to ftp:, but idown only follows http and https"),
        ("https:///geheim", "redirects to something that is not a URL"),
        ("http://geheim:99999/", "redirects to something that is not a URL"),
    ])
    func `a target that is not followed is told by its scheme alone`(
        location: String,
        reason: String
    ) async throws {
        try await withServer({ _ in Self.redirect(to: location) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                let message = journal.record.failure?.message ?? ""
                #expect(message.contains(reason), "\(message)")
                #expect(!message.contains("geheim"), "\(message)")
            }
        }
    }

    @Test func `a chain of 21 redirects is too long`() async throws {
        try await withServer({ Self.chain($0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/21"))
                expectFailure(.serverTooManyRedirects, isTransient: false, site, journal)
                #expect(server.requests.count == 21)
                #expect(site.files.isEmpty)
            }
        }
    }

    @Test func `another place with the same tag goes on only where its bytes are the same`()
        async throws
    {
        for content in [Sample.content, Sample.replaced] {
            let other = ServedFile(content)
            try await withServer({ _ in Sample.file.cutOff() }) { first in
                try await withServer({ other.answer(to: $0) }) { second in
                    try await withServer({ request in
                        let place = request.number == 1 ? first : second
                        return Self.redirect(to: place.url("/file.bin"))
                    }) { home in
                        try await withSite { site in
                            let journal = try await site.download(home.url("/start"))
                            expectFailure(.serverTruncated, isTransient: true, site, journal)
                            try await site.run(journal)
                            expectComplete(content, site, journal)
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `another path of one host with the same tag goes on only where its bytes are the same`(
        isAfterRestart: Bool
    ) async throws {
        for content in [Sample.content, Sample.replaced] {
            let new = ServedFile(content)
            try await withServer({ request in
                switch request.path {
                case "/v1/file.bin": Sample.file.cutOff()
                case "/v2/file.bin": new.answer(to: request)
                default: Self.redirect(to: request.number == 1 ? "/v1/file.bin" : "/v2/file.bin")
                }
            }) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/start"))
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                    if isAfterRestart {
                        try await withSite(in: site.folder) { try await $0.run(journal) }
                    } else {
                        try await site.run(journal)
                    }
                    expectComplete(content, site, journal)
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `the tag of a target says nothing of the file at the task's own URL`(
        isAfterRestart: Bool
    ) async throws {
        let new = ServedFile(Sample.replaced)
        try await withServer({ request in
            if request.path == "/v1/file.bin" { return Sample.file.cutOff() }
            return request.number == 1
                ? Self.redirect(to: "/v1/file.bin") : new.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                expectFailure(.serverTruncated, isTransient: true, site, journal)
                if isAfterRestart {
                    try await withSite(in: site.folder) { try await $0.run(journal) }
                } else {
                    try await site.run(journal)
                }
                expectComplete(Sample.replaced, as: "file.bin", site, journal)
            }
        }
    }

    @Test func `a one-time token in the query costs no proof`() async throws {
        try await withServer({ request in
            guard request.path == "/file.bin" else {
                return Self.redirect(to: "/file.bin?token=\(request.number)")
            }
            return request.number == 2 ? Sample.file.cutOff() : Sample.file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.count == 4)
                #expect(server.requests.last?["Range"] == "bytes=\(Sample.cut)-")
            }
        }
    }

    @Test(arguments: [
        "301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect",
        "308 Permanent Redirect",
    ])
    func `every kind is followed`(status: String) async throws {
        try await withServer({ request in
            guard request.path != "/start" else { return Self.redirect(to: "/file.bin", status) }
            return Sample.file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test(arguments: [
        ("file.bin", "/a/b/file.bin"), ("../file.bin", "/a/file.bin"),
        ("../../../file.bin", "/file.bin"), ("/file.bin?q", "/file.bin?q"),
        ("./file.bin#part", "/a/b/file.bin"), ("//127.0.0.1:PORT/file.bin", "/file.bin"),
        ("http://127.0.0.1:PORT/x%20y/file.bin", "/x%20y/file.bin"),
        ("file.bin?a=ä", "/a/b/file.bin?a=%C3%A4"),
    ])
    func `a relative Location is read against the URL that it came from`(
        location: String,
        target: String
    ) async throws {
        try await withServer({ request in
            guard request.path != "/a/b/start" else {
                let port = request["Host"]?.split(separator: ":").last ?? ""
                return Self.redirect(to: location.replacing("PORT", with: port))
            }
            return Sample.file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/a/b/start"))
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.last?.target == target)
            }
        }
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://127.0.0.1/file.bin", "javascript:alert(1)", "data:,x",
        "http://", "http:///x", "http://127.0.0.1:99999/", "http://a b/", "\\\\host\\x",
        "gopher://127.0.0.1:1/",
    ])
    func `a redirect that leads nowhere good is not followed`(location: String) async throws {
        try await withServer({ _ in Self.redirect(to: location) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                expectFailure(.serverBadResponse, isTransient: false, site, journal)
                #expect(server.requests.count == 1)
                #expect(site.files.isEmpty)
            }
        }
    }

    @Test func `a redirect without Location is not followed`() async throws {
        try await withServer({ _ in [.head("302 Found", [("Content-Length", "0")])] }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                expectFailure(.serverBadResponse, isTransient: false, site, journal)
            }
        }
    }

    @Test func `nothing that the client gave reaches another origin`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { other in
            let target = other.url("/file.bin")
            try await withServer({ _ in Self.redirect(to: target) }) { server in
                try await withSite { site in
                    let url = "http://me:secret@127.0.0.1:\(server.port)/start?token=t"
                    let journal = try await site.download(url) { request in
                        request.headers = [
                            .init(name: "Authorization", value: "Bearer b"),
                            .init(name: "Cookie", value: "c=d"), .init(name: "X-Key", value: "k"),
                        ]
                        request.referrer = "http://example.org/page"
                    }
                    expectComplete(Sample.content, site, journal)
                    let first = await server.waitForRequest()
                    #expect(first["X-Key"] == "k")
                    #expect(first["Cookie"] == "c=d")
                    #expect(first["Referer"] == "http://example.org/page")
                    #expect(first["Authorization"] != nil)
                    let second = await other.waitForRequest()
                    let names = second.fields.map { $0.name.lowercased() }.sorted()
                    #expect(names == ["accept", "accept-encoding", "host", "user-agent"])
                }
            }
        }
    }

    @Test func `back at home they are given again`() async throws {
        let home = Mailbox()
        try await withServer({ _ in Self.redirect(to: home.text + "/file.bin") }) { other in
            let target = other.url("/elsewhere")
            try await withServer({ request in
                guard request.path == "/start" else { return Sample.file.answer(to: request) }
                return Self.redirect(to: target)
            }) { server in
                home.text = server.url("")
                try await withSite { site in
                    let journal = try await site.download(server.url("/start")) {
                        $0.headers = [.init(name: "X-Key", value: "k")]
                    }
                    expectComplete(Sample.content, site, journal)
                    #expect(server.requests.map { $0["X-Key"] } == ["k", "k"])
                    #expect(other.requests.map { $0["X-Key"] } == [nil])
                }
            }
        }
    }

    @Test func `within an origin they stay`() async throws {
        let answer = guarded { request in
            guard request.path != "/start" else { return Self.redirect(to: "/file.bin") }
            return Sample.file.answer(to: request)
        }
        try await withServer(answer) { server in
            try await withSite { site in
                let url = "http://me:secret@127.0.0.1:\(server.port)/start"
                let journal = try await site.download(url) {
                    $0.headers = [.init(name: "X-Key", value: "k")]
                }
                expectComplete(Sample.content, site, journal)
                // Once without the login, which nobody had asked for yet.
                #expect(server.requests.map { $0["X-Key"] } == ["k", "k", "k"])
                #expect(server.requests.dropFirst().allSatisfy { $0["Authorization"] != nil })
            }
        }
    }

    /// The file only for who comes back with a cookie, which the first answer sets.
    private static func gate(_ request: RecordedRequest) -> [Step] {
        guard request["Cookie"]?.contains("pass=1") != true else {
            return Sample.file.answer(to: request)
        }
        let fields = [
            ("Location", request.target), ("Set-Cookie", "pass=1; Path=/"), ("Content-Length", "0"),
        ]
        return [.head("302 Found", fields)]
    }

    @Test func `a server that wants its cookie back gets it`() async throws {
        try await withServer({ Self.gate($0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.map { $0["Cookie"] } == [nil, "pass=1"])
            }
        }
    }

    @Test func `its cookie stands beside the client's`() async throws {
        try await withServer({ Self.gate($0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.headers = [.init(name: "cookie", value: "own=2")]
                }
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.map { $0["Cookie"] } == ["own=2", "own=2; pass=1"])
            }
        }
    }

    @Test func `a cookie that the server sets anew takes the place of the client's`()
        async throws
    {
        let fields = [
            ("Set-Cookie", "sid=new; Path=/"), ("Set-Cookie", "trial=; Max-Age=0"),
            ("Content-Length", "0"),
        ]
        let server: @Sendable (RecordedRequest) -> [Step] = { request in
            guard request["Cookie"]?.contains("sid=old") == true else {
                return Sample.file.answer(to: request)
            }
            return [.head("302 Found", [("Location", request.target)] + fields)]
        }
        try await withServer({ server($0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.cookies = "sid=old; trial=1; lang=de"
                }
                expectComplete(Sample.content, site, journal)
                let sent = server.requests.map { $0["Cookie"] }
                #expect(sent == ["sid=old; trial=1; lang=de", "trial=1; lang=de; sid=new"])
            }
        }
    }

    @Test func `no other host gets the cookie of a redirect`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { other in
            let target = "http://localhost:\(other.port)/file.bin"
            try await withServer({ _ in
                let fields = [
                    ("Location", target), ("Set-Cookie", "pass=1"), ("Content-Length", "0"),
                ]
                return [.head("302 Found", fields)]
            }) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectComplete(Sample.content, site, journal)
                    #expect(other.requests.map { $0["Cookie"] } == [nil])
                }
            }
        }
    }

    @Test func `the body of a redirect is not read to its end`() async throws {
        try await withServer({ request in
            guard request.path == "/start" else { return Sample.file.answer(to: request) }
            return [
                .head("302 Found", [("Location", "/file.bin")]),
                .sendForever([UInt8](repeating: 0, count: 10_000)),
            ]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a redirect whose body never ends is followed at once`() async throws {
        try await withServer({ request in
            guard request.path == "/start" else { return Sample.file.answer(to: request) }
            return [.head("302 Found", [("Location", "/file.bin")]), .stall]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `all headers of a chain count for the limit`() async throws {
        let filler = ("X-Filler", String(repeating: "y", count: 60_000))
        try await withServer({ request in
            let number = Int(request.path.dropFirst()) ?? 0
            let length = ("Content-Length", "0")
            return [.head("302 Found", [("Location", "/\(number + 1)"), length, filler])]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/0"))
                expectFailure(.serverBadResponse, isTransient: false, site, journal)
                #expect(server.requests.count == 6)
            }
        }
    }

    @Test func `an interrupted download goes through its redirects again`() async throws {
        try await withServer({ request in
            guard request.path == "/file.bin" else { return Self.redirect(to: "/file.bin") }
            return request.number == 2 ? Sample.file.cutOff() : Sample.file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                #expect(journal.record.failure?.code == .serverTruncated)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                let paths = server.requests.map(\.path)
                #expect(paths == ["/start", "/file.bin", "/start", "/file.bin"])
                #expect(server.requests.last?["Range"] == "bytes=\(Sample.cut)-")
            }
        }
    }
}
