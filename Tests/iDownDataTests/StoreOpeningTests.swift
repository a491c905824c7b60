// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting

@testable import iDownData

@Suite struct StoreOpeningTests {
    let files = Files()

    @Test func `all files are private, whatever the umask`() async throws {
        try await withTemporaryFolder { parent in
            let folder = parent + "/state/idown"
            #expect(mkdir(parent + "/state", 0o755) == 0)
            let store = try Store.open(folder: folder, now: .someTime).store
            _ = try await store.commit { try $0.addTask("http://a/1") }
            #expect(try mode(folder) == 0o700)
            for name in ["tasks.sqlite", "tasks.sqlite-wal", "tasks.sqlite-shm", "next-id"] {
                #expect(try mode(folder + "/" + name) == 0o600, "\(name)")
            }
            try store.close()
        }
    }

    @Test func `permissions that were loosened are tightened`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 1)
            #expect(chmod(folder, 0o755) == 0)
            #expect(chmod(folder + "/tasks.sqlite", 0o644) == 0)
            let store = try Store.open(folder: folder, now: .someTime).store
            _ = try await store.commit { try $0.addTask("http://a/1") }
            #expect(try mode(folder) == 0o700)
            for name in ["tasks.sqlite", "tasks.sqlite-wal", "tasks.sqlite-shm"] {
                #expect(try mode(folder + "/" + name) == 0o600, "\(name)")
            }
            try store.close()
        }
    }

    @Test func `a commit is in the files even if the store is not closed`() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder + "/a", now: .someTime).store
            #expect(mkdir(folder + "/b", 0o700) == 0)
            for number in 1...20 {
                _ = try await store.commit { try $0.addTask("http://a/\(number)") }
            }
            // A kill would leave the files as they are now.
            for name in ["tasks.sqlite", "tasks.sqlite-wal", "next-id"] {
                let content = try #require(try files.read("\(folder)/a/\(name)", limit: 1 << 30))
                try files.replace("\(folder)/b/\(name)", with: content)
            }
            let (copy, report) = try Store.open(folder: folder + "/b", now: .someTime)
            #expect(report.recovery == nil)
            let urls = try await copy.urls()
            #expect(urls == (1...20).map { "http://a/\($0)" })
            try copy.close()
            try store.close()
        }
    }

    @Test func `the file gets smaller once most tasks are removed`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 10_000)
            func size() throws -> Int {
                try #require(try files.status(folder + "/tasks.sqlite")).st_size
            }
            let full = try size()
            for (left, isSmaller) in [(5_000, false), (10, true)] {
                let store = try Store.open(folder: folder, now: .someTime).store
                try await store.commit { transaction in
                    _ = try transaction.texts("DELETE FROM task WHERE id > \(left)")
                }
                try store.close()
                #expect(try size() >= full)
                let (smaller, report) = try Store.open(folder: folder, now: .someTime)
                #expect(report.recovery == nil)
                #expect(try await smaller.urls() == (1...left).map { "http://a/\($0)" })
                try smaller.close()
                #expect((try size() < full / 4) == isSmaller)
            }
        }
    }

    @Test func `a list from before metalinks had tasks is taken over`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 2)
            let store = try Store.open(folder: folder, now: .someTime).store
            try await store.commit { transaction in
                _ = try transaction.texts("ALTER TABLE task DROP COLUMN listedTasks")
                _ = try transaction.texts("DELETE FROM grdb_migrations WHERE identifier = '5'")
            }
            try store.close()
            let (newer, report) = try Store.open(folder: folder, now: .someTime)
            #expect(report.recovery == nil)
            let tasks = try await newer.read { snapshot in
                try snapshot.tasks()
            }
            #expect(tasks.map(\.listedTasks) == [[], []])
            let ids = tasks.map(\.id)
            let stored = try await newer.commit { transaction in
                var metalink = tasks[0]
                metalink.listedTasks = ids
                try transaction.update(metalink, from: tasks[0])
                return try transaction.task(ids[0])
            }
            #expect(stored?.listedTasks == ids)
            try newer.close()
        }
    }

    @Test func `a list from before hosts were waited for is taken over`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 2)
            let store = try Store.open(folder: folder, now: .someTime).store
            try await store.commit { transaction in
                let added = ["retryFor", "waited", "hostHasAnswered", "metalinkReach"]
                for column in added {
                    _ = try transaction.texts("ALTER TABLE task DROP COLUMN \(column)")
                }
                _ = try transaction.texts("DELETE FROM grdb_migrations WHERE identifier = '7'")
            }
            try store.close()
            let (newer, report) = try Store.open(folder: folder, now: .someTime)
            #expect(report.recovery == nil)
            let tasks = try await newer.read { snapshot in
                try snapshot.tasks()
            }
            #expect(tasks.map(\.request.retryFor) == [86_400, 86_400])
            #expect(tasks.allSatisfy { $0.waited == .zero && !$0.hostHasAnswered })
            try newer.close()
        }
    }

    @Test func `tasks of an older list are found by the names that their URLs suggest`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            try await store.commit { transaction in
                _ = try transaction.addTask("http://a/zwei%20w%C3%B6rter.mkv?key=x", name: nil)
                _ = try transaction.addTask("http://a/c", name: "b.iso")
                _ = try transaction.addTask("http://a/", name: nil)
                // As it was before.
                _ = try transaction.texts("UPDATE taskText SET name = '' WHERE id IN (1, 3)")
                _ = try transaction.texts("ALTER TABLE task DROP COLUMN addedBy")
                _ = try transaction.texts("DELETE FROM grdb_migrations WHERE identifier = '12'")
            }
            try store.close()
            let newer = try Store.open(folder: folder, now: .someTime).store
            let names = try await newer.commit { transaction in
                try transaction.texts("SELECT name FROM taskText ORDER BY id")
            }
            #expect(names == [["zwei wörter.mkv"], ["b.iso"], ["download"]])
            try newer.close()
        }
    }

    @Test func `a list from before files were moved is taken over`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 2)
            let store = try Store.open(folder: folder, now: .someTime).store
            try await store.commit { transaction in
                for index in ["taskInQueue", "taskMoving"] {
                    _ = try transaction.texts("DROP INDEX \(index)")
                }
                let added = ["Kind", "Directory", "Wish", "Name", "Device", "Inode"]
                for column in added {
                    _ = try transaction.texts("ALTER TABLE task DROP COLUMN move\(column)")
                }
                _ = try transaction.texts(
                    "CREATE INDEX taskInQueue ON task(priority DESC)"
                        + " WHERE hold = 'queue' AND intent IS NOT 'discard'"
                )
                _ = try transaction.texts("DELETE FROM grdb_migrations WHERE identifier = '11'")
            }
            try store.close()
            let (newer, report) = try Store.open(folder: folder, now: .someTime)
            #expect(report.recovery == nil)
            let place = Move.Place(directory: "/new", name: "a")
            let found = try await newer.commit { transaction in
                let waiting = try transaction.nextWaiting(limit: 10).map(\.id)
                let tasks = try transaction.tasks()
                var moving = tasks[0]
                moving.move = .to(place, made: nil)
                try transaction.update(moving, from: tasks[0])
                return (
                    waiting, try transaction.nextWaiting(limit: 10).map(\.id),
                    try transaction.movingTasks(), tasks.map(\.id)
                )
            }
            #expect(found.0 == found.3 && found.1 == [found.3[1]] && found.2 == [found.3[0]])
            try newer.close()
        }
    }

    // MARK: Databases that are not changed

    @Test func `a newer schema is refused, and the database is not changed`() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            _ = try await store.commit { transaction in
                _ = try transaction.addTask("http://a/1")
                return try transaction.texts("INSERT INTO grdb_migrations VALUES ('99')")
            }
            try store.close()
            let before = try files.read(folder + "/tasks.sqlite", limit: 1 << 30)
            #expect(throws: StoreFailure.newerSchema) {
                try Store.open(folder: folder, now: .someTime)
            }
            #expect(try files.read(folder + "/tasks.sqlite", limit: 1 << 30) == before)
            #expect(broken(folder).isEmpty)
        }
    }

    @Test func `an error other than damage moves nothing`() async throws {
        try await withTemporaryFolder { folder async throws in
            #expect(mkdir(folder + "/tasks.sqlite", 0o700) == 0)
            #expect(throws: StoreFailure.self) { try Store.open(folder: folder, now: .someTime) }
            #expect(try files.status(folder + "/tasks.sqlite") != nil)
            #expect(broken(folder).isEmpty)
        }
    }

    @Test func `whichever system call fails, opening again works`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 2)
            let counting = CallFaults()
            try Store.open(folder: folder, now: .someTime, fileFaults: counting.next).store.close()
            for number in 1...counting.calls {
                let faults = CallFaults(failing: [number], with: EIO)
                do {
                    try Store.open(folder: folder, now: .someTime, fileFaults: faults.next).store
                        .close()
                } catch {
                    guard case StoreFailure.file(let failure) = error else { throw error }
                    #expect(failure.code == EIO)
                }
                let store = try Store.open(folder: folder, now: .someTime).store
                let urls = try await store.urls()
                #expect(urls == ["http://a/1", "http://a/2"])
                try store.close()
            }
        }
    }

    // MARK: Helpers

    func mode(_ path: String) throws -> mode_t {
        try #require(try files.status(path)).st_mode & 0o777
    }

    func fill(_ folder: String, tasks: Int) async throws {
        let store = try Store.open(folder: folder, now: .someTime).store
        try await store.commit { transaction in
            for number in 1...tasks { _ = try transaction.addTask("http://a/\(number)") }
        }
        try store.close()
    }

    private func broken(_ folder: String) -> [String] {
        TestFile.names(in: folder).filter { $0.contains("broken") }
    }
}
