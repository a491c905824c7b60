// SPDX-License-Identifier: Apache-2.0

import iDownTesting

@testable import DBus

/// Runs `body` with a service's and a client's connection to a bus of their own.
func withServiceAndClient(
    _ body: (_ service: Connection, _ client: Connection, _ bus: PrivateBus) async throws -> Void
) async throws {
    try await withPrivateBus { bus in
        let service = try await Connection.open(.address(bus.address))
        let client = try await Connection.open(.address(bus.address))
        do {
            try await body(service, client, bus)
        } catch {
            await service.close()
            await client.close()
            throw error
        }
        await service.close()
        await client.close()
    }
}

/// An interface that tries every kind of member.
let sampleInterface: InterfaceName = "org.example.Sample1"

/// Where it is exported.
let samplePath: ObjectPath = "/org/example/Sample1"

/// Its signal.
let sampleChanged = Signal<String, [String: Value]>(
    sampleInterface,
    "Changed",
    arguments: ["id", "values"]
)

/// The table of the sample.
func sample() -> Interface {
    Interface(
        sampleInterface,
        [
            .method("Nothing") { (_: Call) in },
            .method("Echo", in: ["value"], out: ["value"]) { (_: Call, value: Value) in value },
            .method("Join", in: ["left", "right"], out: ["whole"]) {
                (_: Call, left: String, right: String) in left + right
            },
            .method("Split", in: ["range"], out: ["first", "second"]) {
                (_: Call, range: Structure<UInt64, UInt64>) in range.members
            },
            .method("Name", in: ["file"], out: ["number"]) { (_: Call, file: OpenDescriptor) in
                UInt64(clamping: file.number)
            },
            .method("Turn", in: ["file", "list"], out: ["files", "values"]) {
                (
                    _: Call,
                    file: OpenDescriptor,
                    list: [Structure<String, [String: Value], OpenDescriptor>]
                ) in
                ([list[0].members.2, file], list[0].members.1)
            },
            .method("Refuse", in: ["text"]) { (_: Call, text: String) async throws in
                throw BusError("org.example.Error.Refused", text)
            },
            .method("Break") { (_: Call) async throws in throw Broken(part: "wheel") },
            .property("Version", .constant, get: { _ in "1.0" }),
            .property("Size", get: { _ in UInt32(7) }, set: { (_: Call, _: UInt32) in }),
            .property("Rate", .never, get: { _ in Int64(-1) }),
            .property("Names", .invalidates, get: { _ in ["a", "b"] }),
            .signal(sampleChanged),
        ]
    )
}

/// An error that the bus knows nothing of.
struct Broken: Error {
    let part: String
}

extension Connection {
    /// Sends a signal without a declaration.
    func emit(
        _ interface: InterfaceName,
        _ member: MemberName,
        at path: ObjectPath,
        _ arguments: [Value]
    ) throws(BusError) {
        try emit(interface, member, at: path, WireWriter(contents: arguments))
    }
}
