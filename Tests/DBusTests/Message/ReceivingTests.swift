// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import DBus

@Suite struct ReceivingTests {
    @Test func `32 nested variants and a string of 10 MB arrive`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let text = String(repeating: "0123456789", count: 1_000_000)
            let deep = (0..<32).reduce(Value.string(text)) { value, _ in .variant(value) }
            #expect(try await proxy.call("Echo", deep, returning: Value.self) == deep)
        }
    }

    @Test func `a file that no method asks for is refused and not kept open`() async throws {
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

    @Test func `open files go both ways, wherever they stand in a message`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            var ends: [CInt] = [0, 0]
            #expect(pipe(&ends) == 0)
            let writing = OpenDescriptor(owning: ends[1])
            let reading = OpenDescriptor(owning: ends[0])
            // The service turns their order round, in a dictionary, and says who they are.
            let values: [String: Value] = ["w": .descriptor(writing), "text": .string("ä")]
            let (back, name) = try await proxy.call(
                "Turn",
                reading,
                [Structure("x", values, writing)],
                returning: [OpenDescriptor].self,
                [String: Value].self
            )
            #expect(back.count == 2)
            #expect(name["text"] == .string("ä"))
            for descriptor in back { #expect(descriptor.number > 2) }
            // What is written into the one end that came back arrives at the other one.
            guard case .descriptor(let copy) = name["w"] else {
                Issue.record("no descriptor: \(name)")
                return
            }
            #expect(write(copy.number, "a", 1) == 1)
            var byte: UInt8 = 0
            #expect(read(back[1].number, &byte, 1) == 1)
            #expect(byte == UInt8(ascii: "a"))
        }
    }

    @Test func `a descriptor that is not open is refused, and the connection stays`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            var ends: [CInt] = [0, 0]
            #expect(pipe(&ends) == 0)
            close(ends[0])
            for number in [-1, ends[0]] {
                let error = await #expect(throws: BusError.self) {
                    try await proxy.call(
                        "Turn",
                        OpenDescriptor(owning: number),
                        [Structure("x", [String: Value](), OpenDescriptor(owning: ends[1]))],
                        returning: [OpenDescriptor].self,
                        [String: Value].self
                    )
                }
                #expect(error?.name == BusError.invalidArguments("").name)
                #expect(error?.message == "The descriptor \(number) is not open.")
            }
            #expect(await client.isOpen)
        }
    }

    @Test func `a number of an open file that did not come is refused`() throws {
        let wrong = WireReader([7, 0, 0, 0], "h")
        #expect(throws: DecodingFailure.self) { try wrong.values() }
    }
}
