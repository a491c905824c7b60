// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// One download, added, watched, paused, resumed and removed by clients that others wrote.
@Suite(.timeLimit(.minutes(3)))
struct PeerTests {
    private let content = TestContent(seed: 5, count: 4 << 20)

    // MARK: Programs

    /// How a program calls a method or reads `State` of a task.
    private struct Program: Sendable, CustomTestStringConvertible {
        let name: String
        let call: @Sendable (_ path: String, _ method: String, _ arguments: [String]) -> [String]
        let readState: @Sendable (_ path: String) -> [String]

        var testDescription: String { name }
    }

    private static let name = "org.idown.Manager1"
    private static let manager = "/org/idown/Manager1"
    private static let task = "org.idown.Task1"
    private static let get = "org.freedesktop.DBus.Properties.Get"

    private static let programs = [
        Program(
            name: "dbus-send",
            call: { path, method, arguments in
                ["--session", "--print-reply=literal", "--dest=\(name)", path, method]
                    + arguments.map { "string:" + $0 }
            },
            readState: { path in
                [
                    "--session", "--print-reply=literal", "--dest=\(name)", path, get,
                    "string:\(task)", "string:State",
                ]
            }
        ),
        Program(
            name: "busctl",
            call: { path, method, arguments in
                let dot = method.lastIndex(of: ".") ?? method.endIndex
                let signature = arguments.isEmpty ? [] : ["s"]
                return [
                    "--user", "call", name, path, String(method[..<dot]),
                    String(method[dot...].dropFirst()),
                ] + signature + arguments
            },
            readState: { ["--user", "get-property", name, $0, task, "State"] }
        ),
        Program(
            name: "gdbus",
            call: { path, method, arguments in
                ["call", "--session", "--dest", name, "--object-path", path, "--method", method]
                    + arguments
            },
            readState: { path in
                [
                    "call", "--session", "--dest", name, "--object-path", path, "--method", get,
                    task, "State",
                ]
            }
        ),
        Program(
            name: "qdbus",
            call: { path, method, arguments in [name, path, method] + arguments },
            readState: { [name, $0, "\(task).State"] }
        ),
    ]

    @Test(arguments: 0..<4)
    func `programs for the shell steer a task by its object`(number: Int) async throws {
        let program = Self.programs[number]
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            func run(_ arguments: [String]) async throws -> ChildProcess.Completed {
                try await ChildProcess.run(
                    program.name,
                    arguments,
                    environment: service.environment
                )
            }
            let added = try await run(
                program.call(Self.manager, "\(Self.name).AddURL", [host.url()])
            )
            #expect(added.succeeded, "\(added)")
            let id = String(added.standardOutput.filter(\.isNumber))
            let path = "\(Self.manager)/task/\(id)"
            for (verb, state) in [("", "downloading"), ("Pause", "paused"), ("Resume", "down")] {
                if verb != "" {
                    let done = try await run(program.call(path, "\(Self.task).\(verb)", []))
                    #expect(done.succeeded, "\(verb): \(done)")
                }
                if state != "paused" { try await service.waitForState("downloading", of: id) }
                let read = try await run(program.readState(path))
                #expect(read.standardOutput.contains(state), "\(read)")
            }
            let removed = try await run(program.call(path, "\(Self.task).Remove", []))
            #expect(removed.succeeded, "\(removed)")
            let gone = try await run(program.readState(path))
            #expect(!gone.succeeded, "\(gone)")
        }
    }

    @Test func `busctl shows every object, and a task with all its members`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            let path = "\(Self.manager)/task/\(id)"
            let tree = try await ChildProcess.run(
                "busctl",
                ["--user", "--list", "tree", Self.name],
                environment: service.environment
            )
            #expect(tree.standardOutput.split(separator: "\n").contains(Substring(path)), "\(tree)")
            let members = try await ChildProcess.run(
                "busctl",
                ["--user", "introspect", Self.name, path],
                environment: service.environment
            )
            for member in [".Pause", ".Segments", ".Priority", "writable", "\"paused\""] {
                #expect(members.standardOutput.contains(member), "\(members)")
            }
        }
    }

    // MARK: Monitors

    @Test(arguments: [
        ["gdbus", "monitor", "--session", "--dest", name], ["dbus-monitor", "--session"],
    ])
    func `a monitor hears of tasks always, and of their objects once somebody has asked`(
        command: [String]
    ) async throws {
        try await withService { service in
            let monitor = try await ChildProcess.start(
                command[0],
                Array(command.dropFirst()),
                environment: service.environment
            )
            /// The lines up to one of these words.
            func lines(until words: String...) async throws -> [String] {
                try await within("\(words) from \(command[0])") {
                    var lines: [String] = []
                    while let line = await monitor.nextLine() {
                        lines.append(line)
                        if words.contains(where: line.contains) { return lines }
                    }
                    return lines
                }
            }
            // From now on it hears everything.
            _ = try await lines(until: "is owned by", "NameLost")
            let client = service.client
            func change() async throws -> String {
                let id = try await service.add("http://127.0.0.1:9/x?token=1") { $0.paused = true }
                try await client.setPriority(1, of: id)
                try await client.remove(id)
                return "\(Self.manager)/task/\(id)"
            }
            let object = try await change()
            let first = try await lines(until: "TaskRemoved")
            for signal in ["TaskAdded", "TaskChanged", "TaskRemoved"] {
                #expect(first.contains { $0.contains(signal) }, "\(first)")
            }
            #expect(!first.contains { $0.contains(object) }, "\(first)")
            try await client.subscribe()
            let next = try await change()
            let second = try await lines(until: "InterfacesRemoved")
            #expect(second.contains { $0.contains("InterfacesAdded") }, "\(second)")
            #expect(
                second.contains { $0.contains(next) && $0.contains("PropertiesChanged") },
                "\(second)"
            )
            await monitor.stop()
        }
    }

    // MARK: Libraries

    /// Sends two changes of one task without waiting in between.
    private static let changes = """
        import sys
        import dbus, dbus.mainloop.glib
        from gi.repository import GLib

        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        bus, loop = dbus.SessionBus(), GLib.MainLoop()
        name, path = 'org.idown.Manager1', '/org/idown/Manager1'
        manager = dbus.Interface(bus.get_object(name, path), name)
        task, folder = sys.argv[1:]
        for number in range(30):
            waiting = [1, 2]
            def done(*_):
                waiting.pop()
                if not waiting:
                    loop.quit()
            options = {'directory': f'{folder}/{number}', 'priority': dbus.Int32(1)}
            manager.SetOptions(
                task, dbus.Dictionary(options, signature='sv'), reply_handler=done, error_handler=print)
            manager.SetPriority(task, 2, reply_handler=done, error_handler=print)
            loop.run()
            print(int(manager.GetTask(task)['Priority']))
        """

    @Test func `changes of one task are made in the order of their calls`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/") { $0.paused = true }
            let caller = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", Self.changes, id, service.home.download("new")],
                environment: service.environment
            )
            #expect(
                caller.standardOutput.split(separator: "\n") == Array(repeating: "2", count: 30),
                "\(caller.standardError)"
            )
        }
    }

    /// Each adds the URL of its first argument, prints the states that it is told of, pauses at the
    /// first `downloading`, resumes at `paused`, removes at the second, and ends when that is told.
    @Test(arguments: PeerScript.all)
    func `libraries follow a task and steer it`(script: PeerScript) async throws {
        let host = try ChangingHost(.held(content, after: 1 << 20))
        defer { host.stop() }
        try await withService { service in
            let run = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", PeerScript.steps + script.text, host.url()],
                environment: service.environment
            )
            let states = run.standardOutput.split(separator: "\n")
            #expect(
                states == ["downloading", "paused", "downloading", "removed"],
                "\(script.name): \(run.standardError)"
            )
            #expect(try await service.client.listTasks().isEmpty)
        }
    }
}
