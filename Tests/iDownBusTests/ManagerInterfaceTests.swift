// SPDX-License-Identifier: Apache-2.0

import DBus
import FoundationEssentials
import Testing
import iDownBus
import iDownTesting

@Suite struct ManagerInterfaceTests {
    @Test(
        arguments: [
            ("org.idown.Manager1", "org.idown.Manager1", Contract.managerPath, 40),
            ("org.idown.Settings1", "org.idown.Settings1", Contract.managerPath, 10),
            ("org.idown.Task1", "org.idown.Task1", "/org/idown/Manager1/task/1", 40),
            ("org.freedesktop.Application", "org.idown.Manager1", Contract.managerPath, 10),
        ] as [(String, String, ObjectPath, Int)]
    )
    func `introspection is what the documented XML says`(
        name: String,
        document: String,
        path: ObjectPath,
        leastLines: Int
    ) async throws {
        try await withFakeManager { scene in
            _ = try await scene.client.addURL("https://e.org/")
            let text = try await scene.service.introspection(at: path)
            let written = try documentedInterface(name, in: document)
            #expect(interface(name, of: text) == written)
            #expect(written.count > leastLines)
        }
    }

    /// The lines of the interface in its documented XML, comments taken out, and what is there for
    /// Qt's generator alone, which reads files.
    private func documentedInterface(_ name: String, in document: String) throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "dbus/\(document).xml")
        var text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        while let start = text.firstRange(of: "<!--"),
            let end = text[start.upperBound...].firstRange(of: "-->")
        {
            text.removeSubrange(start.lowerBound..<end.upperBound)
        }
        return interface(name, of: text).filter { !$0.contains("name=\"org.qtproject.") }
    }

    private func interface(_ name: String, of text: String) -> [String] {
        let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
        let body = lines.drop { $0 != "<interface name=\"\(name)\">" }
        return body.prefix { $0 != "</interface>" }.map(String.init)
    }

    @Test func `a desktop opens, activates and chooses actions`() async throws {
        try await withFakeManager { scene in
            try await scene.client.open(["https://e.org/", "idown:?url=x"])
            try await scene.client.activate(token: "t")
            let application = try await self.proxy(scene, Contract.applicationInterface)
            let data: [String: Value] = ["activation-token": .string("x")]
            let nothing: [Value] = []
            for action in ["start-all", "pause-all"] {
                try await application.call("ActivateAction", action, nothing, data)
            }
            #expect(
                scene.manager.asked == [
                    "open [\"https://e.org/\", \"idown:?url=x\"]", "activate t", "resume-all",
                    "pause-all",
                ]
            )
        }
    }

    @Test func `an unknown action, or a parameter, is refused in words`() async throws {
        try await withFakeManager { scene in
            let application = try await self.proxy(scene, Contract.applicationInterface)
            let data: [String: Value] = [:]
            let calls: [(String, [Value])] = [("PauseAll", []), ("pause-all", [.uint32(1)])]
            for (action, parameter) in calls {
                let error = await #expect(throws: BusError.self) {
                    try await application.call("ActivateAction", action, parameter, data)
                }
                #expect(error?.name == "org.freedesktop.DBus.Error.InvalidArgs")
                #expect(error?.message.contains("pause-all") == true)
            }
            #expect(scene.manager.asked.isEmpty)
        }
    }

    @Test func `the handler's refusal of what is opened reaches the client`() async throws {
        try await withFakeManager { scene in
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.open([""])
            }
            #expect(error?.code == .invalidURL)
        }
    }

    @Test func `options are read before the handler sees the call`() async throws {
        try await withFakeManager { scene in
            let proxy = try await self.proxy(scene)
            let error = await #expect(throws: BusError.self) {
                let options: [String: Value] = ["when-done-command": .string("rm")]
                _ = try await proxy.call(
                    "AddURLWithOptions",
                    "https://e.org/",
                    options,
                    returning: String.self
                )
            }
            #expect(error?.name == "org.idown.Error.InvalidOption")
            #expect(scene.manager.asked.isEmpty)
        }
    }

    @Test func `wrong argument types are InvalidArgs`() async throws {
        try await withFakeManager { scene in
            let proxy = try await self.proxy(scene)
            let error = await #expect(throws: BusError.self) {
                _ = try await proxy.call("AddURL", UInt32(7), returning: String.self)
            }
            #expect(error?.name == "org.freedesktop.DBus.Error.InvalidArgs")
        }
    }

    @Test func `an object path stands for its id`() async throws {
        try await withFakeManager { scene in
            _ = try await scene.client.addURL("https://e.org/")
            try await scene.client.pause("/org/idown/Manager1/task/1")
            #expect(try await scene.client.getTask("/org/idown/Manager1/task/1").id == "1")
            #expect(scene.manager.asked.suffix(2) == ["pause 1", "get 1"])
        }
    }

    @Test func `the handler learns who calls`() async throws {
        try await withFakeManager { scene in
            let connection = try await Connection.open(.address(scene.bus.address))
            _ = try await ManagerClient(connection).startAll()
            let name = await connection.uniqueName
            #expect(scene.manager.senders == [name])
            await connection.close()
        }
    }

    @Test(arguments: ["filename", "checksum", "mirrors", "expected-size"])
    func `what says something of a file is for one URL`(_ key: String) async throws {
        try await withFakeManager { scene in
            var options = AddOptions()
            switch key {
            case "filename": options.filename = "a"
            case "checksum": options.checksum = "md5=00"
            case "mirrors": options.mirrors = ["https://g.org/"]
            default: options.expectedSize = 1
            }
            let ids = try await scene.client.addURLs(["https://e.org/"], options: options)
            #expect(ids == ["1"])
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.addURLs(
                    ["https://e.org/", "https://f.org/"],
                    options: options
                )
            }
            #expect(error?.code == .invalidOption)
            #expect(error?.message.contains(key) == true)
            let listed = await #expect(throws: ManagerError.self) {
                try await scene.client.addMetalink(at: "/a.meta4", options: options)
            }
            #expect(listed?.code == .invalidOption)
            #expect(listed?.message.contains(key) == true)
            #expect(scene.manager.asked == ["add https://e.org/"])
        }
    }

    @Test func `more URLs than the contract allows are refused`() async throws {
        try await withFakeManager { scene in
            let urls = Array(repeating: "https://e.org/", count: Contract.maximumURLs + 1)
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.addURLs(urls)
            }
            #expect(error?.code == .limitExceeded)
            #expect(scene.manager.asked.isEmpty)
        }
    }

    @Test func `a list that no message can hold is LimitExceeded`() async throws {
        try await withFakeManager { scene in
            var large = TaskProperties()
            large.url = String(repeating: "a", count: 31 << 20)
            scene.manager.show([large])
            let tasks = try await scene.client.listTasks()
            #expect(tasks == [large])
            scene.manager.show([large, large])
            let error = await #expect(throws: ManagerError.self) {
                try await scene.client.listTasks()
            }
            #expect(error?.code == .limitExceeded)
        }
    }

    private func proxy(
        _ scene: BusScene,
        _ interface: InterfaceName = Contract.managerInterface
    ) async throws -> Proxy {
        Proxy(scene.service, Contract.busName, Contract.managerPath, interface)
    }
}
