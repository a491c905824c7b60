// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Synchronization
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// The service among the desktop's others, and without them.
@Suite(.timeLimit(.minutes(3))) struct DesktopTests {
    /// An address for documentation (RFC 5737): nobody answers there.
    private static let far = "http://192.0.2.1/file"

    private func withSession(
        settings: String? = nil,
        _ body: (ServiceUnderTest) async throws -> Void
    ) async throws {
        try await withService(started: false) { service in
            if let settings {
                let folder = service.home.config + "/idown"
                _ = try await ChildProcess.run("mkdir", ["-p", folder])
                try TestFile.write(settings, to: folder + "/settings.json")
            }
            try await body(service)
        }
    }

    /// Starts the service where one bus is the session's and the system's.
    private func start(_ service: ServiceUnderTest) async throws {
        let variable = "DBUS_SYSTEM_BUS_ADDRESS=\(service.bus.address)"
        try await service.start(under: ["env", variable])
    }

    @Test func `on a metered network nothing starts from elsewhere, and this computer is asked`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(TestContent(seed: 1, count: 1_000)))
        defer { server.stop() }
        try await withSession(settings: #"{"HoldOnMetered": true}"#) { service in
            try await service.bus.withNetworkManager(service.connection) { mock in
                try await mock.update(["Metered": .uint32(3)])
                try await start(service)
                let id = try await service.add(Self.far)
                try await service.waitForHold(.metered, of: id)
                #expect(try await service.client.explain(id) == ["metered network"])
                #expect(
                    try await service.announcedStates(of: id, through: "waiting") == ["waiting"]
                )
                #expect(try await service.client.getTask(id).attempts == 0)
                let near = try await service.add(server.url("/near"))
                try await service.waitForState("completed", of: near)
                try await service.client.set(.holdOnMetered, to: .flag(false))
                try await service.waitForState("downloading", of: id)
                try await service.client.set(.holdOnMetered, to: .flag(true))
                try await service.waitForHold(.metered, of: id)
                try await mock.update(["Metered": .uint32(2)])
                try await service.waitForState("downloading", of: id)
            }
        }
    }

    @Test func `a portal holds, and burns no try`() async throws {
        try await withSession { service in
            try await service.bus.withNetworkManager(service.connection) { mock in
                try await start(service)
                let id = try await service.add(Self.far)
                try await service.waitForState("downloading", of: id)
                try await mock.update(["Connectivity": .uint32(2)])
                try await service.waitForHold(.offline, of: id)
                #expect(try await service.client.explain(id) == ["offline"])
                // Another that is added there never starts.
                let next = try await service.add(Self.far + "2")
                try await service.waitForHold(.offline, of: next)
                #expect(try await service.client.getTask(next).attempts == 0)
                #expect(
                    try await service.announcedStates(of: next, through: "waiting") == ["waiting"]
                )
                try await mock.update(["Connectivity": .uint32(4)])
                try await service.waitForState("downloading", of: next)
            }
        }
    }

    @Test func `a portal holds nothing that goes through a proxy`() async throws {
        let proxy = try FaultServer.serving(ServedFile(TestContent(seed: 1, count: 1_000)))
        defer { proxy.stop() }
        let settings = #"{"Proxy": "http://127.0.0.1:\#(proxy.port)"}"#
        try await withSession(settings: settings) { service in
            try await service.bus.withNetworkManager(service.connection) { mock in
                try await mock.update(["Connectivity": .uint32(2)])
                try await start(service)
                let id = try await service.add(Self.far)
                try await service.waitForState("completed", of: id)
                // Without the proxy, downloads wait for the sign-in again.
                try await service.client.set(.proxy, to: .text(""))
                let direct = try await service.add(Self.far + "2")
                try await service.waitForHold(.offline, of: direct)
                #expect(try await service.client.getTask(direct).attempts == 0)
            }
        }
    }

    @Test func `a service that starts while a portal is looked for asks nobody yet`() async throws {
        try await withSession { service in
            try await service.bus.withNetworkManager(service.connection) { mock in
                try await mock.update(["Connectivity": .uint32(1)])
                try await start(service)
                let id = try await service.add(Self.far)
                try await mock.update(["Connectivity": .uint32(2)])
                try await service.waitForHold(.offline, of: id)
                #expect(try await service.client.getTask(id).attempts == 0)
            }
        }
    }

    @Test func `a service that waits for its first look at the network ends at once`()
        async throws
    {
        try await withSession { service in
            try await service.bus.withNetworkManager(service.connection) { mock in
                try await mock.update(["Connectivity": .uint32(1)])
                try await start(service)
                let id = try await service.add(Self.far)
                try await service.client.quit()
                #expect(try await service.waitForEnd() == .exited(0))
                // It ended before downloads were let start, which comes after five seconds.
                #expect(!service.log.contains("ready as"))
                #expect(id == "1")
            }
        }
    }

    @Test func `a low battery stops what runs, and the mains let it go on`() async throws {
        let content = TestContent(seed: 2, count: 1 << 20)
        let host = try ChangingHost(.held(content))
        defer { host.stop() }
        try await withSession { service in
            try await service.bus.withPowerProfiles(service.connection) { mock in
                try await start(service)
                let id = try await service.addHeld(on: host)
                try await service.client.set(.holdOnLowBattery, to: .flag(true))
                try await mock.update(["ActiveProfile": .string("power-saver")])
                try await service.waitForHold(.battery, of: id)
                #expect(try await service.client.explain(id) == ["low battery"])
                host.letGo()
                try await mock.update(["ActiveProfile": .string("balanced")])
                try await service.waitForState("completed", of: id)
            }
        }
    }

    @Test func `before a sleep the bytes are safe, and after it a new connection goes on`()
        async throws
    {
        let content = TestContent(seed: 3, count: 1 << 20)
        let host = try ChangingHost(.held(content))
        defer { host.stop() }
        try await withSession { service in
            try await service.bus.withLogind(service.connection) { mock in
                try await start(service)
                let id = try await service.addHeld(on: host)
                try await service.waitForBytes(256 << 10, of: id)
                try await mock.waitForInhibitor()
                try await mock.emit("PrepareForSleep", "b", [.boolean(true)])
                try await mock.waitForInhibitor(isThere: false)
                #expect(try await service.state(of: id) == "waiting")
                #expect(try await service.recordedBytes(of: id) >= 256 << 10)
                host.letGo()
                try await mock.emit("PrepareForSleep", "b", [.boolean(false)])
                try await service.waitForState("completed", of: id)
            }
        }
    }

    // MARK: What is shown

    @Test func `a notification server that never answers costs a download nothing`() async throws {
        let server = try FaultServer.serving(ServedFile(TestContent(seed: 4, count: 1_000)))
        defer { server.stop() }
        try await withSession { service in
            let gate = FaultServer.Gate()
            let asked = FaultServer.Gate()
            defer { gate.open() }
            try await service.connection.export(
                [
                    Interface(
                        "org.freedesktop.Notifications",
                        [
                            .method("GetCapabilities", out: ["capabilities"]) {
                                (_: Call) async -> [String] in
                                asked.open()
                                await gate.waitUntilOpen()
                                return []
                            }
                        ]
                    )
                ],
                at: "/org/freedesktop/Notifications"
            )
            _ = try await service.connection.requestName("org.freedesktop.Notifications")
            try await service.start()
            // The first is told of until somebody asks, which nobody answers.
            var id = try await service.add(server.url("/0"))
            try await service.waitForState("completed", of: id)
            var number = 0
            while !asked.isOpen {
                number += 1
                id = try await service.add(server.url("/\(number)"))
                try await service.waitForState("completed", of: id)
            }
            for number in 1...20 {
                id = try await service.add(server.url("/late\(number)"))
                try await service.waitForState("completed", of: id)
            }
            #expect(!gate.isOpen)
        }
    }

    @Test func `what was handed over, and its end, is one notification, without a secret`()
        async throws
    {
        let content = TestContent(seed: 5, count: 1 << 20)
        let host = try ChangingHost(.held(content))
        defer { host.stop() }
        try await withSession { service in
            try await service.bus.withNotificationServer(service.connection) { mock in
                try await service.start()
                let application = Proxy(
                    service.connection,
                    ServiceUnderTest.busName,
                    ServiceUnderTest.managerPath,
                    "org.freedesktop.Application"
                )
                let none: [String: Value] = [:]
                let url = host.url("/file.bin?token=SECRET")
                try await application.call("Open", [url], none)
                let added = try #require(try await mock.waitForCalls(of: "Notify").first)
                #expect(added[3] == .string("Download added"))
                host.letGo()
                try await service.client.pause("1")
                try await service.client.resume("1")
                let calls = try await mock.waitForCalls(of: "Notify", count: 2)
                #expect(calls[1][3] == .string("Download completed"))
                #expect(calls[1][4] == .string("file.bin"))
                #expect(calls[1][1] == .uint32(1))
                #expect(!"\(calls)".contains("SECRET"))
            }
        }
    }

    @Test func `notifications speak the language of the session`() async throws {
        let server = try FaultServer.serving(ServedFile(TestContent(seed: 8, count: 1_000)))
        defer { server.stop() }
        try await withSession { service in
            try await service.installForDesktop()
            // An installed program has its translations beside its folder.
            let program = service.prefix + "/bin/idownd"
            let copied = try await ChildProcess.run(
                "cp",
                [try BuiltProgram("idownd").path, program]
            )
            #expect(copied.succeeded, "\(copied)")
            try await service.bus.withNotificationServer(service.connection) { mock in
                try await service.start(
                    under: [
                        "env", "LC_ALL=C.UTF-8", "LANGUAGE=de", "sh", "-c", "exec \"$0\"", program,
                    ]
                )
                let id = try await service.add(server.url("/file.bin"))
                try await service.waitForState("completed", of: id)
                let call = try #require(try await mock.waitForCalls(of: "Notify").first)
                #expect(call[3] == .string("Download fertig"))
                // What programs read stays as it is.
                #expect(try await service.state(of: id) == "completed")
            }
        }
    }

    @Test func `the first download that a browser hands over is told of once, and can be refused`()
        async throws
    {
        let host = try FaultServer.serving(ServedFile(TestContent(seed: 7, count: 10_000)))
        defer { host.stop() }
        try await withSession { service in
            try await service.bus.withNotificationServer(service.connection) { mock in
                try await service.start()
                func handOver(_ token: String) async throws {
                    var options = HandOverOptions(token: token)
                    options.status = 200
                    options.download.referrer = "http://page.example:8080/list"
                    _ = try await service.client.handOver(
                        host.url("/\(token)"),
                        options: options
                    )
                    try await service.waitForState(
                        "completed",
                        of: try await service.client.confirm(token)
                    )
                }
                @Sendable func told() async throws -> Int {
                    let summary = Value.string("Download taken over from your browser")
                    return try await mock.calls(of: "Notify").count { $0[3] == summary }
                }
                try await handOver("first")
                try await soon("the first one to be told of") { try await told() == 1 }
                try await handOver("second")
                try await soon("the second one's end to be told") {
                    try await mock.calls(of: "Notify").last?[4] != .string("first")
                }
                #expect(try await told() == 1)
                let calls = try await mock.calls(of: "Notify")
                let place = try #require(
                    calls.firstIndex { $0[3] == .string("Download taken over from your browser") }
                )
                // The server numbers them as they come, but for those that replace one.
                let number = calls[...place].count { $0[1] == .uint32(0) }
                let click: [Value] = [.uint32(UInt32(number)), .string("leave-site")]
                try await mock.emit("ActionInvoked", "us", click)
                try await soon("the host to be left to the browsers") {
                    try await service.client.value(of: .browserLeaveHosts)
                        == .words(["page.example"])
                }
            }
        }
    }

    @Test func `a click on a failed download's notification tries it again`() async throws {
        let server = try FaultServer(
            script: .init { request in
                request.number <= 2
                    ? [.head("404 Not Found", [("Content-Length", "0")])]
                    : ServedFile(TestContent(seed: 6, count: 1_000)).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withSession { service in
            try await withNotificationArea(on: service.bus, service.connection) { area in
                try await service.start()
                let id = try await service.add(server.url("/a"))
                try await service.waitForState("failed", of: id)
                if server.requests.count < 2 {
                    // Asked for once only: the second refusal is for another.
                    _ = try await service.add(server.url("/b"))
                }
                try await area.wait(for: 1)
                try await area.click()
                try await service.waitForState("completed", of: id)
            }
        }
    }

    @Test func `who starts the program without a file is shown how the list stands`()
        async throws
    {
        try await withSession { service in
            try await service.bus.withNotificationServer(service.connection) { mock in
                try await service.start()
                _ = try await service.add(Self.far) { $0.paused = true }
                let opened = try await ChildProcess.run(
                    try BuiltProgram("idown").path,
                    ["open"],
                    environment: service.environment
                )
                #expect(opened.succeeded, "\(opened)")
                let call = try #require(try await mock.waitForCalls(of: "Notify").first)
                #expect(call[3] == .string("1 paused"))
                try await mock.emit("ActionInvoked", "us", [.uint32(1), .string("start-all")])
                try await service.waitForState("downloading", of: "1")
            }
        }
    }

    // MARK: The settings file

    @Test func `the settings file is followed, and as long as it is wrong nothing changes`()
        async throws
    {
        try await withSession(settings: "{}") { service in
            try await service.start()
            let path = service.home.config + "/idown/settings.json"
            func expect(_ count: UInt64) async throws {
                try await soon("\(count) downloads at once") {
                    try await service.client.value(of: .maxConcurrentDownloads)
                        == .number(count)
                }
            }
            try TestFile.write(#"{"MaxConcurrentDownloads": 7}"#, to: path)
            try await expect(7)
            let mark = service.log.count
            try TestFile.write(#"{"MaxConcurrentDownloads": "x"}"#, to: path)
            try await service.waitForLog("settings stay in force", after: mark)
            try await expect(7)
            // As editors do it.
            try TestFile.write(#"{"MaxConcurrentDownloads": 2}"#, to: path + ".new")
            _ = try await ChildProcess.run("mv", [path + ".new", path])
            try await expect(2)
            try await service.client.set(.maxConcurrentDownloads, to: .number(5))
            try await expect(5)
            #expect(try TestFile.text(of: path).contains("5"))
        }
    }

    @Test func `a settings file that is a link stays one, and is followed where it leads to`()
        async throws
    {
        try await withSession { service in
            let own = service.home.path + "/dotfiles"
            mkdir(own, 0o700)
            try TestFile.write(#"{"SpeedLimit": 1}"#, to: own + "/idown.json")
            let link = service.home.config + "/idown/settings.json"
            unlink(link)
            mkdir(service.home.config + "/idown", 0o700)
            try #require(symlink("../../dotfiles/between.json", link) == 0)
            try #require(symlink("idown.json", own + "/between.json") == 0)
            try await service.start()
            func expect(_ limit: UInt64) async throws {
                try await soon("a limit of \(limit)") {
                    try await service.client.value(of: .speedLimit) == .number(limit)
                }
            }
            try await expect(1)
            // In place, by its own name, and as editors do it.
            try TestFile.write(#"{"SpeedLimit": 2}"#, to: link)
            try await expect(2)
            try TestFile.write(#"{"SpeedLimit": 3}"#, to: own + "/idown.json")
            try await expect(3)
            try TestFile.write(#"{"SpeedLimit": 4}"#, to: own + "/new.json")
            _ = try await ChildProcess.run("mv", [own + "/new.json", own + "/idown.json"])
            try await expect(4)
            try await service.client.set(.speedLimit, to: .number(5))
            #expect(try TestFile.text(of: own + "/idown.json").contains("5"))
            for path in [link, own + "/between.json"] {
                var status = stat()
                #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
            }
        }
    }

    // MARK: After completion

    @Test func `a finished file is shown where the client asked for it`() async throws {
        let server = try FaultServer.serving(ServedFile(TestContent(seed: 7, count: 1_000)))
        defer { server.stop() }
        try await withSession { service in
            let shown = Mutex<[String]>([])
            let gate = FaultServer.Gate()
            try await service.connection.export(
                [
                    Interface(
                        "org.freedesktop.FileManager1",
                        [
                            .method("ShowItems", in: ["uris", "token"]) {
                                (_: Call, uris: [String], _: String) -> Void in
                                shown.withLock { $0 += uris }
                                gate.open()
                            }
                        ]
                    )
                ],
                at: "/org/freedesktop/FileManager1"
            )
            _ = try await service.connection.requestName("org.freedesktop.FileManager1")
            try await service.start()
            // Its own connection to the bus comes a moment after its name.
            while !gate.isOpen {
                let id = try await service.add(server.url("/a")) { $0.whenDone = .reveal }
                try await service.waitForState("completed", of: id)
            }
            let first = shown.withLock { $0.first }
            #expect(first?.hasPrefix("file://\(service.home.downloads)/a") == true)
        }
    }

    @Test func `the user's command gets the file and a URL without secrets`() async throws {
        let server = try FaultServer.serving(ServedFile(TestContent(seed: 8, count: 1_000)))
        defer { server.stop() }
        let command =
            #"["sh", "-c", "printf '%s\\n' \"$@\" > \"$HOME/told\"", "sh", "{path}", "{url}"]"#
        try await withSession(settings: #"{"WhenDoneCommand": \#(command)}"#) { service in
            try await service.start()
            let url = server.url("/a?token=SECRET").replacing("://", with: "://me:SECRET@")
            let id = try await service.add(url) { $0.filename = "$(id);'x" }
            try await service.waitForState("completed", of: id)
            let told = service.home.path + "/told"
            let text = try await within("the command") {
                while true {
                    if let text = try? TestFile.text(of: told), text.contains("http") {
                        return text
                    }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            let path = service.home.download("$(id);'x")
            #expect(text == "\(path)\n\(server.url("/a"))\n")
            #expect(!service.log.contains("SECRET"))
        }
    }
}

extension MockService {
    /// Waits until logind was asked for a lock, or it was given back.
    fileprivate func waitForInhibitor(isThere: Bool = true) async throws {
        try await soon("logind's lock to be \(isThere ? "taken" : "given back")") {
            let list = try await connection.call(name, path, interface, "ListInhibitors").first
            guard case .array(_, let locks) = list else { return false }
            return locks.isEmpty != isThere
        }
    }
}
