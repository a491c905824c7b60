// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import iDownBus
import iDownTesting

@testable import DBus

@Suite struct TaskPropertiesTests {
    @Test(
        arguments: [
            (.id, "s"), (.url, "s"), (.fileName, "s"), (.directory, "s"), (.path, "s"),
            (.state, "s"), (.activity, "s"), (.hold, "s"), (.downloadedBytes, "t"),
            (.totalBytes, "x"), (.speed, "t"), (.progress, "d"), (.errorCode, "s"),
            (.errorMessage, "s"), (.attempts, "u"), (.retryAt, "t"), (.connections, "u"),
            (.segments, "a(tt)"), (.resumable, "b"), (.priority, "i"), (.speedLimit, "t"),
            (.maxConnections, "u"), (.retryFor, "t"), (.integrity, "s"), (.mimeType, "s"),
            (.checksum, "s"), (.referrer, "s"),
            (.mirrors, "as"), (.expectedSize, "t"), (.userAgent, "s"), (.headerNames, "as"),
            (.whenDone, "s"), (.onExisting, "s"),
            (.addedBy, "s"), (.createdAt, "t"), (.finishedAt, "t"), (.listedTasks, "as"),
        ] as [(TaskProperty, Signature)]
    )
    func `each property has the contract's type`(property: TaskProperty, type: Signature) {
        #expect(property.signature == type)
        #expect(TaskProperties()[property].signature == type)
    }

    @Test func `the documented XML lists each key of a task's dictionary with its type, in order`()
        throws
    {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let document = try TestFile.text(of: sources + "/dbus/org.idown.Manager1.xml")
        let start = try #require(document.firstRange(of: "**A task as a dictionary**")).upperBound
        let end = try #require(document[start...].firstRange(of: "In signals the URL")).lowerBound
        // The head of each point: ``Id`` s, ``URL`` s: …
        let points = document[start..<end].split(separator: "\n    - ").dropFirst()
        let keys = points.flatMap { point in
            point.prefix { $0 != ":" }.split(separator: ", ").map { String($0) }
        }
        #expect(keys == TaskProperty.allCases.map { "``\($0.rawValue)`` \($0.signature)" })
    }

    @Test func `a task survives the wire`() throws {
        let task = TaskProperties.sample
        #expect(try TaskProperties(busValue: task.busValue) == task)
        #expect(TaskProperties(task.dictionary) == task)
        #expect(task.dictionary.count == TaskProperty.allCases.count)
    }

    @Test func `keys come in the contract's order`() {
        guard case .dictionary(_, _, let entries) = TaskProperties.sample.busValue else {
            Issue.record("a task is a dictionary")
            return
        }
        #expect(entries.map(\.key) == TaskProperty.allCases.map { .string($0.rawValue) })
    }

    @Test func `missing keys have defaults, unknown keys and wrong types are passed over`() {
        let task = TaskProperties([
            "Id": .string("1"),
            "FromTheFuture": .byte(1),
            "TotalBytes": .string("many"),
        ])
        #expect(task.id == "1")
        #expect(task.totalBytes == -1)
        #expect(task.knownTotal == nil)
        #expect(task.progress == -1)
        #expect(task.state == .waiting)
    }

    @Test func `unknown words are kept`() {
        let task = TaskProperties(["State": .string("sleeping"), "Hold": .string("metered")])
        #expect(task.state.rawValue == "sleeping")
        #expect(!TaskProperties.State.known.contains(task.state))
        #expect(task.hold.rawValue == "metered")
    }

    @Test func `changes that are sent lead from one task to the other`() throws {
        let before = TaskProperties.sample
        var after = before
        after.state = .completed
        after.downloadedBytes = 1 << 40
        let changes = try arrived(TaskExcerpt(after, .init(after.properties(changedSince: before))))
        #expect(changes == ["State": .string("completed"), "DownloadedBytes": .uint64(1 << 40)])
        #expect(before.applying(changes) == after)
        #expect(before.properties(changedSince: before).isEmpty)
        #expect(try arrived(TaskExcerpt(before, .init([]))).isEmpty)
    }

    @Test func `a task that is sent arrives whole`() throws {
        let task = TaskProperties.sample
        #expect(try arrived(task) == task.dictionary)
    }

    /// What libdbus makes of a dictionary that was marshalled here.
    private func arrived(_ value: some BusType) throws -> [String: Value] {
        var reader = try WireReader(receiving: WireWriter(value))
        return try [String: Value](from: &reader)
    }

    @Test(arguments: [
        ("https://e.org/a?token=1#x", "https://e.org/a"),
        ("https://e.org/a#x?y", "https://e.org/a"),
        ("https://e.org/a?\u{301}secret", "https://e.org/a"),
        ("https://e.org/a", "https://e.org/a"),
    ])
    func `what everybody may see has no query`(url: String, shown: String) {
        var task = TaskProperties()
        task.url = url
        task.referrer = url
        #expect(task.withoutQueries.url == shown)
        #expect(task.withoutQueries.referrer == shown)
    }
}

extension TaskProperties {
    /// A task with a value of its own in every property.
    static var sample: TaskProperties {
        var task = TaskProperties()
        task.id = "7"
        task.url = "https://example.org/a?b=c"
        task.fileName = "Grüße.iso"
        task.directory = "/home/me"
        task.path = "/home/me/Grüße.iso"
        task.state = .downloading
        task.activity = .transferring
        task.hold = .retry
        task.downloadedBytes = 1 << 33
        task.totalBytes = 1 << 34
        task.speed = 5
        task.progress = 0.5
        task.errorCode = "Server.Busy"
        task.errorMessage = "the server answered HTTP 503"
        task.attempts = 2
        task.retryAt = 3
        task.connections = 4
        task.segments = [Structure(0, 10), Structure(20, 5)]
        task.resumable = true
        task.priority = -3
        task.speedLimit = 6
        task.maxConnections = 7
        task.retryFor = 60
        task.integrity = .length
        task.mimeType = "application/x-iso"
        task.checksum = "sha-256=00"
        task.referrer = "https://example.org/"
        task.mirrors = ["https://m.example/a", "ftp://n.example/a"]
        task.expectedSize = 10
        task.userAgent = "Agent/1"
        task.headerNames = ["X-Key"]
        task.whenDone = "open"
        task.onExisting = "fail"
        task.addedBy = "org.example.Reader"
        task.createdAt = 8
        task.finishedAt = 9
        task.listedTasks = ["9", "8"]
        return task
    }
}
