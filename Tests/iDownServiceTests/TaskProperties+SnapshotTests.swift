// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownState

@testable import iDownService

@Suite struct TaskPropertiesSnapshotTests {
    private func properties(
        live: LiveState? = nil,
        url: String = "http://e.org/a",
        _ change: (inout TaskRecord) -> Void = { _ in }
    ) -> TaskProperties {
        TaskProperties(TaskSnapshot(record: .sample(7, url: url, change: change), live: live))
    }

    @Test func `a new task waits in the queue and knows nothing`() {
        let task = properties()
        #expect(task.id == "7")
        #expect(task.state == .waiting)
        #expect(task.hold == .queue)
        #expect(task.totalBytes == -1)
        #expect(task.progress == -1)
        #expect(task.path == "")
        #expect(task.integrity == .unknown)
        #expect(task.retryAt == 0)
        #expect(task.createdAt == UInt64(WallTime.someTime.microseconds))
        #expect(task.finishedAt == 0)
    }

    @Test func `what runs is shown as it runs`() {
        let live = LiveState(
            bytes: 500,
            bytesPerSecond: 99,
            activity: "transferring",
            connections: 2
        )
        let task = properties(live: live) { record in
            record.state = .downloading
            record.remote.total = 1000
        }
        #expect(task.downloadedBytes == 500)
        #expect(task.speed == 99)
        #expect(task.activity == .transferring)
        #expect(task.connections == 2)
        #expect(task.progress == 0.5)
    }

    @Test func `a back-off shows when and why`() {
        let task = properties { record in
            record.state = .waiting(.retry(at: WallTime(microseconds: 5)))
            record.failure = Failure(.serverBusy, "HTTP 503", isTransient: true)
            record.tries = 2
        }
        #expect(task.hold == .retry)
        #expect(task.retryAt == 5)
        #expect(task.errorCode == "Server.Busy")
        #expect(task.errorMessage == "HTTP 503")
        #expect(task.attempts == 2)
    }

    @Test(arguments: [
        (Hold.offline, TaskProperties.Hold.offline), (.metered, .metered), (.battery, .battery),
        (.space, .space), (.settings, .settings),
    ])
    func `what a task waits for is shown`(_ hold: Hold, _ word: TaskProperties.Hold) {
        let task = properties { $0.state = .waiting(hold) }
        #expect(task.state == .waiting)
        #expect(task.hold == word)
        #expect(task.retryAt == 0)
    }

    @Test func `the digest and the limits are shown`() {
        let digest = Checksum(.md5, Array(repeating: 0xab, count: 16))
        let task = properties { record in
            record.request.checksum = digest
            record.speedLimit = 5000
            record.request.connections = 5
            record.request.retryFor = 60
        }
        #expect(task.checksum == "md5=" + String(repeating: "ab", count: 16))
        #expect(task.speedLimit == 5000)
        #expect(task.maxConnections == 5)
        #expect(task.retryFor == 60)
        #expect(properties { _ in }.maxConnections == 0)
    }

    @Test func `what can be edited is shown, without logins and header values`() {
        let task = properties { record in
            record.request.mirrors = ["https://u:SECRET@m.example/a?b"]
            record.request.expectedSize = 7
            record.request.userAgent = "Agent/1"
            record.request.headers = [HeaderField(name: "X-Key", value: "SECRET")]
            record.request.whenDone = .reveal
            record.request.onExisting = .fail
        }
        #expect(task.mirrors == ["https://m.example/a?b"])
        #expect(task.withoutQueries.mirrors == ["https://m.example/a"])
        #expect(task.expectedSize == 7)
        #expect(task.userAgent == "Agent/1")
        #expect(task.headerNames == ["X-Key"])
        #expect(task.whenDone == "reveal")
        #expect(task.onExisting == "fail")
        let plain = properties()
        #expect(plain.mirrors.isEmpty && plain.userAgent.isEmpty && plain.whenDone.isEmpty)
        #expect(plain.onExisting == "rename")
    }

    @Test func `a metalink shows its tasks in their order`() {
        let ids = [9, 8, 10].compactMap { TaskID(rawValue: $0) }
        #expect(properties { $0.listedTasks = ids }.listedTasks == ["9", "8", "10"])
        #expect(properties().listedTasks.isEmpty)
    }

    @Test func `a completed task has its path`() {
        let task = properties { record in
            record.state = .completed
            record.file = LocalFile(name: "a", fileSystem: 1, mark: 2)
            record.integrity = .validators
        }
        #expect(task.path == "/tmp/a")
        #expect(task.integrity == .validators)
    }

    @Test(arguments: [
        ("http://me:SECRET@e.org/a?b@c", "http://e.org/a?b@c"),
        ("http://SECRET@e.org", "http://e.org"),
        ("http://me:SECRET@[::1]:80/@", "http://[::1]:80/@"),
        ("http://a@SECRET:b@e.org/", "http://e.org/"),
        ("http://e.org/SECRETless@", "http://e.org/SECRETless@"),
        ("", ""), ("://", "://"), ("@", "@"), ("http://@", "http://"),
    ])
    func `user and password are nowhere`(_ given: String, _ shown: String) {
        #expect(properties(url: given).url == shown)
    }

    @Test func `a referrer is shown without user and password`() {
        let task = properties { $0.request.referrer = "http://me:SECRET@e.org/page?q" }
        #expect(task.referrer == "http://e.org/page?q")
        #expect(task.withoutQueries.referrer == "http://e.org/page")
    }

    @Test func `odd numbers do not trap`() {
        let task = properties(
            live: LiveState(bytes: -1, bytesPerSecond: .max, activity: "dancing", connections: .max)
        ) { record in
            record.state = .downloading
            record.remote.total = 0
            record.createdAt = WallTime(microseconds: .min)
            record.finishedAt = WallTime(microseconds: -1)
        }
        #expect(task.downloadedBytes == 0)
        #expect(task.progress == 1)
        #expect(task.createdAt == 0)
        #expect(TaskProperties.progress(.max, 1) == 1)
    }
}
