// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite struct DecoderTests {
    @Test func `32 nested variants and a string of 10 MB arrive`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let text = String(repeating: "0123456789", count: 1_000_000)
            let deep = (0..<32).reduce(Value.string(text)) { value, _ in .variant(value) }
            #expect(try await proxy.call("Echo", deep, returning: Value.self) == deep)
        }
    }

    @Test func `a Unix descriptor is refused and not kept open`() async throws {
        try await withServiceAndClient { service, _, bus in
            try await service.export([sample()], at: samplePath)
            // Sends the writing end of a pipe and waits for the end of the file, which comes when
            // the last copy of that end is closed.
            let script = """
                import dbus, os, select, sys
                bus = dbus.bus.BusConnection(sys.argv[1])
                reader, writer = os.pipe()
                try:
                    bus.call_blocking(sys.argv[2], '\(samplePath)', '\(sampleInterface)', 'Echo',
                                      'v', (dbus.types.UnixFd(writer, variant_level=1),))
                except dbus.DBusException as error:
                    print(error.get_dbus_name())
                os.close(writer)
                print('closed' if select.select([reader], [], [], 10)[0] else 'still open')
                """
            let name = await service.uniqueName
            let completed = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", script, bus.address, name.rawValue]
            )
            #expect(
                completed.standardOutput == "org.freedesktop.DBus.Error.InvalidArgs\nclosed",
                "\(completed.standardError)"
            )
        }
    }

    /// libdbus lets pass what the specification forbids: arrays that a structure parts.
    @Test(arguments: [31: "answered", 32: "org.freedesktop.DBus.Error.InvalidArgs"])
    func `more than 32 nested arrays are refused`(inner: Int, outcome: String) async throws {
        try await withServiceAndClient { service, _, bus in
            try await service.export([sample()], at: samplePath)
            let script = """
                import dbus, sys
                bus = dbus.bus.BusConnection(sys.argv[1])
                array = dbus.Array([], signature='(y' + 'a' * \(inner) + 'y)', variant_level=1)
                try:
                    bus.call_blocking(sys.argv[2], '\(samplePath)', '\(sampleInterface)', 'Echo',
                                      'v', (array,))
                    print('answered')
                except dbus.DBusException as error:
                    print(error.get_dbus_name())
                """
            let name = await service.uniqueName
            let completed = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", script, bus.address, name.rawValue]
            )
            #expect(completed.standardOutput == outcome, "\(completed.standardError)")
        }
    }
}
