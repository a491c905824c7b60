// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting

@testable import iDownData

@Suite struct StoreTests {
    private struct Refused: Error {}

    @Test func `commits are there after opening again`() async throws {
        try await withTemporaryFolder { folder in
            let (store, report) = try Store.open(folder: folder, now: .someTime)
            #expect(report == OpeningReport(isNew: true, recovery: nil))
            let record = try await store.commit { try $0.addTask("http://a/1") }
            try store.close()

            let (again, second) = try Store.open(folder: folder, now: .someTime)
            #expect(second == OpeningReport(isNew: false, recovery: nil))
            #expect(
                try await again.read { snapshot in
                    try snapshot.tasks()
                } == [record]
            )
            try again.close()
        }
    }

    @Test(arguments: ["", "-wal"])
    func `once the list or its log was deleted no commit succeeds`(suffix: String) async throws {
        try await withTemporaryFolder { folder in
            let (store, _) = try Store.open(folder: folder, now: .someTime)
            let record = try await store.commit { try $0.addTask("http://a/1") }
            try #require(unlink(folder + "/tasks.sqlite" + suffix) == 0)
            await #expect(throws: StoreFailure.self) {
                try await store.commit { try $0.addTask("http://a/2") }
            }
            defer { try? store.close() }
            guard !suffix.isEmpty else { return }
            // What a crash would leave.
            let left = folder + "/left"
            try #require(mkdir(left, 0o700) == 0)
            _ = try await ChildProcess.run("cp", [folder + "/tasks.sqlite", left])
            let (again, _) = try Store.open(folder: left, now: .someTime)
            #expect(try await again.read { try $0.tasks() } == [record])
            try again.close()
        }
    }

    @Test func `the writer syncs every commit and overwrites deleted content`() async throws {
        try await withStore { store in
            let pragmas = try await store.commit { transaction in
                try ["synchronous", "secure_delete", "journal_mode"].map {
                    try transaction.texts("PRAGMA \($0)")
                }
            }
            // 2 is FULL.
            #expect(pragmas == [[["2"]], [["1"]], [["wal"]]])
        }
    }

    /// It holds secrets as the list does, and the disk of /var/tmp may be full.
    @Test func `what undoes one change of a commit is written to no file`() async throws {
        try await withStore { store in
            let tasks = try await store.commit { transaction in
                try (1...2_000).map { try transaction.addTask("http://a/\($0)") }
            }
            let changes: [@Sendable (Transaction) throws -> [String]] = [
                { _ in throw Refused() },
                { transaction in
                    for task in tasks {
                        var changed = task
                        changed.priority = 7
                        try transaction.update(changed, from: task)
                    }
                    return openFiles()
                },
            ]
            let files = try await store.commit(changes)[1].get()
            #expect(files.contains { $0.hasSuffix("/tasks.sqlite-wal") })
            // SQLite's names of files that it has removed while they are open.
            #expect(files.filter { $0.contains("etilqs_") } == [])
        }
    }

    @Test func `a body that throws loses only its own changes`() async throws {
        try await withStore { store in
            let changes: [@Sendable (Transaction) throws -> TaskID] = [
                { try $0.addTask("http://a/1").id },
                { transaction in
                    _ = try transaction.addTask("http://a/2")
                    throw Refused()
                },
                { try $0.addTask("http://a/3").id },
            ]
            let results = await store.commit(changes)
            #expect(results.map { (try? $0.get())?.rawValue } == [1, nil, 2])
            #expect(throws: Refused.self) { try results[1].get() }
            let urls = try await store.urls()
            #expect(urls == ["http://a/1", "http://a/3"])
        }
    }

    @Test func `a commit that fails fails every body and changes nothing`() async throws {
        let faults = CallFaults(failing: [2])
        try await withStore(commitFaults: faults) { store in
            _ = try await store.commit { try $0.addTask("http://a/1") }
            let changes: [@Sendable (Transaction) throws -> TaskID] = [
                { try $0.addTask("http://a/2").id }, { try $0.addTask("http://a/3").id },
            ]
            let results = await store.commit(changes)
            for result in results {
                #expect(throws: StoreFailure.self) { try result.get() }
            }
            #expect(try await store.urls() == ["http://a/1"])
            _ = try await store.commit { try $0.addTask("http://a/4") }
            #expect(try await store.urls() == ["http://a/1", "http://a/4"])
            #expect(faults.calls == 3)
        }
    }

    /// Else a client that edits in thousands of ways would make the service grow.
    @Test func `of all ways to change a task only the first statements are kept`() async throws {
        try await withStore { store in
            let first = try await store.commit { try $0.addTask("http://a/1") }
            let records = (1..<512).map { number in
                var record = first
                if number & 1 != 0 { record.request.referrer = "r" }
                if number & 2 != 0 { record.request.userAgent = "u" }
                if number & 4 != 0 { record.request.cookies = "c" }
                if number & 8 != 0 { record.request.connections = 3 }
                if number & 16 != 0 { record.request.expectedSize = 9 }
                if number & 32 != 0 { record.request.retryFor = 7 }
                if number & 64 != 0 { record.request.fileName = "f" }
                if number & 128 != 0 { record.priority = 5 }
                if number & 256 != 0 { record.speedLimit = 6 }
                return record
            }
            let kept = records.count { record in
                Difference(record, from: first)
                    .map { TaskColumn.updateStatement($0.columns).isKept } == true
            }
            #expect(kept <= TaskColumn.mostKept)
            let last = records[510]
            try await store.commit { transaction in
                try transaction.update(last, from: first)
            }
            let stored = try await store.read { snapshot in
                try snapshot.task(first.id)
            }
            #expect(stored == last)
        }
    }

    @Test func `nothing is committed into a file that has no name any more`() async throws {
        try await withTemporaryFolder { folder in
            let (store, _) = try Store.open(folder: folder, now: .someTime)
            let path = folder + "/tasks.sqlite"
            #expect(rename(path, path + ".aside") == 0)
            await #expect(throws: StoreFailure.self) {
                _ = try await store.commit { try $0.addTask("http://a/1") }
            }
            #expect(rename(path + ".aside", path) == 0)
            let record = try await store.commit { try $0.addTask("http://a/2") }
            #expect(try await store.read { try $0.tasks() } == [record])
            try store.close()
        }
    }

    @Test func `a closed store throws its own error`() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            try store.close()
            await #expect(throws: StoreFailure.closed) {
                try await store.commit { try $0.addTask("http://a/1") }
            }
            await #expect(throws: StoreFailure.closed) {
                try await store.read { snapshot in try snapshot.tasks() }
            }
            #expect(throws: StoreFailure.closed) { try store.close() }
        }
    }

    @Test func `quick reads see each commit`() async throws {
        try await withStore { store in
            let id = try await store.commit { transaction in
                try transaction.addTask("http://a/x", name: "x").id
            }
            #expect(try await store.committedCounts().total == 1)
            for priority in Int32(1)...3 {
                try await store.commit { transaction in
                    let before = try #require(try transaction.task(id))
                    var record = before
                    record.priority = priority
                    try transaction.update(record, from: before)
                }
                for _ in 0..<2 {
                    #expect(try await store.committedTask(id)?.value.priority == priority)
                }
            }
            try await store.commit { try $0.delete(id) }
            #expect(try await store.committedTask(id) == nil)
            #expect(try await store.committedCounts().total == 0)
        }
    }
}

/// The names of this process's open files: proc(5), /proc/pid/fd.
@Sendable private func openFiles() -> [String] {
    (0..<1_024).compactMap { descriptor in
        let size = 4_096
        var name = [CChar](repeating: 0, count: size)
        let count = readlink("/proc/self/fd/\(descriptor)", &name, size - 1)
        let bytes = name.prefix(max(0, count)).map(UInt8.init(bitPattern:))
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
