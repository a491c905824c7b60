// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// The option `cookies`: for the URL's own server alone, and forgotten with the task.
@Suite(.timeLimit(.minutes(3)))
struct CookieTests {
    private static let secret = "session=plaetzchen42"

    /// The names of the list's files that hold the secret.
    private func filesWithSecret(of service: ServiceUnderTest) -> [String] {
        let secret = Array(Self.secret.utf8)
        return TestFile.names(in: service.home.state).filter { name in
            let path = service.home.state + "/" + name
            guard let bytes = try? TestFile.bytes(of: path) else { return false }
            return bytes.firstRange(of: secret) != nil
        }
    }

    private func waitForErasure(_ what: String, of service: ServiceUnderTest) async throws {
        try await soon("no file to hold the cookies: \(what)") {
            filesWithSecret(of: service).isEmpty
        }
    }

    @Test func `cookies go to the URL's own origin alone`() async throws {
        let content = TestContent(seed: 300, count: 20_000)
        let elsewhere = try ChangingHost(ServedFile(content))
        defer { elsewhere.stop() }
        let target = elsewhere.url("/target.bin")
        let origin = try FaultServer(
            script: .init { request in
                let next = request.path == "/start" ? "/second" : target
                return [.head("302 Found", [("Location", next), ("Content-Length", "0")])]
            }
        )
        defer { origin.stop() }
        try await withService { service in
            let id = try await service.add(origin.url("/start")) { options in
                options.cookies = Self.secret
                options.headers = [.init(name: "cookie", value: "a=b")]
            }
            try await service.waitForState("completed", of: id)
            #expect(
                origin.requests.map { $0["Cookie"] } == [
                    "a=b; \(Self.secret)", "a=b; \(Self.secret)",
                ]
            )
            #expect(elsewhere.server.requests.map { $0["Cookie"] } == [nil])
            #expect(!service.log.contains(Self.secret))
        }
    }

    @Test func `cookies are sent again after a kill`() async throws {
        let host = try ChangingHost(.held(TestContent(seed: 301, count: 1 << 20), after: 10_000))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host) { $0.cookies = Self.secret }
            await host.server.waitForRequest()
            #expect(!filesWithSecret(of: service).isEmpty)
            host.change { $0.hold = nil }
            try await service.restartAfterKill()
            try await service.waitForState("completed", of: id)
            #expect(host.server.requests.map { $0["Cookie"] } == [Self.secret, Self.secret])
            // What the killed service has written is erased as well.
            try await waitForErasure("completed", of: service)
        }
    }

    @Test func `edit gives a download cookies, by text or by a file`() async throws {
        let host = try ChangingHost(ServedFile(TestContent(seed: 302, count: 1000)))
        defer { host.stop() }
        try await withService { service in
            let file = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tabc\n"
            try TestFile.write(file, to: service.home.path + "/cookies.txt")
            for (options, cookie) in [
                (["--cookie", "a=1; b=2"], "a=1; b=2"), (["-b", "cookies.txt"], "session=abc"),
                (["--load-cookies", "-"], "session=abc"), (["--cookie", ""], nil),
            ] as [([String], String?)] {
                let id = try await service.add(host.url("/\(options)")) { $0.paused = true }
                let edited = try await idown(["edit", id] + options, in: service, input: file)
                #expect(edited.status == .exited(0), "\(edited)")
                try await service.client.resume(id)
                try await service.waitForState("completed", of: id)
                #expect(host.server.requests.last?["Cookie"] == cookie, "\(options)")
            }
            let stranger = try await service.add("http://localhost:9/x") { $0.paused = true }
            let none = try await idown("edit", stranger, "-b", "cookies.txt", in: service)
            #expect(none.status == .exited(6), "\(none)")
            let twice = ["edit", "1", "--load-cookies", "-", "-H", "@-"]
            #expect(try await idown(twice, in: service).status == .exited(64))
        }
    }

    @Test func `when a task has ended, its cookies are in no file of the list`() async throws {
        let host = try FaultServer(
            script: .init { _ in [.head("404 Not Found", [("Content-Length", "0")])] }
        )
        defer { host.stop() }
        let held = try ChangingHost(.held(TestContent(seed: 302, count: 1 << 20), after: 10_000))
        defer { held.stop() }
        try await withService { service in
            let failed = try await service.add(host.url("/gone")) { $0.cookies = Self.secret }
            try await service.waitForState("failed", of: failed)
            try await waitForErasure("failed", of: service)

            for verb in ["cancel", "remove"] {
                let id = try await service.addHeld(on: held, "/\(verb)") {
                    $0.cookies = Self.secret
                }
                #expect(!filesWithSecret(of: service).isEmpty)
                if verb == "cancel" {
                    try await service.client.cancel(id)
                } else {
                    try await service.client.remove(id)
                }
                try await waitForErasure(verb, of: service)
            }
        }
    }

    @Test func `another server's URL takes the cookies away`() async throws {
        let content = TestContent(seed: 303, count: 20_000)
        let (first, second) = (
            try ChangingHost(ServedFile(content)), try ChangingHost(ServedFile(content))
        )
        defer {
            first.stop()
            second.stop()
        }
        try await withService { service in
            let id = try await service.add(first.url("/a")) { options in
                options.cookies = Self.secret
                options.paused = true
            }
            // The same server's keeps them.
            try await service.client.setURL(id, to: first.url("/b"))
            #expect(!filesWithSecret(of: service).isEmpty)
            try await service.client.setURL(id, to: second.url("/c"))
            try await waitForErasure("SetURL", of: service)
            try await service.client.resume(id)
            try await service.waitForState("completed", of: id)
            #expect(second.server.requests.map { $0["Cookie"] } == [nil])
        }
    }
}
