// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(2))) struct ProgramLauncherTests {
    @Test func `a program runs without our open files`() async throws {
        try await withTemporaryFolder { folder in
            let script =
                "ls -l /proc/self/fd | wc -l > '\(folder)/out'; ps -o sid= -p $$ >> /dev/null"
            try await ProgramLauncher(connection: nil).run(["sh", "-c", script], named: "test")
            let count = try TestFile.text(of: folder + "/out").split(separator: "\n").first
            // Standard input, output and error, the folder that ls reads, and its first line.
            #expect(count.flatMap { Int($0) } ?? 99 <= 5)
        }
    }

    @Test(arguments: [("exit 3", "exit status 3"), ("kill -9 $$", "signal 9")])
    func `a failed program is reported`(script: String, message: String) async throws {
        let error = await #expect(throws: ProgramLauncher.Failure.self) {
            try await ProgramLauncher(connection: nil).run(["sh", "-c", script], named: "test")
        }
        #expect(error?.description.contains(message) == true)
    }

    @Test(arguments: ["no-such-program-here", "/no/such", "relative/path", ""])
    func `a word that names no program is not run`(word: String) async {
        await #expect(throws: ProgramLauncher.Failure.self) {
            try await ProgramLauncher(connection: nil).start([word], named: "test")
        }
    }

    @Test func `a program that is not waited for is run`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/done"
            try await ProgramLauncher(connection: nil).start(["touch", path], named: "test")
            try await soon("the file") { (try? TestFile.text(of: path)) != nil }
        }
    }

    // MARK: systemd

    /// Whether systemd ends only the program, and not the processes it has started.
    private static func sparesTheBackground(_ property: Structure<String, Value>) -> Bool {
        property.members == ("KillMode", .string("process"))
    }

    /// Plays the systemd user manager; each job ends with `result`, by itself or after KillUnit.
    private func serveManager(
        _ connection: Connection,
        result: String,
        endsByItself: Bool = true
    ) async throws -> CallLog {
        let log = CallLog()
        let manager: InterfaceName = "org.freedesktop.systemd1.Manager"
        let path: ObjectPath = "/org/freedesktop/systemd1"
        let job: ObjectPath = "/org/freedesktop/systemd1/job/1"
        let end: @Sendable (String) async throws -> Void = { name in
            try await connection.emit(
                manager,
                "JobRemoved",
                at: path,
                WireWriter(UInt32(1), job, name, result)
            )
        }
        try await connection.export(
            [
                Interface(
                    manager,
                    [
                        .method("Subscribe") { (_: Call) async throws in
                            defer { log.keep("Subscribe") }
                            guard log.all.contains("Subscribe") else { return }
                            throw BusError(
                                "org.freedesktop.systemd1.AlreadySubscribed",
                                "Client is already subscribed."
                            )
                        },
                        .method(
                            "StartTransientUnit",
                            in: ["name", "mode", "properties", "aux"],
                            out: ["job"]
                        ) {
                            (
                                _: Call,
                                name: String,
                                mode: String,
                                properties: [Structure<String, Value>],
                                _: [Structure<String, [Structure<String, Value>]>]
                            ) async throws -> ObjectPath in
                            let kind = properties.first { $0.members.0 == "Type" }?.members.1
                            let command = properties.first { $0.members.0 == "ExecStart" }?.members
                                .1
                            log.keep(
                                "\(mode) \(kind.map { "\($0)" } ?? "") \(name.hasSuffix(".service"))"
                            )
                            if properties.contains(where: Self.sparesTheBackground) {
                                log.keep("spares the background")
                            }
                            log.keep("\(command.map { "\($0)" } ?? "")")
                            if endsByItself { try await end(name) }
                            return job
                        },
                        .method("KillUnit", in: ["name", "whom", "signal"]) {
                            (_: Call, name: String, whom: String, signal: Int32) async throws in
                            log.keep("KillUnit \(name.prefix(15)) \(whom) \(signal)")
                            try await end(name)
                        },
                    ]
                )
            ],
            at: path
        )
        _ = try await connection.requestName("org.freedesktop.systemd1")
        return log
    }

    @Test(arguments: ["done", "failed"])
    func `with a systemd user manager a program runs as a unit of its own`(
        result: String
    ) async throws {
        try await withPrivateBus { bus in
            let connection = try await Connection.open(.address(bus.address))
            let client = try await Connection.open(.address(bus.address))
            let log = try await serveManager(connection, result: result)
            let programs = ProgramLauncher(connection: client)
            for _ in 1...2 {
                var isDone = true
                do {
                    try await programs.run(["sh", "-c", "exit 1"], named: "test")
                } catch {
                    isDone = false
                }
                // The played systemd starts no program: its result alone decides.
                #expect(isDone == (result == "done"))
            }
            #expect(log.all.count { $0.hasPrefix("fail ") } == 2)
            #expect(log.all.contains("Subscribe"))
            #expect(log.all.contains(#"fail string("oneshot") true"#))
            #expect(log.all.last?.contains("/sh") == true)
            try await programs.start(["true", "a$b${HOME}"], named: "test")
            #expect(log.all.contains(#"fail string("exec") true"#))
            #expect(log.all.last?.contains("a$$b$${HOME}") == true)
            // A program that is waited for may leave background processes too.
            #expect(log.all.count { $0 == "spares the background" } == 3)
            await client.close()
            await connection.close()
        }
    }

    @Test func `a unit that takes too long ends with all of its processes`() async throws {
        try await withPrivateBus { bus in
            let connection = try await Connection.open(.address(bus.address))
            let client = try await Connection.open(.address(bus.address))
            let log = try await serveManager(connection, result: "failed", endsByItself: false)
            await #expect(throws: ProgramLauncher.Failure.self) {
                try await UserManager(client).run(["/bin/sh"], named: "test", within: .zero)
            }
            #expect(log.all.last == "KillUnit app-idown-test- all 15")
            await client.close()
            await connection.close()
        }
    }
}
