// SPDX-License-Identifier: Apache-2.0

import DBus
import FoundationEssentials
import Glibc
import Testing
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownBus
@testable import iDownService

/// SetOptions as clients on a bus see it.
@Suite(.timeLimit(.minutes(2))) struct ManagerServiceEditingTests {
    /// What the documented table says: the options, and the states that accept each.
    private static func table() throws -> [(option: String, states: Set<String>)] {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let document = try TestFile.text(of: sources + "/dbus/org.idown.Manager1.xml")
        let lines = document.split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        let head = try #require(lines.firstIndex { $0.first == "option" && $0.count == 7 })
        return lines[(head + 1)...].prefix { $0.count == 7 }.map { row in
            let states = zip(lines[head], row).dropFirst().filter { $0.1 == "yes" }.map(\.0)
            return (row[0], Set(states))
        }
    }

    /// A value for each option, and the property that reads it.
    private static func change(
        _ option: String,
        _ scene: ServiceScene,
        _ server: FaultServer
    ) throws -> (value: Value, property: TaskProperty, read: Value) {
        let same = { (value: Value, property: TaskProperty) in (value, property, value) }
        switch option {
        case "url": return same(.string(server.url("/small")), .url)
        case "directory": return same(.string(scene.home.download("inside")), .directory)
        case "filename": return same(.string("other.bin"), .fileName)
        case "checksum":
            return same(.string("md5=" + String(repeating: "0", count: 32)), .checksum)
        case "expected-size": return same(.uint64(UInt64(TestContent.large.count)), .expectedSize)
        case "mirrors": return same([server.url("/mirror")].busValue, .mirrors)
        case "headers":
            let headers: [String: String] = ["X-Key": "SECRET"]
            return (headers.busValue, .headerNames, ["X-Key"].busValue)
        case "referrer": return same(.string("http://page.example/"), .referrer)
        case "user-agent": return same(.string("Agent/1"), .userAgent)
        // Nobody can read them.
        case "cookies": return (.string("key=SECRET"), .headerNames, ["X-Key"].busValue)
        case "connections": return same(.uint32(2), .maxConnections)
        case "speed-limit": return same(.uint64(1 << 40), .speedLimit)
        case "priority": return same(.int32(3), .priority)
        case "when-done": return same(.string("reveal"), .whenDone)
        case "on-existing": return same(.string("fail"), .onExisting)
        case "retry-for": return same(.uint64(61), .retryFor)
        default:
            Issue.record("the table names \(option), which has no value here")
            throw CancellationError()
        }
    }

    @Test func `every option in every state gives what the documented table says`() async throws {
        // So few bytes of each body that no number of new attempts ends the file.
        let (held, _) = ServedFile.held(after: 1 << 10)
        let server = try FaultServer(
            script: .init { request in
                switch request.path {
                case "/small": ServedFile(.small).answer(to: request)
                case "/gone": [.head("404 Not Found", [("Content-Length", "0")])]
                default: held.answer(to: request)
                }
            }
        )
        defer { server.stop() }
        let table = try Self.table()
        #expect(table.map(\.option).sorted() == EditOptions.table.names.sorted())
        let lasting = table.filter { $0.states.contains("completed") }.map(\.option)
        #expect(Set(lasting) == EditOptions.namesForCompleted)
        try await withService { scene in
            let client = scene.client
            var paused = AddOptions()
            paused.paused = true
            for state in TaskState.Kind.allCases {
                let path = state == .failed ? "/gone" : state == .completed ? "/small" : "/held"
                // What has come into a slot stays there, and the next ones wait.
                let url = server.url("\(path)?\(state)")
                let id: String
                switch state {
                case .waiting:
                    for number in 1...3 { _ = try await client.addURL(url + "\(number)") }
                    id = try await client.addURL(url)
                case .downloading, .failed, .completed:
                    id = try await client.addURL(url)
                    try await scene.wait(for: id, TaskProperties.State(rawValue: state.rawValue))
                case .paused:
                    id = try await client.addURL(url, options: paused)
                case .cancelled:
                    id = try await client.addURL(url, options: paused)
                    try await client.cancel(id)
                }
                // A fresh link moves a task on.
                for row in table.sorted(by: { $1.option == "url" && $0.option != "url" }) {
                    // A new attempt takes the place of the last one.
                    try await soon("task \(id) to be \(state) for \(row.option)") {
                        try await client.getTask(id).state.rawValue == state.rawValue
                    }
                    let change = try Self.change(row.option, scene, server)
                    let before = try await client.getTask(id)
                    let options = [row.option: change.value]
                    let code = await code {
                        try await scene.proxy.call("SetOptions", id, options)
                    }
                    let isAccepted = row.states.contains(state.rawValue)
                    #expect(code == (isAccepted ? nil : .invalidState), "\(row.option), \(state)")
                    guard isAccepted else {
                        let after = try await client.getTask(id)
                        #expect(after[change.property] == before[change.property])
                        continue
                    }
                    // A file may still be on its way.
                    try await soon("\(row.option) of a task that is \(state)") {
                        try await client.getTask(id)[change.property] == change.read
                    }
                }
                _ = try await client.removeTasks(client.listTasks().map(\.id))
            }
            #expect(!"\(scene.signals.signals.map(\.arguments))".contains("SECRET"))
        }
    }

    @Test func `options are all judged before the first one is taken`() async throws {
        try await withService { scene in
            var paused = AddOptions()
            paused.paused = true
            let id = try await scene.client.addURL("http://127.0.0.1:9/a", options: paused)
            let before = try await scene.client.getTask(id)
            let bad: [([String: Value], ManagerError.Code)] = [
                (["nonsense": .boolean(true)], .invalidOption),
                (["checksum": .string("md5=0")], .invalidOption),
                (["mirrors": ["nonsense"].busValue], .invalidOption),
                (["url": .string("nonsense")], .invalidURL),
                (["url": .string("gopher://e.org/")], .unsupportedScheme),
                (["directory": .string("relative")], .invalidDestination),
                (["directory": .string(scene.home.config + "/autostart")], .invalidDestination),
            ]
            for (options, right) in bad {
                let options = options.merging(["priority": .int32(7)]) { $1 }
                #expect(
                    await code { try await scene.proxy.call("SetOptions", id, options) } == right
                )
            }
            #expect(try await scene.client.getTask(id) == before)
            #expect(
                await code { try await scene.client.setOptions(EditOptions(), of: "99") }
                    == .noSuchTask
            )
            scene.faults.failNext()
            var options = EditOptions()
            options.values.priority = 7
            let unwritten = options
            #expect(
                await code { try await scene.client.setOptions(unwritten, of: id) } == .storeFailed
            )
            #expect(try await scene.client.getTask(id) == before)
        }
    }

    @Test func `a running download connects anew for a header, and keeps its bytes`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer(
            script: .init { request in
                var file = file
                if request["X-Key"] != nil { file.hold = nil }
                return file.answer(to: request)
            }
        )
        defer { server.stop() }
        try await withService { scene in
            let id = try await scene.client.addURL(server.url("/a.bin"))
            await hold.reached.waitUntilOpen()
            try await soon("a megabyte") {
                try await scene.client.getTask(id).downloadedBytes >= 1 << 20
            }
            var options = EditOptions()
            options.values.headers = [AddOptions.Header(name: "X-Key", value: "SECRET")]
            options.values.speedLimit = 1 << 40
            try await scene.client.setOptions(options, of: id)
            try await scene.wait(for: id, .completed)
            #expect(server.requests.count == 2)
            #expect(server.requests.last?["Range"] == "bytes=\(1 << 20)-")
            let path = scene.home.download("a.bin")
            #expect(try TestContent.large.firstDifference(fromFile: path) == nil)
        }
    }

    @Test func `a name that is taken is refused where the task is to fail then`() async throws {
        try await withService { scene in
            mkdir(scene.home.downloads, 0o700)
            try TestFile.write("mine", to: scene.home.download("taken"))
            var paused = AddOptions()
            paused.paused = true
            let id = try await scene.client.addURL("http://127.0.0.1:9/a", options: paused)
            var options = EditOptions()
            options.values.filename = "taken"
            try await scene.client.setOptions(options, of: id)
            options.values.onExisting = .fail
            let strict = options
            #expect(await code { try await scene.client.setOptions(strict, of: id) } == .fileExists)
            #expect(try await scene.client.getTask(id).onExisting == "rename")
        }
    }

    @Test func `a taken name is refused at once for a partial file, too`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withService { scene in
            let client = scene.client
            let id = try await client.addURL(server.url("/a.bin"))
            await hold.reached.waitUntilOpen()
            try await soon("the file") {
                try await client.getTask(id).downloadedBytes >= 1 << 20
            }
            try TestFile.write("mine", to: scene.home.download("taken"))
            mkdir(scene.home.download("other"), 0o700)
            try TestFile.write("mine", to: scene.home.download("other/a.bin"))
            let before = try await client.getTask(id)
            for (name, folder) in [("taken", nil), (nil, "other"), ("a.bin", "other")] {
                var options = EditOptions()
                options.values.filename = name
                options.values.directory = folder.map { scene.home.download($0) }
                options.values.onExisting = .fail
                let strict = options
                #expect(await code { try await client.setOptions(strict, of: id) } == .fileExists)
            }
            let after = try await client.getTask(id)
            #expect(after.serial == before.serial && after.onExisting == "rename")
            // Its own name is not taken by another file.
            var options = EditOptions()
            options.values.filename = "a.bin"
            options.values.onExisting = .fail
            try await client.setOptions(options, of: id)
            #expect(try await client.getTask(id).onExisting == "fail")
        }
    }
}
