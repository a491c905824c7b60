// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// What is wrong with a call is answered by the specification's names, or by the contract's own.
@Suite(.timeLimit(.minutes(1)))
struct ErrorTests {
    private struct Row: Sendable {
        let path: String
        let interface: InterfaceName
        let member: MemberName
        let arguments: [Value]
        let error: String

        init(
            _ path: String,
            _ interface: InterfaceName,
            _ member: MemberName,
            _ arguments: [Value],
            _ error: String
        ) {
            self.path = path
            self.interface = interface
            self.member = member
            self.arguments = arguments
            self.error = error
        }
    }

    private static let root = "/org/idown/Manager1"
    private static let manager: InterfaceName = "org.idown.Manager1"
    private static let task: InterfaceName = "org.idown.Task1"
    private static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
    private static let objects: InterfaceName = "org.freedesktop.DBus.ObjectManager"
    private static let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"

    private static func set(
        _ path: String,
        _ interface: InterfaceName,
        _ property: String,
        _ value: Value,
        _ error: String
    ) -> Row {
        Row(
            path,
            properties,
            "Set",
            [.string(interface.rawValue), .string(property), .variant(value)],
            error
        )
    }

    private static func get(
        _ path: String,
        _ interface: String,
        _ property: String,
        _ error: String
    ) -> Row {
        Row(path, properties, "Get", [.string(interface), .string(property)], error)
    }

    /// Task 1 is there, task 99 is not.
    private static let rows = [
        // What is not there.
        Row(root, manager, "Launch", [], "UnknownMethod"),
        Row(root, "org.idown.Manager2", "Pause", [.string("1")], "UnknownInterface"),
        Row("/org/idown/Other", manager, "Pause", [.string("1")], "UnknownObject"),
        Row(root + "/task/1", task, "Launch", [], "UnknownMethod"),
        Row(root + "/task/1", manager, "Pause", [.string("1")], "UnknownInterface"),
        Row(root + "/task/1/1", task, "Pause", [], "UnknownObject"),
        Row(root + "/task/99", task, "Pause", [], "UnknownObject"),
        Row(root + "/task/99", task, "Launch", [], "UnknownObject"),
        Row(root + "/task/01", task, "Pause", [], "UnknownObject"),
        Row(root + "/task/x", introspectable, "Introspect", [], "UnknownObject"),
        Row(root + "/task/99", introspectable, "Introspect", [], "UnknownObject"),
        Row(root + "/task", task, "Pause", [], "UnknownInterface"),
        Row(root + "/task/1", objects, "GetManagedObjects", [], "UnknownInterface"),
        get(root, "org.idown.Manager1", "Colour", "UnknownProperty"),
        get(root, "org.idown.Task1", "State", "UnknownInterface"),
        get(root + "/task/1", "org.idown.Task1", "Colour", "UnknownProperty"),
        get(root + "/task/99", "org.idown.Task1", "State", "UnknownObject"),
        Row(root + "/task/99", properties, "GetAll", [.string("")], "UnknownObject"),
        // What may not be set, or not to this.
        set(root, manager, "Version", .string("2"), "PropertyReadOnly"),
        set(root, manager, "TaskCount", .uint32(1), "PropertyReadOnly"),
        set(root, manager, "Colour", .uint32(1), "UnknownProperty"),
        set(root, manager, "MaxConcurrentDownloads", .uint32(0), "InvalidArgs"),
        set(root, manager, "MaxConcurrentDownloads", .uint32(65), "InvalidArgs"),
        set(root, manager, "MaxConcurrentDownloads", .int32(3), "InvalidArgs"),
        set(root, manager, "MaxConnectionsPerDownload", .uint32(17), "InvalidArgs"),
        set(root, manager, "SpeedLimit", .uint64(.max), "InvalidArgs"),
        set(root, manager, "KeepCompleted", .uint64(1), "InvalidArgs"),
        set(root, manager, "DownloadDirectory", .string("here"), "InvalidArgs"),
        set(root + "/task/1", task, "State", .string("paused"), "PropertyReadOnly"),
        set(root + "/task/1", task, "Priority", .string("1"), "InvalidArgs"),
        set(root + "/task/1", task, "Priority", .uint32(1), "InvalidArgs"),
        set(root + "/task/1", task, "MaxConnections", .uint32(17), "InvalidArgs"),
        set(root + "/task/1", task, "MaxConnections", .int32(1), "InvalidArgs"),
        set(root + "/task/99", task, "Priority", .int32(1), "UnknownObject"),
        set(root + "/task/99", task, "MaxConnections", .uint32(1), "UnknownObject"),
        // What is of the wrong type, or too much, or too little.
        Row(root, manager, "AddURL", [], "InvalidArgs"),
        Row(root, manager, "AddURL", [.uint32(1)], "InvalidArgs"),
        Row(root, manager, "Pause", [.string("1"), .string("1")], "InvalidArgs"),
        Row(root, manager, "Pause", [.objectPath("/org/idown/Manager1/task/1")], "InvalidArgs"),
        Row(root, manager, "StartTasks", [.string("1")], "InvalidArgs"),
        Row(root, manager, "StartAll", [.string("1")], "InvalidArgs"),
        Row(root + "/task/1", task, "Pause", [.string("1")], "InvalidArgs"),
        // What the contract names itself.
        Row(root, manager, "Pause", [.string("99")], "NoSuchTask"),
        Row(root, manager, "Explain", [.string("/org/idown/Manager1/task/99")], "NoSuchTask"),
        Row(root, manager, "Wait", [.string("")], "NoSuchTask"),
        Row(root, manager, "SetPriority", [.string("01"), .int32(1)], "NoSuchTask"),
        Row(root, manager, "PauseTasks", [["1", "99"].busValue], "NoSuchTask"),
        Row(root, manager, "FindTasks", [["colour": Value.byte(1)].busValue], "InvalidOption"),
        Row(
            root,
            manager,
            "RemoveTasks",
            [["1"].busValue, ["unlink-files": Value.boolean(true)].busValue],
            "InvalidOption"
        ),
    ]

    @Test func `each mistake has its name, and changes nothing`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            #expect(id == "1")
            let before = try await Traces.of(service)
            for row in Self.rows {
                let comment: Comment = "\(row.path) \(row.interface).\(row.member) \(row.arguments)"
                let error = await #expect(throws: BusError.self, comment) {
                    _ = try await service.connection.call(
                        ServiceUnderTest.busName,
                        try ObjectPath(validating: row.path),
                        row.interface,
                        row.member,
                        row.arguments
                    )
                }
                let name = error?.name.rawValue.split(separator: ".").last
                #expect(name == Substring(row.error), comment)
                #expect(error?.message.isEmpty == false, comment)
            }
            #expect(try await Traces.of(service) == before)
        }
    }

    @Test func `a verb's refusal on an object has the contract's name`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            try await service.client.cancel(id)
            let object = Proxy(
                service.connection,
                ServiceUnderTest.busName,
                try #require(TaskPath(id: id)).objectPath,
                "org.idown.Task1"
            )
            #expect(await refusal { try await object.call("Pause") } == .invalidState)
            try await object.call("Remove")
            #expect(await refusal { try await object.call("Pause") } == .unknownObject)
        }
    }
}
