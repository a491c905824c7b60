// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// Logins that `idown login` stores in the keyring and the service sends to a server.
@Suite(.timeLimit(.minutes(5)))
struct LoginTests {
    private let content = TestContent(seed: 123, count: 10_000)

    /// A server that requires a name and a password.
    private func guardedServer() throws -> FaultServer {
        let content = content
        return try FaultServer(
            script: .init { request in
                guard request["Authorization"] == "Basic bWU6Z2VoZWlt" else {
                    let fields = [
                        ("WWW-Authenticate", "Basic realm=\"x\""), ("Content-Length", "0"),
                    ]
                    return [.head("401 Unauthorized", fields)]
                }
                return ServedFile(content).answer(to: request)
            }
        )
    }

    private func idown(
        _ service: ServiceUnderTest,
        _ arguments: String...,
        input: String = ""
    ) async throws -> ChildProcess.Completed {
        try await ChildProcess.run(
            try BuiltProgram("idown").path,
            arguments,
            environment: service.environment,
            input: input
        )
    }

    private func expectAuthRequired(_ service: ServiceUnderTest, _ id: String) async throws {
        try await service.waitForState("failed", of: id)
        #expect(try await service.client.getTask(id).errorCode == "Server.AuthRequired")
    }

    @Test func `a stored login lets a failed task succeed, until logout deletes it`()
        async throws
    {
        let server = try guardedServer()
        defer { server.stop() }
        try await withService { service in
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) { _ async throws in
                let id = try await service.add(server.url("/a.bin"))
                try await expectAuthRequired(service, id)
                let url = server.url("/whatever")
                let kept = try await idown(service, "login", url, input: "me\ngeheim\n")
                #expect(kept.succeeded, "\(kept)")
                #expect(!"\(kept)".contains("geheim"))
                try await service.client.retry(id)
                try await service.waitForState("completed", of: id)
                let path = try await service.client.getTask(id).path
                #expect(try content.firstDifference(fromFile: path) == nil)

                // Any web page can fire a link, so a link gets no login.
                let mark = service.signals.count
                let plain = server.url("/b.bin").replacing(":", with: "%3A")
                    .replacing("/", with: "%2F")
                try await service.client.open(["idown:?url=" + plain])
                try await expectAuthRequired(service, try await service.addedTask(after: mark))

                #expect(try await idown(service, "logout", url).succeeded)
                let next = try await service.add(server.url("/c.bin"))
                try await expectAuthRequired(service, next)
                let again = try await idown(service, "logout", url)
                #expect(again.succeeded && again.standardError.contains("Nothing"), "\(again)")

                #expect(!service.log.contains("geheim"))
                let told = service.signals.signals.filter { "\($0)".contains("geheim") }
                #expect(told.isEmpty)
                #expect(
                    try await !idown(service, "list", "--json").standardOutput.contains("geheim")
                )
            }
        }
    }

    @Test func `a login that is stored while the server is asked is used by the next try`()
        async throws
    {
        let (asked, stored) = (FaultServer.Gate(), FaultServer.Gate())
        let content = content
        let server = try FaultServer(
            script: .init { request in
                guard request["Authorization"] == nil else {
                    return ServedFile(content).answer(to: request)
                }
                let fields = [("WWW-Authenticate", "Basic realm=\"x\""), ("Content-Length", "0")]
                return [.open(asked), .wait(for: stored), .head("401 Unauthorized", fields)]
            }
        )
        defer { server.stop() }
        try await withService { service in
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) { _ async throws in
                let url = server.url("/a.bin")
                let id = try await service.add(url)
                await asked.waitUntilOpen()
                let kept = try await idown(
                    service,
                    "login",
                    "-u",
                    "me",
                    "--untried",
                    url,
                    input: "geheim"
                )
                #expect(kept.succeeded, "\(kept)")
                stored.open()
                try await service.waitForState("completed", of: id)
            }
        }
    }

    @Test func `a login is for one scheme, host and port`() async throws {
        let (server, other) = (try guardedServer(), try guardedServer())
        defer {
            server.stop()
            other.stop()
        }
        try await withService { service in
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) { _ async throws in
                let url = server.url("/")
                #expect(
                    try await idown(service, "login", "-u", "me", url, input: "geheim").succeeded
                )
                try await expectAuthRequired(service, try await service.add(other.url("/a.bin")))
                let id = try await service.add(server.url("/a.bin"))
                try await service.waitForState("completed", of: id)
                #expect(other.requests.allSatisfy { $0["Authorization"] == nil })
            }
        }
    }

    @Test func `a locked keyring delays nothing, and the command says that it is locked`()
        async throws
    {
        let server = try guardedServer()
        defer { server.stop() }
        try await withService { service in
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) {
                keyring async throws in
                let url = server.url("/")
                #expect(
                    try await idown(service, "login", "-u", "me", url, input: "geheim").succeeded
                )
                try await keyring.lock()
                let id = try await service.add(server.url("/a.bin"))
                // It is tried again, and says what for.
                try await soon("the task to wait for the keyring") {
                    let task = try await service.client.getTask(id)
                    return task.state == .waiting && task.errorMessage.contains("Unlock it")
                }
                for verb in ["login", "logout"] {
                    let refused = try await idown(service, verb, url, input: "me\nx\n")
                    #expect(refused.status == .exited(1), "\(refused)")
                    #expect(refused.standardError.contains("unlock"), "\(refused)")
                }
            }
        }
    }

    @Test func `a login that the server refuses is not stored`() async throws {
        let server = try guardedServer()
        defer { server.stop() }
        try await withService { service in
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) {
                keyring async throws in
                let url = server.url("/a.bin")
                let refused = try await idown(service, "login", "-u", "me", url, input: "falsch")
                #expect(refused.status == .exited(11), "\(refused)")
                #expect(refused.standardError.contains("refuses"), "\(refused)")
                #expect(!"\(refused)".contains("falsch"))
                #expect(try await keyring.items().isEmpty)
                // An empty input has no password.
                let nothing = try await idown(service, "login", "--untried", "-u", "me", url)
                #expect(nothing.status == .exited(64), "\(nothing)")
                let all = ["login", "--untried", "-u", "me", url]
                let kept = try await ChildProcess.run(
                    try BuiltProgram("idown").path,
                    all,
                    environment: service.environment,
                    input: "falsch"
                )
                #expect(kept.succeeded, "\(kept)")
                #expect(try await keyring.items().count == 1)
                // The first request asks for the method, the second one tries the password.
                #expect(server.requests.count == 2)
            }
        }
    }

    @Test func `if the server does not answer, the login is stored with a message`() async throws {
        let server = try guardedServer()
        let url = server.url("/a.bin")
        server.stop()
        try await withService { service in
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) {
                keyring async throws in
                let kept = try await idown(service, "login", "-u", "me", url, input: "geheim")
                #expect(kept.succeeded, "\(kept)")
                #expect(kept.standardError.contains("not tried"), "\(kept)")
                #expect(try await keyring.items().count == 1)
            }
        }
    }

    // MARK: Logins of URLs

    /// A URL with a login that the server accepts.
    private func wholeURL(_ server: FaultServer, _ path: String) -> String {
        server.url(path).replacing("http://", with: "http://me:geheim@")
    }

    private func storeHolds(_ text: String, _ service: ServiceUnderTest) throws -> Bool {
        try ["", "-wal"].contains { suffix in
            let path = service.home.store + suffix
            guard TestFile.exists(path) else { return false }
            return try TestFile.bytes(of: path).contains(Array(text.utf8))
        }
    }

    private func waitUntilMoved(_ service: ServiceUnderTest) async throws {
        try await soon("the login to leave the list") { try !storeHolds("geheim", service) }
    }

    @Test
    func `the login of a URL moves to the keyring, still works, and is deleted with its task`()
        async throws
    {
        let server = try guardedServer()
        defer { server.stop() }
        try await withService { service in
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) {
                keyring async throws in
                var options = AddOptions()
                options.paused = true
                let url = wholeURL(server, "/a.bin")
                let first = try await service.client.addURL(url, options: options)
                let other = try await service.client.addURL(
                    wholeURL(server, "/b.bin"),
                    options: options
                )
                try await waitUntilMoved(service)
                // Equal logins are stored once.
                #expect(try await keyring.items().count == 1)
                #expect(try await service.client.addURL(url, options: options) == first)
                let plain = try await service.client.addURL(
                    server.url("/a.bin"),
                    options: options
                )
                #expect(plain != first)

                try await service.restartAfterKill()
                try await service.client.resume(first)
                try await service.waitForState("completed", of: first)
                let path = try await service.client.getTask(first).path
                #expect(try content.firstDifference(fromFile: path) == nil)

                try await service.client.remove(first)
                #expect(try await keyring.items().count == 1)
                try await service.client.remove(other)
                try await soon("the keyring to forget it") {
                    try await keyring.items().isEmpty
                }
                #expect(!service.log.contains("geheim"))
            }
        }
    }

    @Test func `a keyring that starts later gets the logins, and nothing waits for a locked one`()
        async throws
    {
        let server = try guardedServer()
        defer { server.stop() }
        try await withService { service in
            let id = try await service.add(wholeURL(server, "/a.bin"))
            try await service.waitForState("completed", of: id)
            #expect(try storeHolds("geheim", service))
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) {
                keyring async throws in
                try await waitUntilMoved(service)
                try await keyring.lock()
                let next = try await service.add(wholeURL(server, "/b.bin"))
                try await service.waitForState("completed", of: next)
                #expect(try storeHolds("geheim", service))
            }
        }
    }

    @Test func `without the keyring a task whose login it stores waits, and says why`() async throws
    {
        let server = try guardedServer()
        defer { server.stop() }
        try await withService { service in
            var options = AddOptions()
            options.paused = true
            let url = wholeURL(server, "/a.bin")
            let id = try await GnomeKeyring.run(on: service.bus, in: service.home.path) {
                _ async throws in
                let id = try await service.client.addURL(url, options: options)
                try await waitUntilMoved(service)
                return id
            }
            try await service.restartAfterKill()
            try await service.client.resume(id)
            try await soon("the task to miss its login") {
                try await service.client.getTask(id).errorCode == "Server.AuthRequired"
            }
            let reasons = try await service.client.explain(id)
            #expect(reasons.joined().contains("keyring"), "\(reasons)")
            #expect(server.requests.isEmpty)
            _ = try await GnomeKeyring.run(on: service.bus, in: service.home.path) {
                _ async throws in
                try await service.waitForState("completed", of: id)
            }
        }
    }

    @Test func `a task whose login is gone from the keyring fails soon, until it gets another`()
        async throws
    {
        let server = try guardedServer()
        defer { server.stop() }
        try await withService { service in
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) {
                keyring async throws in
                var options = AddOptions()
                options.paused = true
                let url = wholeURL(server, "/a.bin")
                let id = try await service.client.addURL(url, options: options)
                try await waitUntilMoved(service)
                try await keyring.deleteItems()
                try await service.restartAfterKill()
                try await service.client.resume(id)
                try await expectAuthRequired(service, id)
                let message = try await service.client.getTask(id).errorMessage
                #expect(message.contains("no longer has the login"), "\(message)")
                #expect(server.requests.isEmpty)
                try await service.client.setURL(id, to: url)
                try await service.waitForState("completed", of: id)
            }
        }
    }

    @Test func `a keyring that does not answer delays no download`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        let script = """
            import dbus, time
            bus = dbus.SessionBus()
            bus.request_name('org.freedesktop.secrets')
            print('there', flush=True)
            time.sleep(600)
            """
        try await withService { service in
            try await withChild(
                "/usr/bin/python3",
                ["-c", script],
                environment: service.environment
            ) { keyring in
                #expect(await keyring.nextLine() == "there")
                for name in ["a", "b", "c"] {
                    let id = try await service.add(server.url("/\(name).bin"))
                    try await service.waitForState("completed", of: id)
                }
            }
        }
    }

    @Test func `without a keyring the command names it as missing`() async throws {
        try await withService { service in
            let refused = try await idown(
                service,
                "login",
                "-u",
                "me",
                "https://e.org/",
                input: "geheim\n"
            )
            #expect(refused.status == .exited(69), "\(refused)")
            #expect(refused.standardError.contains("keyring"), "\(refused)")
            #expect(!"\(refused)".contains("geheim"))
        }
    }

    @Test(arguments: [
        "example.org", "gopher://e.org/", "https://", "https://me:geheim@e.org/",
        "https://e.org:x/",
        "https://e.org:0/", "https://\u{E4}\u{2488}.org/", "https://a%zz@e.org/",
    ])
    func `a URL without a usable server is refused, and not repeated in the message`(url: String)
        async throws
    {
        try await withService(started: false) { service in
            for verb in ["login", "logout"] {
                let refused = try await idown(service, verb, url, input: "me\nx\n")
                // The code with which add ends for a URL that is not valid.
                #expect(refused.status == .exited(5), "\(refused)")
                #expect(!"\(refused)".contains("geheim"))
            }
        }
    }

    @Test func `at a terminal the command asks for the password and does not show it`() async throws
    {
        try await withService { service in
            try await GnomeKeyring.run(on: service.bus, in: service.home.path) {
                keyring async throws in
                let asked = try await loginOnTerminal(service, #"b'geheim\n'"#)
                #expect(asked.standardOutput.hasPrefix("0 "), "\(asked)")
                #expect(asked.standardOutput.contains("Password of me at https://e.org:443"))
                #expect(!asked.standardOutput.contains("geheim"))
                #expect(try await keyring.items().count == 1)
                let given = try await loginOnTerminal(service, #"b'half\x03'"#)
                #expect(given.standardOutput.hasPrefix("130 "), "Ctrl-C, without Enter: \(given)")
            }
        }
    }

    /// Runs the command at a terminal, types the name and the password, and returns its output.
    private func loginOnTerminal(
        _ service: ServiceUnderTest,
        _ password: String
    ) async throws -> ChildProcess.Completed {
        let script = """
            import os, pty, sys
            child, terminal = pty.fork()
            if child == 0:
                os.execv(sys.argv[1], sys.argv[1:])
            seen = b''
            answers = [(b'name', b'me\\n'), (b'Password', \(password))]
            while True:
                try:
                    piece = os.read(terminal, 4096)
                except OSError:
                    break
                if not piece:
                    break
                seen += piece
                if answers and answers[0][0] in seen:
                    os.write(terminal, answers.pop(0)[1])
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), repr(seen))
            """
        let command = ["login", "--untried", "https://e.org/"]
        return try await ChildProcess.run(
            "/usr/bin/python3",
            ["-c", script, try BuiltProgram("idown").path] + command,
            environment: service.environment
        )
    }
}
