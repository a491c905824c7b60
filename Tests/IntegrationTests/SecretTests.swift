// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// Passwords, tokens and header values are for the origin, and for nobody else.
@Suite(.timeLimit(.minutes(5)))
struct SecretTests {
    /// Every secret that the test gives away holds this word.
    private static let secret = "geheim"

    @Test func `no secret is in a signal, an error, the log or an attribute of the file`()
        async throws
    {
        let content = TestContent(seed: 110, count: 20_000)
        let server = try FaultServer(
            script: .init { request in
                switch request.path {
                case "/gone":
                    [.head("404 Not Found", [("Content-Length", "0")])]
                case "/moved":
                    [
                        .head(
                            "302 Found",
                            [
                                ("Location", "ftp://geheim:geheim@h/?k=geheim"),
                                ("Content-Length", "0"),
                            ]
                        )
                    ]
                case "/reset":
                    [.head("200 OK", [("Content-Length", "100")]), .reset]
                default:
                    ServedFile(content).answer(to: request)
                }
            }
        )
        defer { server.stop() }
        try await withService { service in
            let monitor = try await ChildProcess.start(
                "dbus-monitor",
                ["--session", "type='signal'", "type='error'"],
                environment: service.environment
            )
            // It says that it lost the name it was given: from then on it hears everything.
            while let line = await monitor.nextLine(), !line.contains("NameLost") {}

            func url(_ path: String) -> String {
                server.url("\(path)?token=geheim#geheim")
                    .replacing("http://", with: "http://geheim:geheim@")
            }
            func add(_ path: String) async throws -> String {
                try await service.add(url(path)) { options in
                    options.headers = [.init(name: "Authorization", value: "Bearer geheim")]
                    options.referrer = "http://geheim:geheim@127.0.0.1/page?geheim"
                    options.token = "geheim" + path
                }
            }
            let file = try await add("/file.bin")
            try await service.waitForState("completed", of: file)
            for path in ["/gone", "/moved"] {
                try await service.waitForState("failed", of: try await add(path))
            }
            let reset = try await add("/reset")
            try await service.signals.first("the reset") { signal in
                signal.arguments.first == .string(reset) && signal.member == "TaskChanged"
                    && signal.arguments[1] == .string("waiting")
            }
            try await service.client.cancel(reset)
            for refused in [
                "http://a:geheim@/x?geheim", "http://a:geheim@h:999999/?geheim", "geheim:x",
            ] {
                let code = await refusal { _ = try await service.client.addURL(refused) }
                #expect(code == .invalidURL || code == .unsupportedScheme)
            }
            let path = try await service.client.getTask(file).path
            try await service.restart()

            await monitor.stop()
            var heard: [String] = []
            while let line = await monitor.nextLine() { heard.append(line) }
            #expect(heard.contains { $0.contains("TaskAdded") })
            // The scheme of the last refused URL is no secret: everybody may read it.
            let told = heard.filter {
                $0.contains(Self.secret) && !$0.contains("does not download geheim: URLs")
            }
            #expect(told.isEmpty, "\(told)")
            #expect(!service.log.contains(Self.secret), "\(service.log)")
            for task in try await service.client.listTasks() {
                #expect(!task.errorMessage.contains(Self.secret), "\(task.errorMessage)")
                #expect(!task.url.contains("geheim@"), "\(task.url)")
            }
            let attributes = try await ChildProcess.run(
                "/usr/bin/python3",
                [
                    "-c",
                    """
                    import os, sys
                    for name in os.listxattr(sys.argv[1]):
                        print(name, os.getxattr(sys.argv[1], name).decode())
                    """,
                    path,
                ]
            )
            #expect(attributes.succeeded, "\(attributes.standardError)")
            #expect(!attributes.standardOutput.contains(Self.secret), "\(attributes)")
            let written = attributes.standardOutput.isEmpty
            #expect(
                written || attributes.standardOutput.contains("user.xdg.origin.url \(server.url())")
            )
        }
    }
}
