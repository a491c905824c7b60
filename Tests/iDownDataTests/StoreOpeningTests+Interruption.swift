// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting

@testable import iDownData

// Recoveries of damaged databases that are interrupted.
extension StoreOpeningTests {
    private static let brokenName = "tasks.sqlite.broken-20260131-235959"

    /// The files of a database with a torn index, or without a header, whose newest commit is only in
    /// the log.
    private func damagedList(
        madeIn folder: String,
        hasHeader: Bool = true
    ) async throws -> [String: [UInt8]] {
        try await fill(folder, tasks: 5)
        let store = try Store.open(folder: folder, now: .someTime).store
        try await store.emptyLog()
        try await store.commit { transaction in
            _ = try transaction.texts("UPDATE task SET priority = 5 WHERE id = 3")
        }
        var list: [String: [UInt8]] = [:]
        for name in ["tasks.sqlite", "tasks.sqlite-wal"] {
            list[name] = try files.read("\(folder)/\(name)", limit: 1 << 30)
        }
        let root = try await rootPage(of: "taskByState", in: store)
        try store.close()
        let place = hasHeader ? root : 0..<100
        list["tasks.sqlite"]?.replaceSubrange(place, with: repeatElement(0xa5, count: place.count))
        return list
    }

    private func put(_ list: [String: [UInt8]], in folder: String) throws {
        #expect(mkdir(folder, 0o700) == 0)
        for (name, content) in list { try files.replace("\(folder)/\(name)", with: content) }
    }

    /// Whether no recovery has left files behind.
    private func isClean(_ folder: String) -> Bool {
        let leftovers = ["tasks.sqlite.new", "tasks.sqlite.graft"]
        return !TestFile.names(in: folder).contains { leftovers.contains(where: $0.hasPrefix) }
    }

    private func priorities(of store: Store) async throws -> [Int32] {
        try await store.read { snapshot in
            try snapshot.tasks().map(\.priority)
        }
    }

    @Test(arguments: [true, false])
    func `whichever system call of a recovery fails, no task is lost`(hasHeader: Bool) async throws
    {
        try await withTemporaryFolder { folder in
            let list = try await damagedList(madeIn: folder + "/list", hasHeader: hasHeader)
            let counting = CallFaults()
            try put(list, in: folder + "/0")
            let first = try Store.open(
                folder: folder + "/0",
                now: .someTime,
                fileFaults: counting.next
            )
            #expect(first.report.recovery?.recoveredTasks == 5)
            try first.store.close()
            for number in 1...counting.calls {
                let place = "\(folder)/\(number)"
                try put(list, in: place)
                let faults = CallFaults(failing: [number], with: EIO)
                do {
                    try Store.open(folder: place, now: .someTime, fileFaults: faults.next).store
                        .close()
                } catch {
                    guard case StoreFailure.file(let failure) = error else { throw error }
                    #expect(failure.code == EIO)
                    // Nothing takes the room that the next start needs.
                    let isMoved = !TestFile.exists("\(place)/tasks.sqlite")
                    #expect(isMoved || isClean(place), "call \(number)")
                }
                let store = try Store.open(folder: place, now: .someTime).store
                #expect(try await priorities(of: store) == [0, 0, 5, 0, 0], "call \(number)")
                try store.close()
                #expect(isClean(place), "call \(number)")
                let names = TestFile.names(in: place)
                // A moved database and its log have matching names.
                let kept = names.filter { $0.hasPrefix("tasks.sqlite.broken") }
                let parts = ["", "-wal", "-shm"].map { Self.brokenName + $0 }
                #expect(kept.contains(Self.brokenName), "call \(number)")
                #expect(kept.allSatisfy { parts.contains($0) }, "call \(number): \(kept)")
            }
        }
    }

    @Test func `a recovery that was interrupted between two renames is finished and reported`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let list = try await damagedList(madeIn: folder + "/list")
            let path = folder + "/b/tasks.sqlite"
            try put(list, in: folder + "/b")
            try Store.open(folder: folder + "/b", now: .someTime).store.close()
            // Only the database has been moved.
            let broken = "\(folder)/b/\(Self.brokenName)"
            try files.rename(path, to: path + ".new")
            for suffix in ["-wal", "-shm"] { try files.remove(broken + suffix) }
            let log = try #require(list["tasks.sqlite-wal"])
            try files.replace(path + "-wal", with: log)

            let (store, report) = try Store.open(folder: folder + "/b", now: .someTime)
            #expect(!report.isNew)
            #expect(report.recovery?.brokenPath == broken)
            #expect(report.recovery?.recoveredTasks == 5)
            #expect(try await priorities(of: store) == [0, 0, 5, 0, 0])
            #expect(try files.read(broken + "-wal", limit: 1 << 30) == log)
            try store.close()
            let again = try Store.open(folder: folder + "/b", now: .someTime)
            #expect(again.report.recovery == nil)
            try again.store.close()
        }
    }

    @Test func `an incomplete new database is not used`() async throws {
        try await withTemporaryFolder { folder in
            let list = try await damagedList(madeIn: folder + "/list")
            let path = folder + "/b/tasks.sqlite"
            try put(list, in: folder + "/b")
            for suffix in ["", "-wal"] {
                try files.rename(path + suffix, to: path + ".new" + suffix)
            }
            let (store, report) = try Store.open(folder: folder + "/b", now: .someTime)
            #expect(report.isNew)
            #expect(try await store.urls().isEmpty)
            try store.close()
            #expect(TestFile.exists(path + ".new"))
        }
    }
}
