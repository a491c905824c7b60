// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// A settings file with a mistake must not lead a download past the user's proxy.
@Suite(.timeLimit(.minutes(5)))
struct WrongSettingsTests {
    private static let file = ServedFile(TestContent(seed: 21, count: 50_000))

    private func path(_ service: ServiceUnderTest) -> String {
        service.home.config + "/idown/settings.json"
    }

    private func write(_ settings: String, for service: ServiceUnderTest) throws {
        mkdir(service.home.config + "/idown", 0o700)
        try TestFile.write(settings, to: path(service))
    }

    /// A host that nobody may reach directly, a proxy that leads to it, and a service that does not
    /// run yet.
    private func withProxy(
        _ body: (ServiceUnderTest, _ host: FaultServer, _ proxy: FaultServer) async throws -> Void
    ) async throws {
        let host = try FaultServer.serving(Self.file)
        let proxy = try FaultServer.serving(Self.file)
        defer {
            host.stop()
            proxy.stop()
        }
        try await withService(started: false) { service in
            try await body(service, host, proxy)
            #expect(host.requests.isEmpty)
        }
    }

    private func text(_ proxy: FaultServer) -> String {
        #""Proxy": "http://127.0.0.1:\#(proxy.port)""#
    }

    /// Runs the service once with a good file, so that there is a last good copy.
    private func runOnce(_ service: ServiceUnderTest, with settings: String) async throws {
        try write(settings, for: service)
        try await service.start()
        _ = try await service.terminate()
    }

    /// Adds a download and expects it to wait for the settings, without a request to anybody.
    private func addHeld(_ service: ServiceUnderTest, _ host: FaultServer) async throws -> String {
        let id = try await service.add(host.url("/held"))
        try await soon("the download to wait or to end") {
            let task = try await service.client.getTask(id)
            return task.hold.rawValue == "settings" || task.state == .completed
        }
        let task = try await service.client.getTask(id)
        #expect(task.hold.rawValue == "settings")
        #expect(task.attempts == 0 && task.downloadedBytes == 0 && task.errorCode.isEmpty)
        #expect(
            await refusal { _ = try await service.client.probe(host.url("/probed")) }
                == .requestFailed
        )
        #expect(host.requests.isEmpty)
        return id
    }

    @Test(arguments: ["SpeedLimit", "LogLevel", "Proxi"])
    func `without a last good copy downloads wait until the file is mended`(
        key: String
    ) async throws {
        try await withProxy { service, host, proxy in
            try write("{\(text(proxy)), \"\(key)\": []}", for: service)
            try await service.start()
            let id = try await addHeld(service, host)
            #expect(proxy.requests.isEmpty)
            let reason = try await service.client.explain(id).first ?? ""
            #expect(reason.hasPrefix("settings: \(path(service)): "), "\(reason)")
            #expect(reason.contains(key), "\(reason)")
            let listed = try await idown("list", in: service)
            #expect(listed.standardOutput.contains("waits for the settings to be mended"))

            try write("{\(text(proxy))}", for: service)
            try await service.waitForState("completed", of: id)
            #expect(proxy.requests.map(\.target) == [host.url("/held")])
        }
    }

    @Test func `the last good copy holds, and its proxy is used`() async throws {
        try await withProxy { service, host, proxy in
            try await runOnce(service, with: "{\(text(proxy)), \"MaxConcurrentDownloads\": 5}")
            try write("{\(text(proxy)), \"MaxConcurrentDownloads\": 65}", for: service)
            try await service.start()
            #expect(try await service.client.value(of: .maxConcurrentDownloads) == .number(5))
            let id = try await service.add(host.url("/through"))
            try await service.waitForState("completed", of: id)
            #expect(proxy.requests.map(\.target) == [host.url("/through")])
            try await service.waitForLog("MaxConcurrentDownloads must be")
        }
    }

    /// The last good copy has no proxy; the file that came later may have one.
    @Test(arguments: [
        #"{"Porxy": "PROXY"}"#, #"{"no_proxy": "a"}"#, #"{"Proxy": "PROXY", "StayAwake": 1}"#,
        #"{"Proxy": 7}"#, #"{"NoProxy": ["a"]}"#, #"{"Proxy": "PROXY""#, "",
    ])
    func `a copy that is older than the proxy does not lead past it`(
        wrong: String
    ) async throws {
        try await withProxy { service, host, proxy in
            try await runOnce(service, with: #"{"SpeedLimit": 0}"#)
            let address = "http://127.0.0.1:\(proxy.port)"
            try write(wrong.replacing("PROXY", with: address), for: service)
            try await service.start()
            let id = try await addHeld(service, host)
            // No verb leads past the proxy either.
            try await service.client.pause(id)
            try await service.client.resume(id)
            try await service.waitForHold(TaskProperties.Hold(rawValue: "settings"), of: id)
            try write("{\(text(proxy))}", for: service)
            try await service.waitForState("completed", of: id)
            #expect(proxy.requests.map(\.target) == [host.url("/held")])
        }
    }

    @Test func `a file that cannot be read, and a copy that is damaged, hold downloads`()
        async throws
    {
        try await withProxy { service, host, proxy in
            try await runOnce(service, with: "{\(text(proxy))}")
            let copy = service.home.state + "/settings.last"
            try TestFile.write("{", to: copy)
            try write(#"{"Proxy": "http://127.0.0.1:9", "SpeedLimit": -1}"#, for: service)
            try await service.start()
            let id = try await addHeld(service, host)
            _ = try await service.terminate()
            // A link to a folder in its place cannot be read, not even by root.
            unlink(path(service))
            try #require(symlink(service.home.path, path(service)) == 0)
            try await service.start()
            try await service.waitForHold(TaskProperties.Hold(rawValue: "settings"), of: id)
            // At one go: without any file the defaults would hold.
            try TestFile.write("{\(text(proxy))}", to: path(service) + ".new")
            try #require(rename(path(service) + ".new", path(service)) == 0)
            try await service.waitForState("completed", of: id)
        }
    }

    @Test func `a new proxy beside a mistake holds what runs until the file is mended`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: 16 << 10)
        let held = Self.file.with { $0.hold = hold }
        let first = try FaultServer.serving(held)
        defer { first.stop() }
        try await withProxy { service, host, proxy in
            try write("{\(text(first))}", for: service)
            try await service.start()
            let id = try await service.add(host.url("/running"))
            await first.waitForRequest()
            try write("{\(text(proxy)), \"SpeedLimit\": -1}", for: service)
            try await service.waitForHold(TaskProperties.Hold(rawValue: "settings"), of: id)
            hold.until.open()
            // The old proxy is as good as the new one where the file says so again.
            try write("{\(text(first))}", for: service)
            try await service.waitForState("completed", of: id)
            #expect(proxy.requests.isEmpty)
        }
    }

    @Test func `no program overwrites a file whose proxy is unknown`() async throws {
        try await withProxy { service, host, proxy in
            let wrong = "{\(text(proxy)), \"SpeedLimit\": \"fast\"}"
            try write(wrong, for: service)
            try await service.start()
            let id = try await addHeld(service, host)
            let refused = try await idown("config", "speed-limit", "10M", in: service)
            #expect(refused.status != .exited(0), "\(refused)")
            #expect(refused.standardError.contains("SpeedLimit must be"), "\(refused)")
            #expect(try TestFile.text(of: path(service)) == wrong)
            #expect(try await service.client.getTask(id).hold.rawValue == "settings")
        }
    }

    @Test func `the copy is private, and written only when the settings change`() async throws {
        try await withService(started: false) { service in
            let copy = service.home.state + "/settings.last"
            try await runOnce(service, with: #"{"SpeedLimit": 5}"#)
            func look() async throws -> String {
                try await ChildProcess.run("stat", ["-c", "%a %i", copy]).standardOutput
            }
            let first = try await look()
            #expect(first.hasPrefix("600 "), "\(first)")
            #expect(try TestFile.text(of: copy) == #"{"SpeedLimit": 5}"#)
            try await service.start()
            #expect(try await look() == first)
            try await service.client.set(.maxConcurrentDownloads, to: .number(7))
            #expect(try TestFile.text(of: copy) == TestFile.text(of: path(service)))
            _ = try await service.terminate()
        }
    }

    /// The last good copy has a proxy that no download can use.
    @Test(arguments: [
        (#"{"SpeedLimit": "fast"}"#, 1), (#"{"Proxy": "ftp://h", "SpeedLimit": "fast"}"#, 2),
    ])
    func `a bad proxy is told where it stands in the file`(wrong: String, count: Int) async throws {
        try await withService(started: false) { service in
            try service.installForActivation()
            try await runOnce(service, with: #"{"Proxy": "ftp://h"}"#)
            try write(wrong, for: service)
            let config = try await idown("config", "log-level", in: service)
            let doctor = try await idown("doctor", in: service)
            #expect(config.standardError.contains("SpeedLimit must be"), "\(config)")
            #expect(doctor.standardOutput.contains("SpeedLimit must be"), "\(doctor)")
            for text in [config.standardError, doctor.standardOutput] {
                #expect(text.split(separator: " must be ").count == count + 1, "\(text)")
            }
        }
    }

    @Test func `doctor and config name the file, the key and what it must be`() async throws {
        try await withProxy { service, _, proxy in
            try service.installForActivation()
            try write("{\(text(proxy)), \"SpeedLimit\": \"fast\", \"Later\": 1}", for: service)
            let doctor = try await idown("doctor", in: service)
            #expect(doctor.status == .exited(1), "\(doctor)")
            for text in [
                "~/.config/idown/settings.json: SpeedLimit must be", "downloads wait",
                "idown config edit", "there is no setting Later",
            ] {
                #expect(doctor.standardOutput.contains(text), "\(text): \(doctor)")
            }
            let config = try await idown("config", "log-level", in: service)
            #expect(config.standardError.contains("SpeedLimit must be"), "\(config)")
            #expect(config.standardError.contains("there is no setting Later"), "\(config)")

            try write("{\(text(proxy)), \"Later\": 1}", for: service)
            let mended = try await idown("doctor", in: service)
            #expect(mended.status == .exited(0), "\(mended)")
            #expect(mended.standardOutput.contains("there is no setting Later"), "\(mended)")
            try await service.waitForLog("there is no setting Later")
        }
    }
}
