// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownTesting

extension ServiceUnderTest {
    /// Where ``installForDesktop()`` puts things.
    var prefix: String { home.path + "/installed" }

    /// The installed `.desktop` file.
    var desktopFile: String { prefix + "/share/applications/org.idown.Manager1.desktop" }

    /// The variables of a desktop's programs, which also see what the system has.
    var desktopEnvironment: [String: String] {
        environment.merging([
            "XDG_DATA_DIRS": "\(prefix)/share:/usr/local/share:/usr/share",
            "XDG_CURRENT_DESKTOP": "X-Nobody",
        ]) { $1 }
    }

    /// Installs everything as `make install` does, with scripts for programs that lead into this
    /// home, and lets the bus know the service.
    func installForDesktop() async throws {
        try installForActivation()
        let programs = home.path + "/programs"
        #expect(mkdir(programs, 0o700) == 0)
        let lines = [
            "idownd": "exec '\(home.path)/start-service'",
            "idown": "exec '\(try BuiltProgram("idown").path)' \"$@\"",
        ]
        for (name, line) in lines {
            try TestFile.write("#!/bin/sh\n\(line)\n", to: "\(programs)/\(name)")
        }
        let source = try #require(realpath(#filePath, nil))
        defer { free(source) }
        let root = String(cString: source).split(separator: "/").dropLast(3)
        let installed = try await ChildProcess.run(
            "/" + root.joined(separator: "/") + "/desktop/install",
            ["put", programs],
            environment: desktopEnvironment.merging(["PREFIX": prefix]) { $1 }
        )
        try #require(installed.succeeded, "\(installed)")
        // The bus reads this folder alone.
        let name = "org.idown.Manager1.service"
        let entry = try TestFile.text(of: "\(prefix)/share/dbus-1/services/\(name)")
        try TestFile.write(entry, to: "\(home.services)/\(name)")
    }

    /// Runs a program of the desktop to its end.
    func desktop(_ program: String, _ arguments: String...) async throws -> ChildProcess.Completed {
        let environment = desktopEnvironment
        return try await within("\(program) \(arguments)") {
            try await ChildProcess.run(program, arguments, environment: environment)
        }
    }

    /// The id of the next task that is added after a mark in the signals.
    func addedTask(after mark: Int) async throws -> String {
        let signal = try await signals.first(after: mark, "a task to be added") { signal in
            signal.member == "TaskAdded"
        }
        guard case .string(let id) = signal.arguments.first else { return "" }
        return id
    }
}
