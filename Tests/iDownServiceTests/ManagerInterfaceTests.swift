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
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            #expect(try await scene.client.addURL("https://e.org/", options: options) == "1")
            let text = try await scene.proxy.at(path, "org.freedesktop.DBus.Introspectable")
                .call("Introspect", returning: String.self)
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

    @Test func `what never changes is told as the contract has it`() async throws {
        try await withService { scene in
            let version = try await scene.client.version()
            #expect(version == Contract.version)
            let capabilities = try await scene.client.capabilities()
            #expect(capabilities == Set(Capability.allCases))
        }
    }

    @Test func `a desktop opens, activates and chooses actions`() async throws {
        try await withService { scene in
            let client = scene.client
            try await client.open([
                "http://127.0.0.1:9/a", "idown:?url=http%3A%2F%2F127.0.0.1%3A9%2Fb",
            ])
            #expect(try await client.listTasks().map(\.fileName) == ["a", "b"])
            try await client.activate(token: "t")
            #expect(await scene.activations.first { _ in true } == "t")
            let data: [String: Value] = ["activation-token": .string("x")]
            for (action, isPaused) in [("pause-all", true), ("start-all", false)] {
                try await application(scene).call("ActivateAction", action, [Value](), data)
                #expect(
                    try await client.listTasks().allSatisfy { ($0.state == .paused) == isPaused }
                )
            }
        }
    }

    @Test func `an unknown action, or a parameter, is refused in words`() async throws {
        try await withService { scene in
            let data: [String: Value] = [:]
            let calls: [(String, [Value])] = [("PauseAll", []), ("pause-all", [.uint32(1)])]
            for (action, parameter) in calls {
                let error = await #expect(throws: BusError.self) {
                    try await application(scene).call("ActivateAction", action, parameter, data)
                }
                #expect(error?.name == "org.freedesktop.DBus.Error.InvalidArgs")
                #expect(error?.message.contains("pause-all") == true)
            }
        }
    }

    private func application(_ scene: ServiceScene) -> Proxy {
        scene.proxy.at(nil, Contract.applicationInterface)
    }

    @Test func `an object path stands for its id`() async throws {
        try await withService { scene in
            let id = try await scene.client.addURL("http://127.0.0.1:9/")
            let path = TaskPath.parent.rawValue + "/" + id
            try await scene.client.pause(path)
            let task = try await scene.client.getTask(path)
            #expect(task.id == id && task.state == .paused)
            #expect(try await scene.client.explainCodes(path).map(\.code) == ["paused"])
        }
    }

    @Test(arguments: ["filename", "checksum", "mirrors", "expected-size"])
    func `what says something of a file is for one URL`(_ key: String) async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            switch key {
            case "filename": options.filename = "a"
            case "checksum": options.checksum = "md5=" + String(repeating: "0", count: 32)
            case "mirrors": options.mirrors = ["https://g.org/"]
            default: options.expectedSize = 1
            }
            let ids = try await scene.client.addURLs(["https://e.org/"], options: options)
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
            #expect(try await scene.client.listTasks().map(\.id) == ids)
            // An empty value is an option, too.
            let empty = ["mirrors": [String]().busValue]
            let urls = ["https://e.org/", "https://f.org/"]
            #expect(
                await code { try await scene.proxy.call("AddURLs", urls, empty) } == .invalidOption
            )
            #expect(
                await code { try await scene.proxy.call("AddMetalink", "/a.meta4", empty) }
                    == .invalidOption
            )
        }
    }
}
