// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// What servers say of a file before anything is added.
@Suite(.timeLimit(.minutes(2)))
struct ProbeTests {
    private let content = TestContent(seed: 310, count: 3 << 20)

    /// Redirects `/start` to the file, has `/gone` gone, and never answers `/silent`.
    private func host() throws -> FaultServer {
        let content = content
        return try FaultServer(
            script: .init { request in
                switch request.path {
                case "/start":
                    [.head("302 Found", [("Location", "/file.bin"), ("Content-Length", "0")])]
                case "/gone": [.head("404 Not Found", [("Content-Length", "0")])]
                case "/silent": [.stall]
                default: ServedFile(content).answer(to: request)
                }
            }
        )
    }

    @Test func `a file is described by one request and its redirects, and nothing is added`()
        async throws
    {
        let host = try host()
        defer { host.stop() }
        try await withService { service in
            let before = try await Traces.of(service)
            var options = AddOptions()
            options.cookies = "a=b"
            options.directory = service.home.download("never-made")
            let file = try await service.client.probe(host.url("/start?q"), options: options)
            #expect(file.name == "file.bin")
            #expect(file.size == 3 << 20)
            #expect(file.resumable)
            #expect(file.url == host.url("/file.bin"))
            #expect(host.requests.map(\.path) == ["/start", "/file.bin"])
            #expect(host.requests.map { $0["Cookie"] } == ["a=b", "a=b"])
            #expect(try await Traces.of(service) == before)
            // Ids are given as if nobody had asked.
            let id = try await service.add(host.url("/x")) { $0.paused = true }
            #expect(id == "1")
        }
    }

    @Test func `what fails is told by the code that a task would have`() async throws {
        let host = try host()
        defer { host.stop() }
        try await withService { service in
            do {
                _ = try await service.client.probe(host.url("/gone"))
                Issue.record("a missing file was described")
            } catch let error as ManagerError {
                #expect(error.code == .requestFailed)
                #expect(error.failureCode == "Server.NotFound")
                #expect(!error.message.contains("idown edit"), "\(error.message)")
            }
            do {
                _ = try await service.client.probe("http://127.0.0.1:1/x")
                Issue.record("a host that does not listen was described")
            } catch let error as ManagerError {
                #expect(error.failureCode == "Network.Unreachable")
            }
            #expect(
                await refusal { _ = try await service.client.probe("x:y") } == .unsupportedScheme
            )
            #expect(try await service.client.listTasks().isEmpty)
        }
    }

    @Test func `the command's answers stand at the places of their URLs`() async throws {
        let host = try host()
        defer { host.stop() }
        try await withService { service in
            let urls = ["/gone", "/file.bin"].map(host.url)
            let probed = try await idown(["get", "--probe", "--json"] + urls, in: service)
            #expect(probed.status == .exited(11), "\(probed)")
            let names = "x[0], x[1]['name'], len(x)"
            #expect(try await evaluate(names, of: probed.standardOutput) == "None file.bin 2")
            let folder = try await idown("get", "--probe", "-d", "x", urls[1], in: service)
            #expect(folder.status == .exited(64), "\(folder)")
        }
    }

    @Test func `one client may wait for four servers at once`() async throws {
        let host = try host()
        defer { host.stop() }
        try await withService { service in
            let client = service.client
            let pending = (0..<4).map { _ in
                Task { try await client.probe(host.url("/silent")) }
            }
            await host.waitForRequest(count: 4)
            let code = await refusal { _ = try await client.probe(host.url("/file.bin")) }
            #expect(code == .limitExceeded)
            // Whoever waits does not hold up the end of the service.
            _ = try await service.terminate()
            for call in pending {
                await #expect(throws: ManagerError.self) { try await call.value }
            }
        }
    }

    @Test func `who leaves the bus waits for no server any more`() async throws {
        let host = try host()
        defer { host.stop() }
        try await withService { service in
            let address = service.bus.address
            for number in 1...4 {
                let client = try await ManagerClient.connect(to: .address(address))
                let pending = (0..<4).map { _ in
                    Task { try await client.probe(host.url("/silent")) }
                }
                await host.waitForRequest(count: number * 4)
                await client.close()
                for call in pending {
                    await #expect(throws: ManagerError.self) { try await call.value }
                }
            }
            try await soon("room for another question") {
                (try? await service.client.probe(host.url("/file.bin"))) != nil
            }
        }
    }

    @Test func `idown get --probe prints what the servers say`() async throws {
        let host = try host()
        defer { host.stop() }
        try await withService { service in
            let shown = try await idown("get", "--probe", host.url("/start"), in: service)
            #expect(shown.succeeded, "\(shown.standardError)")
            #expect(shown.standardOutput.contains("Name:       file.bin\n"))
            #expect(shown.standardOutput.contains("(3145728 bytes)"))
            let json = try await idown(
                "get",
                "--probe",
                "--json",
                host.url("/start"),
                in: service
            )
            #expect(json.standardOutput.contains("\"size\""))
            #expect(json.standardOutput.contains("3145728"))
            let gone = try await idown("get", "--probe", host.url("/gone"), in: service)
            #expect(gone.status == .exited(11), "\(gone)")
            #expect(gone.standardError.contains("Server.NotFound"))
            let named = ["get", "--probe", "-o", "mine.bin", host.url("/start")]
            let mine = try await idown(named, in: service)
            #expect(mine.standardOutput.contains("Name:       mine.bin\n"), "\(mine)")
            for option in ["--when-done=open", "--priority=1", "--on-existing=fail"] {
                let refused = try await idown("get", "--probe", option, host.url(), in: service)
                #expect(refused.status == .exited(64), "\(refused)")
                #expect(refused.standardError.contains(option.prefix { $0 != "=" }), "\(refused)")
            }
            #expect(try await service.client.listTasks().isEmpty)
        }
    }
}
