// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing
import iDownState
import iDownTesting

@testable import iDownData

@Suite struct StoreLoginsTests {
    private let url = "https://me:geheim77@e.org/x"

    private func moved(_ id: String) -> (TaskRequest) -> TaskRequest {
        { $0.withoutLogins(keptAt: LoginKey(id: id, isForURL: true)) }
    }

    @Test func `tasks with logins in their URLs are found, tasks with moved logins are not`()
        async throws
    {
        try await withStore { store in
            try await store.commit { transaction in
                let one = try transaction.addTask(url)
                _ = try transaction.addTask("https://e.org/x@y")
                let two = try transaction.addTask("https://e.org/z") {
                    $0.request.mirrors = ["ftp://a:b@e.org/m"]
                }
                let found = try transaction.tasksWithLogins(after: nil, limit: 10)
                #expect(found.map(\.id) == [one.id, two.id])
                #expect(try transaction.tasksWithLogins(after: one.id, limit: 10).count == 1)
                #expect(try transaction.tasksWithLogins(after: nil, limit: 1).count == 1)

                var after = one
                after.request = moved("k")(one.request)
                try transaction.update(after, from: one)
                #expect(try transaction.task(one.id) == after)
                #expect(try transaction.tasksWithLogins(after: nil, limit: 10).count == 1)
                #expect(try transaction.needsLogins(keptAt: "k"))
                #expect(try !transaction.needsLogins(keptAt: "l"))
                #expect(try transaction.loginKeys(limit: 10).map(\.id) == ["k"])
            }
        }
    }

    @Test func `a task with a moved login is found by its URL with that login only`()
        async throws
    {
        try await withStore { store in
            try await store.commit { transaction in
                let one = try transaction.addTask("https://e.org/x") {
                    $0.request.keptLogins = LoginKey(id: "k", isForURL: true)
                }
                func task(_ url: String, _ kept: Set<String>) throws -> TaskID? {
                    try transaction.unfinishedTask(
                        url: url,
                        directory: one.request.directory,
                        fileName: nil,
                        keptLogins: kept
                    )
                }
                #expect(try task(url, ["k", "l"]) == one.id)
                #expect(try task(url, ["l"]) == nil)
                #expect(try task(url, []) == nil)
                #expect(try task("https://e.org/x", []) == nil)
                let plain = try transaction.addTask("https://e.org/x") {
                    $0.request.keptLogins = LoginKey(id: "k", isForURL: false)
                }
                #expect(try task("https://e.org/x", []) == plain.id)
            }
        }
    }

    @Test func `a moved login leaves no trace in the files`() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            let long = "https://me:geheim77\(String(repeating: "x", count: 9_000))@e.org/x"
            for number in 0..<20 {
                try await store.commit { transaction in
                    _ = try transaction.addTask(number.isMultiple(of: 2) ? url : long)
                }
            }
            #expect(try files(in: folder, hold: "geheim77"))
            try await store.commit { transaction in
                for record in try transaction.tasksWithLogins(after: nil, limit: 100) {
                    var after = record
                    after.request = moved("k")(record.request)
                    try transaction.update(after, from: record)
                }
            }
            try await store.emptyLog()
            #expect(try !files(in: folder, hold: "geheim77"))
            try store.close()
            #expect(try !files(in: folder, hold: "geheim77"))
        }
    }

    private func files(in folder: String, hold text: String) throws -> Bool {
        try ["", "-wal"].contains { suffix in
            let path = folder + "/tasks.sqlite" + suffix
            guard TestFile.exists(path) else { return false }
            let bytes = try TestFile.bytes(of: path)
            return bytes.contains(Array(text.utf8))
        }
    }

    @Test func `a list of the first version is migrated, and its logins are found`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/tasks.sqlite"
            let ids: [TaskID]
            do {
                let store = try Store.open(folder: folder, now: .someTime).store
                ids = try await store.commit { transaction in
                    [
                        try transaction.addTask(url).id,
                        try transaction.addTask("https://e.org/a@b").id,
                    ]
                }
                try store.close()
            }
            let queue = try DatabaseQueue(path: path)
            try await queue.write { database in
                try database.execute(
                    sql: """
                        DROP INDEX taskWithLogins;
                        DROP INDEX taskByLoginKey;
                        ALTER TABLE task DROP COLUMN loginKey;
                        ALTER TABLE task DROP COLUMN hasLogins;
                        DROP INDEX taskInQueue;
                        CREATE INDEX taskInQueue ON task(priority DESC)
                            WHERE hold = 'queue' AND intent IS NULL;
                        DELETE FROM grdb_migrations WHERE identifier IN ('2', '3');
                        """
                )
            }
            try queue.close()
            let store = try Store.open(folder: folder, now: .someTime).store
            let found = try await store.read { snapshot in
                try snapshot.tasksWithLogins(after: nil, limit: 10).map(\.id)
            }
            #expect(found == [ids[0]])
            let count = try await store.read { snapshot in
                try snapshot.tasks().count
            }
            #expect(count == 2)
            try store.close()
        }
    }
}
