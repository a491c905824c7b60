// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Testing
import iDownBus
import iDownTesting

/// `idown service`, `--no-start`, and the help for a shell without a session bus.
@Suite(.timeLimit(.minutes(5)))
struct ServiceCommandTests {
    @Test func `idown service starts, inspects, restarts and stops the service`() async throws {
        try await withService(started: false) { service in
            try service.installForActivation()
            let stopped = try await idown("service", "status", in: service)
            #expect(stopped.status == .exited(69), "\(stopped)")
            #expect(stopped.standardOutput == "stopped")
            let noNeed = try await idown("service", "stop", in: service)
            #expect(noNeed.status == .exited(0), "\(noNeed)")
            #expect(try await !service.client.isRunning())
            let started = try await idown("service", "start", in: service)
            #expect(started.status == .exited(0), "\(started)")
            let first = try await service.processID()
            let running = try await idown("service", "status", "--json", in: service)
            #expect(running.status == .exited(0), "\(running)")
            #expect(
                try await evaluate(
                    "x['Running'], x['Process'], x['Version']",
                    of: running.standardOutput
                )
                    == "True \(first) \(Contract.version)"
            )
            #expect(try await idown("service", "restart", in: service).status == .exited(0))
            #expect(try await service.processID() != first)
            let ended = try await idown("service", "stop", in: service)
            #expect(ended.status == .exited(0), "\(ended)")
            #expect(try await !service.client.isRunning())
        }
    }

    @Test func `a service that hangs is told from one that does not run`() async throws {
        try await withService { service in
            let process = try await service.processID()
            kill(process, SIGSTOP)
            defer { kill(process, SIGCONT) }
            for command in ["stop", "restart"] {
                let ended = try await idown(
                    ["service", command],
                    in: service,
                    environment: ["IDOWN_TIMEOUT": "1"]
                )
                #expect(ended.status == .exited(69), "\(ended)")
                #expect(ended.standardError.contains("kill -KILL \(process)"), "\(ended)")
            }
            let status = try await idown(
                ["service", "status"],
                in: service,
                environment: ["IDOWN_TIMEOUT": "1"]
            )
            #expect(status.status == .exited(7), "\(status)")
            #expect(status.standardOutput == "running", "\(status)")
            #expect(status.standardError.contains("did not answer"), "\(status)")
            let version = try await idown("--version", in: service)
            #expect(version.standardOutput.hasSuffix("idownd (does not answer)"), "\(version)")
        }
    }

    /// Runs a body beside a session bus that accepts connections and never answers.
    private func withSilentBus(
        _ body: (_ socket: CInt, _ environment: [String: String]) async throws -> Void
    ) async throws {
        try await withService(started: false) { service in
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let path = "\(service.home.path)/silent"
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
            defer { close(listener) }
            let isBound = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(isBound == 0 && listen(listener, 16) == 0)
            var environment = service.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(path)"
            environment["IDOWN_TIMEOUT"] = "1"
            try await body(listener, environment)
        }
    }

    @Test(arguments: [
        ["list"], ["get", "http://127.0.0.1:9/"], ["service", "status"], ["doctor"], ["--version"],
    ])
    func `a command ends although the session bus does not answer`(command: [String]) async throws {
        try await withSilentBus { _, environment in
            let program = try BuiltProgram("idown").path
            let ended = try await within("idown \(command)") {
                try await ChildProcess.run(program, command, environment: environment)
            }
            let text = ended.standardOutput + ended.standardError
            let isVersion = command == ["--version"]
            #expect(text.contains(isVersion ? "idown " : "does not answer"), "\(ended)")
            #expect(
                ended.status == .exited(isVersion ? 0 : command == ["doctor"] ? 1 : 69),
                "\(ended)"
            )
        }
    }

    @Test(arguments: [["--version", "x"], ["--help", "--version"], ["-h", ""], ["x"]])
    func `arguments that the service does not take are refused`(arguments: [String]) async throws {
        let ended = try await ChildProcess.run(try BuiltProgram("idownd").path, arguments)
        #expect(ended.status == .exited(64), "\(ended)")
    }

    @Test func `SIGTERM ends a service whose bus does not answer`() async throws {
        try await withSilentBus { listener, environment in
            let service = try await ChildProcess.start(
                try BuiltProgram("idownd").path,
                environment: environment
            )
            let taken = try await within("the service to connect") {
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async {
                        continuation.resume(returning: accept(listener, nil, nil))
                    }
                }
            }
            defer { close(taken) }
            service.send(SIGTERM)
            let status = try await within("the service to end") { await service.waitForExit() }
            #expect(status != .signaled(SIGKILL))
        }
    }

    @Test func `logs shows the journal, and without a journal says where the log is`()
        async throws
    {
        try await withService(started: false) { service in
            let folder = service.home.path + "/bin"
            mkdir(folder, 0o700)
            // The environment in which the tests start programs.
            for program in ["setpriv", "env"] {
                symlink("/usr/bin/\(program)", "\(folder)/\(program)")
            }
            let without = try await idown(
                ["service", "logs"],
                in: service,
                environment: ["PATH": folder]
            )
            #expect(without.status == .exited(1), "\(without)")
            #expect(without.standardError.contains("standard error"), "\(without)")
            // The signal ends the command, which is this program by now.
            try TestFile.write("#!/bin/sh\necho \"$@\"\nkill $$\n", to: folder + "/journalctl")
            chmod(folder + "/journalctl", 0o700)
            let shown = try await idown(
                ["service", "logs", "-f", "-n", "7"],
                in: service,
                environment: ["PATH": "\(folder):/usr/bin:/bin"]
            )
            #expect(shown.status == .signaled(SIGTERM), "\(shown)")
            #expect(
                shown.standardOutput == "--user --unit idownd.service --lines 7 --follow",
                "\(shown)"
            )
            try TestFile.write("#!/bin/sh\n", to: folder + "/journalctl")
            let empty = try await idown(
                ["service", "logs"],
                in: service,
                environment: ["PATH": "\(folder):/usr/bin:/bin"]
            )
            #expect(empty.status == .exited(0) && empty.standardOutput == "", "\(empty)")
            #expect(empty.standardError.contains("no line of idownd"), "\(empty)")
        }
    }

    @Test func `with --no-start list and show do not start the service, and say so`() async throws {
        try await withService(started: false) { service in
            try service.installForActivation()
            for command in [["list", "--no-start"], ["show", "--no-start", "1"]] {
                let ended = try await idown(command, in: service)
                #expect(ended.status == .exited(69), "\(ended)")
                #expect(ended.standardOutput == "")
                #expect(ended.standardError.contains("the service does not run"), "\(ended)")
                #expect(ended.standardError.contains("idown service start"), "\(ended)")
                #expect(try await !service.client.isRunning())
            }
            _ = try await service.add("http://127.0.0.1:9/x") { $0.paused = true }
            let list = try await idown("list", "--no-start", in: service)
            #expect(list.status == .exited(0), "\(list)")
            #expect(list.standardOutput.contains("paused"), "\(list)")
            #expect(try await idown("show", "--no-start", "1", in: service).status == .exited(0))
        }
    }

    /// The words after "Run: " of a message.
    private func remedy(in ended: ChildProcess.Completed) throws -> String {
        let range = try #require(ended.standardError.firstRange(of: "Run: "), "\(ended)")
        return String(ended.standardError[range.upperBound...].prefix { $0 != "\n" })
    }

    @Test func `without a session bus the error names a command that works there`() async throws {
        try await withService(started: false) { service in
            // In a container there is no bus and no runtime folder, but an installed service.
            try service.installForActivation()
            let services = service.home.path + "/.local/share/dbus-1"
            _ = try await ChildProcess.run("mkdir", ["-p", services])
            symlink(service.home.services, services + "/services")
            var bare = service.home.variables
            for name in ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"] { bare[name] = nil }
            bare["PATH"] = getenv("PATH").map { String(cString: $0) }
            let environment = bare
            let program = try BuiltProgram("idown").path
            let alone = try await ChildProcess.run(
                program,
                ["list", "--json"],
                environment: environment
            )
            #expect(alone.status == .exited(69), "\(alone)")
            for (options, expected) in [([], "stopped"), (["--json"], #""Running" : false"#)] {
                let status = try await ChildProcess.run(
                    program,
                    ["service", "status"] + options,
                    environment: environment
                )
                #expect(status.status == .exited(69), "\(status)")
                #expect(status.standardOutput.contains(expected), "\(status)")
                #expect(status.standardError.contains("no session bus"), "\(status)")
            }
            let command = try remedy(in: alone)
            #expect(command == "dbus-run-session -- idown list …")
            let line = command.replacing("idown list …", with: "'\(program)' list --json")
            let helped = try await within("the remedy") {
                try await ChildProcess.run("sh", ["-c", line], environment: environment)
            }
            #expect(helped.status == .exited(0), "\(helped)")
            #expect(helped.standardOutput == "[]")
        }
    }
}
