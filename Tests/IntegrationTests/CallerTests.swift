// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// Programs that others wrote add downloads, and D-Bus starts the service for them.
@Suite(.timeLimit(.minutes(5)))
struct CallerTests {
    private static let name = "org.idown.Manager1"
    private static let path = "/org/idown/Manager1"

    /// Runs a program within the session and takes its last word for the id.
    private func call(
        _ program: String,
        _ arguments: [String],
        _ service: ServiceUnderTest
    ) async throws -> String {
        let ended = try await ChildProcess.run(
            program,
            arguments,
            environment: service.environment
        )
        #expect(ended.succeeded, "\(ended.standardOutput)\(ended.standardError)")
        return String(ended.standardOutput.filter(\.isNumber))
    }

    /// A service that only the bus can start, and a file that comes from nginx.
    private func arrives(
        byCalling add: (String, ServiceUnderTest) async throws -> String
    ) async throws {
        try await withTemporaryFolder { root in
            let content = TestContent(seed: 3, count: 3_000_000)
            try content.write(toFile: "\(root)/file.bin")
            try await withNginx(root: root) { nginx in
                try await withService(started: false) { service in
                    try service.installForActivation()
                    let id = try await add(nginx.url("/file.bin"), service)
                    #expect(id == "1")
                    try await service.waitForState("completed", of: id)
                    let path = try await service.client.getTask(id).path
                    #expect(try content.firstDifference(fromFile: path) == nil)
                }
            }
        }
    }

    @Test func `dbus-send starts the service and adds a download`() async throws {
        try await arrives { url, service in
            try await call(
                "dbus-send",
                [
                    "--session", "--print-reply=literal", "--dest=\(Self.name)", Self.path,
                    "\(Self.name).AddURL", "string:\(url)",
                ],
                service
            )
        }
    }

    @Test func `busctl starts the service and adds a download with options`() async throws {
        try await arrives { url, service in
            let bus = "--address=\(service.bus.address)"
            let options = ["2", "priority", "i", "7", "referrer", "s", "http://localhost/page"]
            let id = try await call(
                "busctl",
                [bus, "call", Self.name, Self.path, Self.name, "AddURLWithOptions", "sa{sv}", url]
                    + options,
                service
            )
            let task = try await service.client.getTask(id)
            #expect(task.priority == 7)
            #expect(task.referrer == "http://localhost/page")
            return id
        }
    }

    @Test func `gdbus starts the service and adds several downloads`() async throws {
        try await arrives { url, service in
            try await call(
                "gdbus",
                [
                    "call", "--session", "--dest", Self.name, "--object-path", Self.path,
                    "--method", "\(Self.name).AddURLs", "['\(url)']", "{'connections': <uint32 4>}",
                ],
                service
            )
        }
    }

    @Test func `gdbus adds the files of a metalink`() async throws {
        try await arrives { url, service in
            let path = service.home.path + "/a.meta4"
            try TestFile.write(
                "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                    + "<file name=\"file.bin\"><url>\(url)</url></file></metalink>",
                to: path
            )
            return try await call(
                "gdbus",
                [
                    "call", "--session", "--dest", Self.name, "--object-path", Self.path,
                    "--method", "\(Self.name).AddMetalink", path, "{'connections': <uint32 4>}",
                ],
                service
            )
        }
    }

    @Test func `busctl shows the object and its members`() async throws {
        try await withService { service in
            let bus = "--address=\(service.bus.address)"
            let tree = try await ChildProcess.run("busctl", [bus, "tree", Self.name])
            #expect(tree.standardOutput.contains(Self.path), "\(tree)")
            let members = try await ChildProcess.run(
                "busctl",
                [bus, "introspect", Self.name, Self.path, Self.name]
            )
            #expect(members.standardOutput.contains(".AddURLWithOptions"), "\(members)")
            #expect(members.standardOutput.contains(".MaxConcurrentDownloads"), "\(members)")
        }
    }

    @Test func `a verb takes the task's object path in place of its id`() async throws {
        let host = try ChangingHost(.held(TestContent(seed: 4, count: 1 << 20)))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            try await service.client.pause("\(Self.path)/task/\(id)")
            #expect(try await service.client.getTask("\(Self.path)/task/\(id)").state == .paused)
        }
    }
}
