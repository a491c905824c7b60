// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite struct SubtreeTests {
    private let parent: ObjectPath = "/org/example/rooms"

    /// The last element of a room's path.
    private static func name(_ path: ObjectPath) -> String {
        path.rawValue.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Two rooms, told apart by their paths.
    private var rooms: Subtree {
        let names = ["1", "2"]
        return Subtree(
            [
                Interface(
                    "org.example.Room1",
                    [
                        .method("Where", out: ["path"]) { (call: Call) in call.path },
                        .property(
                            "Name",
                            type: "s",
                            get: { WireWriter(Value.string(Self.name($0.path))) }
                        ),
                        .property("Size", .constant, get: { _ in UInt32(0) }),
                    ],
                    snapshot: { call in
                        WireWriter(["Name": Value.string(call.path.rawValue), "Size": .uint32(9)])
                    }
                )
            ],
            contains: { names.contains(Self.name($0)) },
            children: { names }
        )
    }

    private func withRooms(
        _ body: (_ room: (ObjectPath) -> Proxy, _ bus: PrivateBus, BusName) async throws -> Void
    ) async throws {
        try await withServiceAndClient { service, client, bus in
            try await service.export(rooms, below: parent)
            let name = await service.uniqueName
            try await body({ Proxy(client, name, $0, "org.example.Room1") }, bus, name)
        }
    }

    @Test func `every object of a subtree answers under its own path`() async throws {
        try await withRooms { room, _, _ in
            let second = try parent.appending("2")
            #expect(try await room(second).call("Where", returning: ObjectPath.self) == second)
            #expect(try await room(second).get("Name", as: String.self) == "2")
        }
    }

    @Test func `GetAll takes the snapshot, not one property after the other`() async throws {
        try await withRooms { room, _, _ in
            let all = try await room(try parent.appending("1")).getAll()
            #expect(all == ["Name": .string("/org/example/rooms/1"), "Size": .uint32(9)])
        }
    }

    @Test func `what is not there is an unknown object`() async throws {
        try await withRooms { room, _, _ in
            let cases: [(ObjectPath, ErrorName)] = [
                (try parent.appending("1"), "org.freedesktop.DBus.Error.UnknownMethod"),
                (try parent.appending("3"), "org.freedesktop.DBus.Error.UnknownObject"),
                (try parent.appending("1").appending("1"), unknownObject),
            ]
            for (path, name) in cases {
                let error = await #expect(throws: BusError.self) {
                    try await room(path).call("Nothing")
                }
                #expect(error?.name == name, "\(path)")
            }
        }
    }

    @Test func `properties of what is not there are an unknown object's`() async throws {
        try await withRooms { room, _, _ in
            let absent = room(try parent.appending("3"))
            let calls: [(Proxy) async throws -> Void] = [
                { _ = try await $0.get("Colour", as: String.self) },
                { try await $0.set("Name", to: "x") },
            ]
            for call in calls {
                let error = await #expect(throws: BusError.self) { try await call(absent) }
                #expect(error?.name == unknownObject)
            }
        }
        try await withServiceAndClient { service, client, _ in
            try await service.export(rooms, below: parent)
            // An interface without properties.
            let peer: (String) async throws -> [String: Value] = { room in
                let path = try parent.appending(room)
                return try await Proxy(
                    client,
                    await service.uniqueName,
                    path,
                    "org.freedesktop.DBus.Peer"
                ).getAll()
            }
            #expect(try await peer("1") == [:])
            let error = await #expect(throws: BusError.self) { try await peer("3") }
            #expect(error?.name == unknownObject)
        }
    }

    private let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"

    @Test func `the tree leads to every object`() async throws {
        try await withRooms { _, bus, name in
            let tree = try await ChildProcess.run(
                "busctl",
                ["--address=\(bus.address)", "--list", "tree", name.rawValue]
            )
            let lines = tree.standardOutput.split(separator: "\n")
            for path in ["/org/example/rooms", "/org/example/rooms/1", "/org/example/rooms/2"] {
                #expect(lines.contains(Substring(path)), "\(tree)")
            }
        }
    }

    @Test func `Introspect tells nothing of an object that is not there`() async throws {
        try await withServiceAndClient { service, _, _ in
            try await service.export(rooms, below: parent)
            let document = try await service.introspection(at: try parent.appending("1"))
            #expect(document.contains("<interface name=\"org.example.Room1\">"))
            let absent = try parent.appending("7")
            let error = await #expect(throws: BusError.self) {
                try await service.introspection(at: absent)
            }
            #expect(error?.name == unknownObject)
        }
    }

    @Test func `below a malformed path there is none`() async throws {
        try await withServiceAndClient { service, _, _ in
            for path: ObjectPath in ["rooms", "/rooms/", "rooms//"] {
                let error = await #expect(throws: BusError.self) {
                    try await service.export(rooms, below: path)
                }
                #expect(error?.name == "org.freedesktop.DBus.Error.InvalidArgs", "\(path)")
            }
        }
    }

    @Test func `below one path there is one subtree`() async throws {
        try await withServiceAndClient { service, _, _ in
            try await service.export(rooms, below: parent)
            let error = await #expect(throws: BusError.self) {
                try await service.export(rooms, below: parent)
            }
            #expect(error?.name == "org.freedesktop.DBus.Error.ObjectPathInUse")
        }
    }
}
