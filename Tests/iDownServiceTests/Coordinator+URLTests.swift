// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownState
import iDownTesting

@testable import iDownService

/// A fresh link for a task that has one already.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorURLTests {
    @Test func `a download goes on with the new link from the byte where it stood`() async throws {
        let (file, hold) = ServedFile.held()
        let old = try FaultServer.serving(file)
        defer { old.stop() }
        let new = try FaultServer.serving(ServedFile(.large))
        defer { new.stop() }
        try await withHub { hub in
            let id = try await hub.add(old.url("/a"))
            await hold.reached.waitUntilOpen()
            try await hub.arrival(of: 1 << 20, for: id)
            try await hub.coordinator.setURL(of: id, to: URLReference(new.url("/other?token=2")))
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.holds(.large, as: "a"))
            #expect(hub.names == ["a"])
            #expect(old.requests.count == 1)
            #expect(new.requests.last?["Range"] == "bytes=\((1 << 20) - OverlapProof.overlap)-")
            let record = try #require(try await hub.record(id))
            #expect(record.integrity == .length)
            #expect(record.request.url == new.url("/other?token=2"))
        }
    }

    @Test func `a pause keeps what has come by the new link, and counts no byte before its proof`()
        async throws
    {
        let start: Int64 = 1 << 20
        let (file, hold) = ServedFile.held(after: start)
        let old = try FaultServer.serving(file)
        defer { old.stop() }
        // The first answer ends within the proof; the second brings a little more.
        for more in [-20_000, 30_000] as [Int64] {
            let (other, otherHold) = ServedFile.held(after: OverlapProof.overlap + more)
            let new = try FaultServer.serving(other)
            defer { new.stop() }
            try await withHub { hub in
                let id = try await hub.add(old.url("/a"))
                await hold.reached.waitUntilOpen()
                try await hub.arrival(of: start, for: id)
                try await hub.coordinator.carryOut(.pause, on: id)
                await hub.transferEnd(of: id)
                try await hub.coordinator.setURL(of: id, to: URLReference(new.url("/a")))
                try await hub.coordinator.carryOut(.resume, on: id)
                await otherHold.reached.waitUntilOpen()
                let arrived = start + max(0, more)
                try await hub.arrival(of: arrived, for: id)
                try await hub.coordinator.carryOut(.pause, on: id)
                await hub.transferEnd(of: id)
                #expect(try await hub.record(id)?.segments.byteCount == arrived)
            }
        }
    }

    @Test func `a task that failed goes back into the queue, one that is paused stays so`()
        async throws
    {
        let server = try FaultServer(
            script: .init { request in
                request.target == "/gone"
                    ? [.head("404 Not Found", [("Content-Length", "0")])]
                    : ServedFile(.small).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/gone"))
            try await hub.announced.wait(for: id, .failed)
            try await hub.coordinator.setURL(of: id, to: URLReference(server.url("/here")))
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.names == ["here"])
            await #expect(throws: Refusal.keepsOption(.url, .completed)) {
                try await hub.coordinator.setURL(of: id, to: URLReference(server.url("/there")))
            }
            let paused = try await hub.add(server.url("/gone"), isPaused: true)
            try await hub.coordinator.setURL(of: paused, to: URLReference(server.url("/p")))
            #expect(try await hub.record(paused)?.state == .paused)
            try await hub.coordinator.carryOut(.resume, on: paused)
            try await hub.announced.wait(for: paused, .completed)
        }
    }

    @Test func `another site gets no login, and its bytes are not mixed with those on disk`()
        async throws
    {
        let (file, hold) = ServedFile.held()
        let old = try FaultServer.serving(file)
        defer { old.stop() }
        let stranger = TestContent(seed: 4711, count: TestContent.large.count)
        let new = try FaultServer.serving(ServedFile(stranger))
        defer { new.stop() }
        try await withHub { hub in
            let url = old.url("/a").replacing("http://", with: "http://me:SECRET@")
            let wish = hub.wish(url) {
                $0.headers = [HeaderField(name: "Cookie", value: "SECRET")]
                $0.referrer = "http://page/SECRET"
            }
            let id = try #require(try await hub.coordinator.add([wish], token: nil).first)
            await hold.reached.waitUntilOpen()
            try await hub.arrival(of: 1 << 20, for: id)
            try await hub.coordinator.setURL(of: id, to: URLReference(new.url("/a")))
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.holds(stranger, as: "a"))
            for request in new.requests {
                for name in ["Cookie", "Referer", "Authorization"] { #expect(request[name] == nil) }
            }
            let record = try #require(try await hub.record(id))
            #expect(!"\(record)".contains("SECRET"))
        }
    }

    @Test(arguments: [TestContent.large.count, TestContent.large.count - 5])
    func `a link is asked also where all bytes are on disk`(count: Int64) async throws {
        let (file, hold) = ServedFile.held()
        let old = try FaultServer.serving(file)
        defer { old.stop() }
        let other = TestContent(seed: 4711, count: count)
        let new = try FaultServer.serving(ServedFile(other))
        defer { new.stop() }
        try await withHub { hub in
            // Others have the name by the time that all bytes are there.
            let wish = hub.wish(old.url("/a")) { $0.onExisting = .fail }
            let id = try #require(try await hub.coordinator.add([wish], token: nil).first)
            await hold.reached.waitUntilOpen()
            try TestFile.write("theirs", to: hub.files + "/a")
            hold.until.open()
            try await hub.announced.wait(for: id, .failed)
            unlink(hub.files + "/a")
            try await hub.coordinator.setURL(of: id, to: URLReference(new.url("/a")))
            try await hub.announced.wait(for: id, .completed)
            #expect(hub.holds(other, as: "a"))
            #expect(hub.names == ["a"])
        }
    }

    @Test func `headers stay with the origin that they were given for`() async throws {
        let old = try FaultServer.serving(ServedFile(.small))
        defer { old.stop() }
        let new = try FaultServer.serving(ServedFile(.small))
        defer { new.stop() }
        try await withHub { hub in
            let wish = hub.wish(old.url("/a"), isPaused: true) {
                $0.headers = [HeaderField(name: "X-Key", value: "SECRET")]
                $0.referrer = "http://page/SECRET"
            }
            let id = try #require(try await hub.coordinator.add([wish], token: nil).first)
            try await hub.coordinator.setURL(of: id, to: URLReference(new.url("/a")))
            try await hub.coordinator.carryOut(.resume, on: id)
            try await hub.announced.wait(for: id, .completed)
            let request = try #require(new.requests.first)
            #expect(request["X-Key"] == nil && request["Referer"] == nil)
        }
    }
}
