// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// What happened in the attempts of a download, as the command and scripts see it.
@Suite(.timeLimit(.minutes(2)))
struct AttemptHistoryTests {
    private static let content = TestContent(seed: 71, count: 600_000)

    @Test func `the history tells of requests, answers and the end, and no secret`()
        async throws
    {
        let file = ServedFile(Self.content)
        let host = try FaultServer(
            script: .init { request in
                request.number == 1
                    ? [.head("302 Found", [("Location", "/next?key=hidden")])]
                    : request.number == 2 ? file.cutOff(at: 300_000) : [.head("404 Gone", [])]
            }
        )
        defer { host.stop() }
        try await withService { service in
            let id = try await service.add(host.url("/file.bin?token=hidden")) {
                $0.headers = [.init(name: "X-Key", value: "hidden")]
            }
            #expect(try await service.client.wait(for: id) == .failed)
            let entries = try await service.client.history(of: id)
            let what = entries.map(\.what)
            for word in ["started", "asked", "answered", "ended", "failed"] {
                #expect(what.contains(word), "\(what)")
            }
            #expect(entries.first?.what == "started")
            #expect(entries.last?.what == "failed")
            #expect(entries.last?.details["error"] == .string("Server.NotFound"))
            let decisions = entries.compactMap { $0.details["decision"] }
            #expect(
                decisions.starts(with: [.string("redirect"), .string("begin")]),
                "\(decisions)"
            )
            #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.time <= $1.time })
            let shown = try await idown("explain", "--history", id, in: service)
            #expect(shown.succeeded)
            #expect(shown.standardOutput.split(separator: "\n").count == entries.count)
            #expect(shown.standardOutput.contains("decision=redirect"))
            #expect(!shown.standardOutput.contains("hidden"))
            let json = try await idown("explain", "--history", "--json", id, in: service)
            let count = try await evaluate("len(x['\(id)'])", of: json.standardOutput)
            #expect(count == "\(entries.count)")
        }
    }

    @Test func `a running download tells its connections, a completed one has no history`()
        async throws
    {
        let held = try ChangingHost(.held(Self.content))
        defer { held.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: held, "/running.bin")
            let script = """
                import dbus
                bus = dbus.SessionBus()
                manager = dbus.Interface(
                    bus.get_object('org.idown.Manager1', '/org/idown/Manager1'),
                    'org.idown.Manager1')
                for c in manager.GetConnections('\(id)'):
                    print(c['host'], c['protocol'], c['first'], c['length'], type(c['speed']).__name__)
                """
            let connections = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", script],
                environment: service.environment
            )
            #expect(connections.standardOutput == "127.0.0.1 http/1.1 0 -1 UInt64")
            held.letGo()
            #expect(try await service.client.wait(for: id) == .completed)
            #expect(try await service.client.history(of: id).isEmpty)
            let error = await refusal { _ = try await service.client.history(of: "99") }
            #expect(error == .noSuchTask)
        }
    }
}
