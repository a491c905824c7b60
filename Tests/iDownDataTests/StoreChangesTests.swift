// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@testable import iDownData

@Suite struct StoreChangesTests {
    /// What changed after a place: the URLs in their order.
    private func urls(_ store: Store, after place: ChangePlace) async throws -> [String] {
        try await store.read { snapshot in
            var urls: [String] = []
            try snapshot.forEachTask(changedAfter: place) { record in
                urls.append(record.request.url)
                return true
            }
            return urls
        }
    }

    private func position(_ store: Store) async throws -> ListPosition {
        try await store.read { snapshot in try snapshot.position() }
    }

    private func add(_ url: String, to store: Store) async throws -> TaskRecord {
        try await store.commit { transaction in
            let serial = try transaction.makeSerial()
            return try transaction.addTask(url) { $0.serial = serial }
        }
    }

    @Test func `each commit has one serial, higher than all before it`() async throws {
        try await withStore { store in
            let first = try await add("http://a/1", to: store)
            let both = try await store.commit { transaction in
                [try transaction.makeSerial(), try transaction.makeSerial()]
            }
            #expect(both[0] == both[1])
            #expect(both[0] > first.serial)
            #expect(try await position(store).serial == both[0])
        }
    }

    @Test func `a body that is undone leaves the serial to the next one`() async throws {
        struct Refused: Error {}
        try await withStore { store in
            let results = await store.commit(
                [
                    { transaction in
                        _ = try transaction.makeSerial()
                        throw Refused()
                    },
                    { try $0.makeSerial() },
                ] as [@Sendable (Transaction) throws -> Int64]
            )
            let serial = try results[1].get()
            #expect(try await position(store).serial == serial)
        }
    }

    @Test func `a page in the middle of a commit goes on behind its last task`() async throws {
        try await withStore { store in
            let tasks = try await store.commit { transaction in
                let serial = try transaction.makeSerial()
                return try (1...3).map { number in
                    try transaction.addTask("http://a/\(number)") { $0.serial = serial }
                }
            }
            _ = try await add("http://a/4", to: store)
            let place = ChangePlace(serial: tasks[0].serial, id: tasks[1].id.rawValue)
            #expect(try await urls(store, after: place) == ["http://a/3", "http://a/4"])
        }
    }

    @Test func `no page reads the tasks of its commit that earlier pages had`() async throws {
        try await withStore { store in
            let statement = TaskColumn.selectChangedWith.replacing("?", with: "1")
            let plan = try await store.read { snapshot in
                try snapshot.texts("EXPLAIN QUERY PLAN \(statement)").compactMap(\.last)
            }
            #expect(plan.contains { $0.contains("serial=? AND rowid>?") }, "\(plan)")
        }
    }

    @Test func `what changed comes in the order of the changes, page by page`() async throws {
        try await withStore { store in
            let first = try await add("http://a/1", to: store)
            _ = try await add("http://a/2", to: store)
            try await store.commit { transaction in
                var after = first
                after.state = .paused
                after.serial = try transaction.makeSerial()
                try transaction.update(after, from: first)
            }
            let whole = ChangePlace(serial: 0)
            #expect(try await urls(store, after: whole) == ["http://a/2", "http://a/1"])
            #expect(try await urls(store, after: ChangePlace(serial: 3)) == ["http://a/1"])
            #expect(try await urls(store, after: ChangePlace(serial: 4)) == [])
        }
    }

    @Test func `tasks that were added by one commit are told apart by their ids`() async throws {
        try await withStore { store in
            let serial = try await store.commit { transaction in
                let serial = try transaction.makeSerial()
                for number in 1...3 {
                    _ = try transaction.addTask("http://a/\(number)") { $0.serial = serial }
                }
                return serial
            }
            let place = ChangePlace(serial: serial, id: 2)
            #expect(try await urls(store, after: place) == ["http://a/3"])
        }
    }

    @Test func `removals are known since a serial, until there are too many`() async throws {
        try await withStore { store in
            let one = try await add("http://a/1", to: store)
            let two = try await add("http://a/2", to: store)
            try await store.commit { transaction in
                for record in [one, two] {
                    try transaction.delete(record.id)
                    try transaction.noteRemoval(of: record.id)
                }
            }
            let known = try await store.read { snapshot in
                (
                    try snapshot.removals(since: two.serial),
                    try snapshot.removals(since: two.serial + 1),
                    try snapshot.removals(since: 0),
                    try snapshot.knowsRemovals(since: one.serial),
                    try snapshot.knowsRemovals(since: two.serial + 2)
                )
            }
            #expect(known.0 == [one.id, two.id])
            #expect(known.1 == [])
            #expect(known.2 == [])
            #expect(known.3)
            // Such a serial was never given.
            #expect(!known.4)
            try await store.commit { transaction in
                for _ in 0..<101_000 { try transaction.noteRemoval(of: one.id) }
            }
            let later = try await store.read { snapshot in
                (
                    try snapshot.knowsRemovals(since: one.serial),
                    try snapshot.knowsRemovals(since: 0),
                    try snapshot.removals(since: two.serial + 1).count
                )
            }
            #expect(!later.0)
            #expect(later.1)
            #expect((100_000...101_000).contains(later.2))
        }
    }

    @Test(arguments: [true, false])
    func `serials go on after the end of the store, clean or not`(isClean: Bool) async throws {
        try await withTemporaryFolder { folder async throws in
            var last: ListPosition?
            for _ in 1...3 {
                let store = try Store.open(folder: folder, now: .someTime).store
                let begin = try await position(store)
                if let last { #expect(begin == last) }
                _ = try await add("http://a/1", to: store)
                last = try await position(store)
                #expect(last?.serial == begin.serial + 1)
                if isClean { try store.close() } else { try store.crash() }
            }
        }
    }

    /// Opens a list, adds so many tasks, and ends it, as a crash does unless it is to be clean.
    private func run(_ folder: String, adding count: Int, isClean: Bool) async throws
        -> ListPosition
    {
        let store = try Store.open(folder: folder, now: .someTime).store
        for _ in 0..<count { _ = try await add("http://a/1", to: store) }
        let now = try await position(store)
        if isClean { try store.close() } else { try store.crash() }
        return now
    }

    @Test(arguments: [true, false], [true, false])
    func `a folder restored from a copy is another list, though its serials seem to be the newest`(
        isClean: Bool,
        isInPlace: Bool
    ) async throws {
        try await withTemporaryFolder { parent in
            let (folder, copy) = (parent + "/idown", parent + "/copy")
            let old = try await run(folder, adding: 2, isClean: isClean)
            #expect(try await ChildProcess.run("cp", ["-a", folder, copy]).succeeded)
            let lost = try await run(folder, adding: 20, isClean: isClean)
            #expect(lost.list == old.list)
            if !isInPlace { #expect(try await ChildProcess.run("rm", ["-r", folder]).succeeded) }
            #expect(try await ChildProcess.run("cp", ["-a", copy + "/.", folder]).succeeded)
            let restored = try await run(folder, adding: 0, isClean: isClean)
            #expect(restored.list != old.list)
            let again = try await run(folder, adding: 1, isClean: isClean)
            #expect(again.list == restored.list)
        }
    }

    @Test(arguments: [true, false])
    func `a list restored from a copy is another list with higher serials`(
        isClean: Bool
    ) async throws {
        try await withTemporaryFolder { folder async throws in
            let path = folder + "/tasks.sqlite"
            let old = try await run(folder, adding: 2, isClean: isClean)
            let copies = try ["", "-wal"].map { try Files().read(path + $0, limit: 1 << 30) }
            let lost = try await run(folder, adding: 1, isClean: isClean)
            for (suffix, copy) in zip(["", "-wal"], copies) {
                try Files().remove(path + suffix)
                if let copy { try Files().replace(path + suffix, with: copy) }
            }
            try Files().remove(path + "-shm")
            let restored = try await run(folder, adding: 0, isClean: isClean)
            #expect(restored.list != old.list)
            #expect(restored.serial > lost.serial)
            let store = try Store.open(folder: folder, now: .someTime).store
            let isKnown = try await store.read { snapshot in
                try snapshot.knowsRemovals(since: lost.serial)
            }
            #expect(!isKnown)
            try store.close()
        }
    }
}
