// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// From a URL to a file, over the bus, by the real programs.
@Suite(.timeLimit(.minutes(5)))
struct DownloadTests {
    @Test(
        arguments: [
            ("big.bin", "big.bin", Int64(30_000_000)),
            ("empty", "empty", 0),
            ("one.txt", "one.txt", 1),
            ("Grüße aus Köln.bin", "Gr%C3%BC%C3%9Fe%20aus%20K%C3%B6ln.bin", 70_001),
        ]
    )
    func `a file of nginx arrives byte for byte under its own name`(
        name: String,
        target: String,
        count: Int64
    ) async throws {
        try await withTemporaryFolder { root in
            let content = TestContent(seed: 1, count: count)
            try content.write(toFile: "\(root)/\(name)")
            try await withNginx(root: root) { nginx in
                try await withService { service in
                    let id = try await service.add(nginx.url("/\(target)"))
                    try await service.waitForState("completed", of: id)

                    let task = try await service.client.getTask(id)
                    #expect(task.fileName == name)
                    #expect(task.path == service.home.download(name))
                    #expect(task.totalBytes == count)
                    #expect(task.downloadedBytes == UInt64(count))
                    #expect(task.progress == 1)
                    #expect(task.errorCode == "")
                    #expect(task.finishedAt >= task.createdAt)
                    #expect(try content.firstDifference(fromFile: task.path) == nil)
                    #expect(TestFile.names(in: service.home.downloads) == [name])
                }
            }
        }
    }

    @Test func `a task is announced, then each of its states, and the record is never behind`()
        async throws
    {
        let host = try ChangingHost(.held(TestContent(seed: 2, count: 1 << 20)))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.add(host.url("/file.bin?secret=1"))
            let added = try await service.signals.first("TaskAdded") { $0.member == "TaskAdded" }
            #expect(added.arguments.first == .string(id))
            let properties = try TaskProperties(busValue: added.arguments[1])
            #expect(properties.state == .waiting)
            #expect(properties.url == host.url("/file.bin"))

            try await service.waitForState("downloading", of: id)
            try await service.waitForBytes(256 << 10, of: id)
            let underWay = try await service.client.getTask(id)
            #expect(underWay.state == .downloading)
            #expect(underWay.activity == .transferring)
            #expect(underWay.url == host.url("/file.bin?secret=1"))
            #expect(underWay.totalBytes == 1 << 20)
            #expect(underWay.resumable)

            host.letGo()
            try await service.waitForState("completed", of: id)
            #expect(try await service.client.getTask(id).state == .completed)
            let states = try await service.announcedStates(of: id, through: "completed")
            #expect(states == ["downloading", "completed"])
            let members = service.signals.signals.filter { $0.interface == "org.idown.Manager1" }
            #expect(members.first?.member == "TaskAdded")
        }
    }

    @Test func `an encoded body that ends too early is fetched again`() async throws {
        let text = String(repeating: "hello, ", count: 200)
        let packed: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9,
            0xC9, 0xD7, 0x51, 0xC8, 0x18, 0xA5, 0x46, 0xA9, 0x51, 0x6A, 0x94, 0x1A, 0xA5, 0xE8,
            0x43, 0x01, 0x00, 0x48, 0x89, 0xED, 0xDB, 0x78, 0x05, 0x00, 0x00,
        ]
        let isWell = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { request in
                let isCut = request.number == 1
                let body = isCut ? Array(packed.dropLast(8)) : packed
                let fields = [("Content-Encoding", "gzip"), ("Content-Length", "\(body.count)")]
                let answer: [FaultServer.Step] = [.head("200 OK", fields), .send(body)]
                return isCut ? answer : [.wait(for: isWell)] + answer
            }
        )
        defer { server.stop() }
        try await withService { service in
            let id = try await service.add(server.url("/file.txt"))
            await server.waitForRequest(count: 2)
            let errors = try await service.client.history(of: id).compactMap { $0.details["error"] }
            #expect(errors.contains(.string("Server.Truncated")), "\(errors)")
            #expect(TestFile.names(in: service.home.downloads) == ["file.txt.part"])
            isWell.open()
            try await service.waitForState("completed", of: id)
            #expect(try TestFile.text(of: service.home.download("file.txt")) == text)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `what nobody serves fails with its code and keeps nothing on disk`() async throws {
        let server = try FaultServer(
            script: .init { _ in [.head("404 Not Found", [("Content-Length", "0")])] }
        )
        defer { server.stop() }
        try await withService { service in
            let id = try await service.add(server.url("/gone.bin"))
            try await service.waitForState("failed", of: id)
            let task = try await service.client.getTask(id)
            #expect(task.errorCode == "Server.NotFound")
            #expect(task.errorMessage != "")
            #expect(TestFile.names(in: service.home.downloads) == [])
        }
    }
}
