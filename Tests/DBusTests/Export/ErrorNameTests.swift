// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite struct ErrorNameTests {
    private let properties: InterfaceName = "org.freedesktop.DBus.Properties"

    /// The error that a call to the sample meets.
    private func refusal(
        _ member: MemberName,
        _ arguments: [Value] = [],
        at path: ObjectPath = samplePath,
        of interface: InterfaceName = sampleInterface
    ) async throws -> BusError {
        var refusal: BusError?
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let name = await service.uniqueName
            do throws(BusError) {
                _ = try await client.call(name, path, interface, member, arguments)
            } catch {
                refusal = error
            }
        }
        return try #require(refusal)
    }

    private func standard(_ suffix: String) -> String {
        "org.freedesktop.DBus.Error." + suffix
    }

    @Test func `an unknown object, interface or method has the specification's name`() async throws
    {
        #expect(
            try await refusal("Nothing", at: "/no/where").name.rawValue == standard("UnknownObject")
        )
        let other = try await refusal("Nothing", of: "org.example.Other")
        #expect(other.name.rawValue == standard("UnknownInterface"))
        #expect(try await refusal("NoSuch").name.rawValue == standard("UnknownMethod"))
        #expect(
            try await refusal("Nothing", at: "/org").name.rawValue == standard("UnknownInterface")
        )
    }

    @Test func `wrong arguments are told what was expected`() async throws {
        let error = try await refusal("Join", [.string("a"), .uint32(1)])
        #expect(error.name.rawValue == standard("InvalidArgs"))
        let message = #"Join takes (s left, s right) with the signature "ss", not "su"."#
        #expect(error.message == message)
        #expect(try await refusal("Nothing", [.byte(1)]).name.rawValue == standard("InvalidArgs"))
        #expect(try await refusal("Join").name.rawValue == standard("InvalidArgs"))
    }

    @Test func `properties refuse by the specification's names`() async throws {
        let interface = Value.string(sampleInterface.rawValue)
        let cases: [(MemberName, [Value], String)] = [
            ("Get", [interface, .string("NoSuch")], "UnknownProperty"),
            ("Get", [.string("org.example.Other"), .string("Size")], "UnknownInterface"),
            ("GetAll", [.string("not a name")], "UnknownInterface"),
            ("Set", [interface, .string("Version"), .variant(.string("2"))], "PropertyReadOnly"),
            ("Set", [interface, .string("NoSuch"), .variant(.string("2"))], "UnknownProperty"),
            ("Set", [interface, .string("Size"), .variant(.string("2"))], "InvalidArgs"),
            ("Get", [interface], "InvalidArgs"),
        ]
        for (member, arguments, name) in cases {
            let error = try await refusal(member, arguments, of: properties)
            #expect(error.name.rawValue == standard(name), "\(member) \(arguments): \(error)")
        }
    }

    @Test func `a standard interface is known, and has no properties`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let name = await service.uniqueName
            for standard in ["Properties", "Introspectable", "Peer"] {
                let interface = Value.string("org.freedesktop.DBus." + standard)
                let all = try await client.call(name, samplePath, properties, "GetAll", [interface])
                #expect(all == [[String: Value]().busValue], "\(standard)")
                let error = await #expect(throws: BusError.self) {
                    try await client.call(
                        name,
                        samplePath,
                        properties,
                        "Get",
                        [interface, .string("Size")]
                    )
                }
                #expect(error?.name.rawValue == self.standard("UnknownProperty"), "\(standard)")
            }
        }
    }

    @Test func `a handler's own error goes out as it is`() async throws {
        #expect(
            try await refusal("Refuse", [.string("why")])
                == BusError("org.example.Error.Refused", "why")
        )
    }

    @Test func `an error text with U+0000 goes out repaired`() async throws {
        try await withServiceAndClient { service, client, _ in
            let bad = Interface(
                sampleInterface,
                [.method("Bad") { (_: Call) async throws in throw BusError.failed("a\0b") }]
            )
            try await service.export([bad], at: samplePath)
            let name = await service.uniqueName
            let error = await #expect(throws: BusError.self) {
                try await client.call(name, samplePath, sampleInterface, "Bad")
            }
            #expect(error?.message == "a\u{FFFD}b")
        }
    }

    @Test func `a result that cannot be sent becomes an error`() async throws {
        try await withServiceAndClient { service, client, _ in
            let bad = Interface(
                sampleInterface,
                [.method("Bad", out: ["text"]) { (_: Call) in "a\0b" }]
            )
            try await service.export([bad], at: samplePath)
            let name = await service.uniqueName
            let error = await #expect(throws: BusError.self) {
                try await client.call(name, samplePath, sampleInterface, "Bad")
            }
            // The caller's arguments were right.
            #expect(error?.name == "org.freedesktop.DBus.Error.Failed")
        }
    }

    @Test func `any other error is Failed with its text`() async throws {
        #expect(try await refusal("Break") == .failed("Broken(part: \"wheel\")"))
    }
}
