// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite struct DispatchTests {
    /// Runs a client program against the sample and answers what it printed on either channel.
    private func output(
        _ program: String,
        _ arguments: (_ service: String) -> [String]
    ) async throws -> String {
        var output = ""
        try await withServiceAndClient { service, _, bus in
            try await service.export([sample()], at: samplePath)
            let name = await service.uniqueName
            let completed = try await ChildProcess.run(
                program,
                arguments(name.rawValue),
                environment: bus.environment
            )
            output = completed.standardOutput + completed.standardError
        }
        return output
    }

    @Test func `busctl calls a method`() async throws {
        let output = try await output("busctl") {
            [
                "--user", "call", $0, samplePath.rawValue, sampleInterface.rawValue, "Split",
                "(tt)",
                "3", "4",
            ]
        }
        #expect(output == "tt 3 4")
    }

    @Test func `dbus-send calls a method`() async throws {
        let output = try await output("dbus-send") {
            [
                "--session", "--print-reply=literal", "--dest=\($0)", samplePath.rawValue,
                "\(sampleInterface).Join", "string:left", "string:right",
            ]
        }
        #expect(output.contains("leftright"))
    }

    @Test func `gdbus calls a method and reads a property`() async throws {
        let joined = try await output("gdbus") {
            [
                "call", "--session", "--dest", $0, "--object-path", samplePath.rawValue, "--method",
                "\(sampleInterface).Join", "a", "b",
            ]
        }
        #expect(joined == "('ab',)")
        let names = try await output("gdbus") {
            [
                "call", "--session", "--dest", $0, "--object-path", samplePath.rawValue, "--method",
                "org.freedesktop.DBus.Properties.Get", sampleInterface.rawValue, "Names",
            ]
        }
        #expect(names == "(<['a', 'b']>,)")
    }

    @Test func `gdbus reads the introspection`() async throws {
        let output = try await output("gdbus") {
            ["introspect", "--session", "--dest", $0, "--object-path", samplePath.rawValue]
        }
        #expect(output.contains("readwrite u Size = 7;"))
        #expect(output.contains("Join(in  s left,"))
    }
}
