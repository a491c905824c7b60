// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// Proxies and logins as the user's environment, home and settings have them.
@Suite(.timeLimit(.minutes(2)))
struct UserNetworkTests {
    private let content = TestContent(seed: 61, count: 50_000)

    private func write(_ settings: String, for service: ServiceUnderTest) throws {
        mkdir(service.home.config + "/idown", 0o700)
        try TestFile.write(settings, to: service.home.config + "/idown/settings.json")
    }

    @Test func `the proxy of the environment is used, and that of the settings goes first`()
        async throws
    {
        let file = ServedFile(content)
        let askFirst = guarded(as: .proxy) { file.answer(to: $0) }
        let proxy = try FaultServer(
            script: .init { request in
                // Without a host in the target it is no proxy that is asked.
                request.target.hasPrefix("/") ? file.answer(to: request) : askFirst(request)
            }
        )
        let preferred = try FaultServer(script: .init(askFirst))
        defer {
            proxy.stop()
            preferred.stop()
        }
        let login = "me:geheim@127.0.0.1"
        let environment = ["env", "http_proxy=http://\(login):\(proxy.port)"]
        try await withService(started: false) { service in
            try await service.start(under: environment)
            let first = try await service.add("http://nowhere.test/first")
            try await service.waitForState("completed", of: first)
            #expect(Set(proxy.requests.map(\.target)) == ["http://nowhere.test/first"])
            #expect(proxy.requests.last?["Proxy-Authorization"] != nil)
            _ = try await service.terminate()

            try write("{\"Proxy\": \"http://\(login):\(preferred.port)\"}", for: service)
            try await service.start(under: environment)
            let second = try await service.add("http://nowhere.test/second")
            try await service.waitForState("completed", of: second)
            #expect(Set(preferred.requests.map(\.target)) == ["http://nowhere.test/second"])
            // A change by the service keeps what the user wrote.
            try await service.client.set(.maxConcurrentDownloads, to: .number(2))
            _ = try await service.terminate()
            let kept = try TestFile.text(of: service.home.config + "/idown/settings.json")
            #expect(kept.contains(login))

            try write("{\"Proxy\": \"\"}", for: service)
            try await service.start(under: environment)
            let third = try await service.add(proxy.url("/third"))
            try await service.waitForState("completed", of: third)
            #expect(proxy.requests.last?.target == "/third")
            #expect(!service.log.contains("geheim"))
        }
    }

    @Test func `a proxy, cookies and a level of the log that are changed are followed`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(content))
        let proxy = try FaultServer.serving(ServedFile(content))
        defer {
            server.stop()
            proxy.stop()
        }
        try await withService(started: false) { service in
            // The number tells when what was written beside it is in force.
            func change(_ settings: String, number: Int) async throws {
                let mark = service.signals.count
                try write("{\"MaxConcurrentDownloads\": \(number), \(settings)}", for: service)
                try await service.signals.first(after: mark, "settings \(number)") { signal in
                    signal.member == "PropertiesChanged"
                        && "\(signal.arguments)".contains("MaxConcurrentDownloads")
                }
            }
            func download(_ url: String) async throws {
                let id = try await service.add(url)
                try await service.waitForState("completed", of: id)
            }
            let cookies = service.home.path + "/cookies.txt"
            try TestFile.write("nowhere.test\tFALSE\t/\tFALSE\t0\tkept\tgeheim\n", to: cookies)
            try write(#"{"LogLevel": "error"}"#, for: service)
            try await service.start()
            try await download(server.url("/first"))
            #expect(!service.log.contains("completed"))

            let first = #""Proxy": "http://127.0.0.1:\#(proxy.port)", "LogLevel": "info""#
            try await change(first + #", "CookieFile": "\#(cookies)""#, number: 4)
            try await download("http://nowhere.test/second")
            #expect(proxy.requests.map(\.target) == ["http://nowhere.test/second"])
            #expect(proxy.requests.first?["Cookie"] == "kept=geheim")
            try await service.waitForLog("completed")
            let told = service.log
            #expect(!told.contains("geheim"))

            try await change(
                first.replacing("info", with: "error") + #", "NoProxy": "127.0.0.1""#,
                number: 5
            )
            try await download(server.url("/third"))
            #expect(proxy.requests.count == 1)
            #expect(server.requests.last?.target == "/third")
            #expect(!service.log.dropFirst(told.count).contains("completed"))

            try await change(#""Proxy": """#, number: 6)
            try await download(server.url("/fourth"))
            #expect(proxy.requests.count == 1)
        }
    }

    @Test func `netrc and the cookie file serve the host, and are told to nobody`() async throws {
        let file = ServedFile(content)
        let server = try FaultServer(script: .init(guarded { file.answer(to: $0) }))
        defer { server.stop() }
        try await withService(started: false) { service in
            let cookies = service.home.path + "/cookies.txt"
            try TestFile.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tkept\tgeheim\n", to: cookies)
            try TestFile.write(
                "machine 127.0.0.1 login me password geheim\n",
                to: service.home.path + "/.netrc"
            )
            try write("{\"CookieFile\": \"\(cookies)\"}", for: service)
            try await service.start()
            let id = try await service.add(server.url("/file.bin"))
            try await service.waitForState("completed", of: id)
            let seen = await server.waitForRequest(count: 2)
            #expect(seen["Authorization"] == "Basic bWU6Z2VoZWlt")
            #expect(seen["Cookie"] == "kept=geheim")
            #expect(!service.log.contains("geheim"))
            let told = service.signals.signals.filter { "\($0)".contains("geheim") }
            #expect(told.isEmpty)
        }
    }
}
