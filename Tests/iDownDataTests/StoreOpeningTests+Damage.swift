// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import iDownData
@testable import iDownState

// Recovery of tasks from a damaged database.
extension StoreOpeningTests {
    @Test func `a file that is no database is moved aside, and a new database is made`()
        async throws
    {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 3)
            let garbage = [UInt8](repeating: 0x5a, count: 20_000)
            try files.replace(folder + "/tasks.sqlite", with: garbage)
            let (store, report) = try Store.open(folder: folder, now: .someTime)
            let recovery = try #require(report.recovery)
            #expect(recovery.brokenPath == folder + "/tasks.sqlite.broken-20260131-235959")
            #expect(recovery.recoveredTasks == 0)
            #expect(try files.read(recovery.brokenPath, limit: 1 << 30) == garbage)
            #expect(try mode(recovery.brokenPath) == 0o600)
            // The ids of the three lost tasks are not given again.
            let next = try await store.commit { try $0.addTask("http://a/new").id.rawValue }
            #expect(next == 4)
            try store.close()
        }
    }

    @Test(arguments: [0, 1], [true, false])
    func `a list that was emptied is not taken for a new one, and its log is kept`(
        byteCount: Int,
        hasTasks: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/tasks.sqlite"
            if hasTasks { try await fill(folder, tasks: 3) }
            let log = [UInt8](repeating: 7, count: 5_000)
            try files.replace(path, with: [UInt8](repeating: 0, count: byteCount))
            if hasTasks { try files.replace(path + "-wal", with: log) }
            let (store, report) = try Store.open(folder: folder, now: .someTime)
            #expect(report.isNew != hasTasks)
            #expect((report.recovery != nil) == hasTasks)
            if let recovery = report.recovery {
                #expect(recovery.reason == "SQLite error 26: the file is empty")
                #expect(try files.read(recovery.brokenPath, limit: 9)?.count == byteCount)
                #expect(try files.read(recovery.brokenPath + "-wal", limit: 1 << 20) == log)
            }
            try store.close()
            let again = try Store.open(folder: folder, now: .someTime)
            #expect(again.report.recovery == nil && !again.report.isNew)
            try again.store.close()
        }
    }

    @Test(arguments: 2...12)
    func `all readable tasks are recovered from a torn database`(page: Int) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/tasks.sqlite"
            // The pages of an empty list hold the header, the schema and the roots of the tables:
            // without one of them nothing can be read.
            try Store.open(folder: folder, now: .someTime).store.close()
            let first = try #require(try files.read(path, limit: 1 << 30)).count / 4_096
            try await fill(folder, tasks: 300)
            var content = try #require(try files.read(path, limit: 1 << 30))
            // A page of another file, as a failing disk may write it.
            let torn = first + (content.count / 4_096 - first) * page / 13
            content.replaceSubrange(
                torn * 4_096..<(torn + 1) * 4_096,
                with: repeatElement(0xa5, count: 4_096)
            )
            try files.replace(path, with: content)
            let (store, report) = try Store.open(folder: folder, now: .someTime)
            let recovery = try #require(report.recovery)
            #expect(try files.read(recovery.brokenPath, limit: 1 << 30) == content)
            let tasks = try await store.read { snapshot in
                try snapshot.tasks()
            }
            #expect(tasks.count == recovery.recoveredTasks)
            // A page holds about a dozen tasks, or a part of an index.
            #expect(tasks.count >= 250)
            for task in tasks { #expect(task.request.url == "http://a/\(task.id)") }
            let next = try await store.commit { try $0.addTask("http://a/new").id.rawValue }
            #expect(next == 301)
            try store.close()
            let again = try Store.open(folder: folder, now: .someTime)
            #expect(again.report.recovery == nil)
            try again.store.close()
        }
    }

    /// Damage to the schema: zeros, another file's page, or our page with a part destroyed.
    enum SchemaDamage: CaseIterable, Sendable {
        case zeros, strange, noCells, noLeaves
    }

    @Test(arguments: SchemaDamage.allCases)
    func `without a schema the list begins anew, and the damaged one is kept`(
        damage: SchemaDamage
    ) async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 300)
            let path = folder + "/tasks.sqlite"
            var content = try #require(try files.read(path, limit: 1 << 30))
            // The schema is longer than a page: the first page refers to others, which hold the SQL.
            #expect(content[100] == 5)
            let leaves = content.indices.filter { index in
                index % 4_096 == 0 && index > 0 && content[index] == 13
                    && content[index..<index + 4_096].firstRange(of: Array("CREATE ".utf8)) != nil
            }
            #expect(leaves.count > 1)
            let (places, byte): ([Range<Int>], UInt8) =
                switch damage {
                case .zeros: ([0..<4_096], 0)
                case .strange: ([0..<4_096], 0xa5)
                case .noCells: ([100..<4_096], 0xa5)
                case .noLeaves: (leaves.map { $0..<$0 + 4_096 }, 0xa5)
                }
            for place in places {
                content.replaceSubrange(place, with: repeatElement(byte, count: place.count))
            }
            try files.replace(path, with: content)
            let (saved, report) = try Store.open(folder: folder, now: .someTime)
            let recovery = try #require(report.recovery)
            #expect(recovery.recoveredTasks == 0)
            #expect(try files.read(recovery.brokenPath, limit: 1 << 30) == content)
            let next = try await saved.commit { try $0.addTask("http://a/new").id.rawValue }
            #expect(next == 301)
            try saved.close()
        }
    }

    @Test(arguments: [0..<100, 0..<16, 16..<100], [0, 0xa5] as [UInt8])
    func `a list with a damaged header is recovered whole, and kept as it was`(
        place: Range<Int>,
        byte: UInt8
    ) async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder + "/a", tasks: 300)
            let store = try Store.open(folder: folder + "/a", now: .someTime).store
            // The log gets no header, because the database does not grow.
            _ = try await store.commit { transaction in
                try transaction.texts("UPDATE task SET priority = 5 WHERE id = 7")
            }
            #expect(mkdir(folder + "/b", 0o700) == 0)
            var list: [String: [UInt8]] = [:]
            for suffix in ["", "-wal"] {
                let path = "\(folder)/a/tasks.sqlite\(suffix)"
                list[suffix] = try files.read(path, limit: 1 << 30)
                if suffix.isEmpty {
                    list[""]?.replaceSubrange(place, with: repeatElement(byte, count: place.count))
                }
                try files.replace("\(folder)/b/tasks.sqlite\(suffix)", with: list[suffix] ?? [])
            }
            try store.close()
            let (saved, report) = try Store.open(folder: folder + "/b", now: .someTime)
            let recovery = try #require(report.recovery)
            #expect(recovery.recoveredTasks == 300)
            let tasks = try await saved.read { try $0.tasks() }
            #expect(tasks.map(\.priority) == (1...300).map { $0 == 7 ? 5 : 0 })
            for (suffix, content) in list {
                let moved = try files.read(recovery.brokenPath + suffix, limit: 1 << 30)
                #expect(moved == content, "\(suffix)")
            }
            #expect(try files.names(in: folder + "/b").allSatisfy { !$0.contains(".graft") })
            try saved.close()
        }
    }

    @Test func `hand-overs are recovered, and what was withdrawn stays so`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 300)
            let store = try Store.open(folder: folder, now: .someTime).store
            let (seven, other) = (
                try #require(TaskID(rawValue: 7)), try #require(TaskID(rawValue: 8))
            )
            let confirmAt = WallTime(microseconds: 5)
            let future = try await store.commit { transaction in
                let record = TaskRecord(
                    id: try transaction.makeID(),
                    request: TaskRequest(url: "http://a/later", directory: "/d"),
                    createdAt: .someTime
                )
                try transaction.handOvers.keep(record, token: "p", confirmAt: confirmAt)
                try transaction.handOvers.settle("c", as: .confirmed(seven))
                try transaction.handOvers.settle("j", as: .joined(other))
                for number in 1...50 {
                    try transaction.handOvers.settle("w\(number)", as: .withdrawn)
                }
                return record
            }
            try store.close()
            try await tearARow(folder)
            let (saved, report) = try Store.open(folder: folder, now: .someTime)
            #expect(report.recovery != nil)
            let (kept, next, known) = try await saved.commit { transaction in
                let tokens = ["p", "c", "j"] + (1...50).map { "w\($0)" }
                return (
                    try transaction.handOvers.task("p"),
                    try transaction.handOvers.provisional(limit: 9),
                    try tokens.map { try transaction.handOvers.find($0) }
                )
            }
            #expect(kept == future && next.map(\.token) == ["p"])
            let first: [HandOver?] = [
                .provisional(future.id, confirmAt: confirmAt), .confirmed(seven), .joined(other),
            ]
            #expect(known == first + Array(repeating: .withdrawn, count: 50))
            // No task of the list has, or gets, the ID of the future one.
            let (task, id) = try await saved.commit { transaction in
                (try transaction.task(future.id), try transaction.makeID())
            }
            #expect(task == nil && id.rawValue > future.id.rawValue)
            try saved.close()
        }
    }

    @Test func `a token with a wrong type is lost, and nothing else`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 3)
            let store = try Store.open(folder: folder, now: .someTime).store
            let id = try #require(TaskID(rawValue: 1))
            try await store.commit { transaction in
                for number in 1...3 {
                    try transaction.remember(token: "token \(number)", ids: [id])
                }
            }
            try store.close()
            let damage = """
                import sqlite3, sys
                base = sqlite3.connect(sys.argv[1], isolation_level=None)
                base.execute("PRAGMA writable_schema = ON")
                schema = base.execute("SELECT sql FROM sqlite_master WHERE name = 'token'").fetchone()[0]
                change = "UPDATE sqlite_master SET sql = ? WHERE name = 'token'"
                base.execute(change, (schema.replace("STRICT", "").rstrip().rstrip(","),))
                base.close()
                base = sqlite3.connect(sys.argv[1], isolation_level=None)
                base.execute("UPDATE token SET ids = 'x' WHERE token = 'token 2'")
                base.execute("PRAGMA writable_schema = ON")
                base.execute(change, (schema,))
                base.close()
                """
            let damaged = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", damage, folder + "/tasks.sqlite"]
            )
            try #require(damaged.succeeded, "\(damaged)")
            let (saved, report) = try Store.open(folder: folder, now: .someTime)
            let recovery = try #require(report.recovery)
            #expect(recovery.recoveredTasks == 3)
            let known = try await saved.read { snapshot in
                try (1...3).map { try snapshot.taskIDs(forToken: "token \($0)") != nil }
            }
            #expect(known == [true, false, true])
            try saved.close()
        }
    }

    @Test func `a truncated database keeps the tasks before the cut`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 2_000)
            let path = folder + "/tasks.sqlite"
            let content = try #require(try files.read(path, limit: 1 << 30))
            #expect(truncate(path, off_t(content.count / 2)) == 0)
            let (store, report) = try Store.open(folder: folder, now: .someTime)
            let recovery = try #require(report.recovery)
            #expect((500...1_500).contains(recovery.recoveredTasks))
            let urls = try await store.urls()
            #expect(urls.count == recovery.recoveredTasks)
            try store.close()
        }
    }

    @Test func `tokens and commits that are only in the log are recovered`() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder + "/a", now: .someTime).store
            try await store.commit { transaction in
                for number in 1...300 { _ = try transaction.addTask("http://a/\(number)") }
            }
            try await store.commit { transaction in
                for number in 1...50 {
                    let id = try #require(TaskID(rawValue: Int64(number)))
                    try transaction.remember(token: "token \(number)", ids: [id])
                }
            }
            #expect(mkdir(folder + "/b", 0o700) == 0)
            for name in ["tasks.sqlite", "tasks.sqlite-wal"] {
                let content = try #require(try files.read("\(folder)/a/\(name)", limit: 1 << 30))
                try files.replace("\(folder)/b/\(name)", with: content)
            }
            try store.close()
            try await tearARow(folder + "/b")
            let (copy, report) = try Store.open(folder: folder + "/b", now: .someTime)
            #expect(report.recovery != nil)
            let ids = try await copy.read { snapshot in
                try (1...50).compactMap {
                    try snapshot.taskIDs(forToken: "token \($0)")?.first?.rawValue
                }
            }
            #expect(ids == Array(1...50))
            try copy.close()
        }
    }

    @Test func `without the root of the table its tasks are lost, and all else is recovered`()
        async throws
    {
        try await withTemporaryFolder { folder in
            try await fill(folder, tasks: 300)
            let path = folder + "/tasks.sqlite"
            let store = try Store.open(folder: folder, now: .someTime).store
            let id = try #require(TaskID(rawValue: 7))
            try await store.commit { try $0.remember(token: "token", ids: [id]) }
            let root = try await rootPage(of: "task", in: store)
            try store.close()
            var content = try #require(try files.read(path, limit: 1 << 30))
            content.replaceSubrange(root, with: repeatElement(0xa5, count: root.count))
            try files.replace(path, with: content)
            let (saved, report) = try Store.open(folder: folder, now: .someTime)
            let recovery = try #require(report.recovery)
            #expect(recovery.recoveredTasks == 0)
            #expect(try await saved.read { try $0.taskIDs(forToken: "token") } == [id])
            #expect(try files.read(recovery.brokenPath, limit: 1 << 30) == content)
            let next = try await saved.commit { try $0.addTask("http://a/new").id.rawValue }
            #expect(next == 301)
            try saved.close()
        }
    }

    @Test func `a header that only the log has is enough`() async throws {
        try await withTemporaryFolder { folder in
            try await fill(folder + "/a", tasks: 20)
            let store = try Store.open(folder: folder + "/a", now: .someTime).store
            try await store.commit { transaction in
                // It is on the first page.
                _ = try transaction.texts("PRAGMA application_id = 1")
                _ = try transaction.texts("UPDATE task SET priority = 5 WHERE id = 7")
            }
            #expect(mkdir(folder + "/b", 0o700) == 0)
            for name in ["tasks.sqlite", "tasks.sqlite-wal"] {
                var content = try #require(try files.read("\(folder)/a/\(name)", limit: 1 << 30))
                if name == "tasks.sqlite" {
                    content.replaceSubrange(0..<16, with: repeatElement(0, count: 16))
                }
                try files.replace("\(folder)/b/\(name)", with: content)
            }
            try store.close()
            let (saved, report) = try Store.open(folder: folder + "/b", now: .someTime)
            #expect(report.recovery == nil)
            let tasks = try await saved.read { snapshot in
                try snapshot.tasks()
            }
            #expect(tasks.map(\.priority) == (1...20).map { $0 == 7 ? 5 : 0 })
            try saved.close()
        }
    }

    @Test(arguments: [false, true])
    func `login keys are recovered, also from a list of a version without them`(
        isOld: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            try await store.commit { transaction in
                _ = try transaction.addTask("https://e.org/x") {
                    $0.request.keptLogins = LoginKey(id: "k", isForURL: true)
                }
                guard isOld else { return }
                for sql in [
                    "DROP INDEX taskWithLogins", "DROP INDEX taskByLoginKey",
                    "ALTER TABLE task DROP COLUMN loginKey",
                    "ALTER TABLE task DROP COLUMN hasLogins",
                ] {
                    _ = try transaction.texts(sql)
                }
            }
            try store.close()
            try await tearARow(folder)
            let (saved, report) = try Store.open(folder: folder, now: .someTime)
            #expect(report.recovery?.recoveredTasks == 1)
            let keys = try await saved.read { snapshot in
                try snapshot.loginKeys(limit: 10).map(\.id)
            }
            #expect(keys == (isOld ? [] : ["k"]))
            try saved.close()
        }
    }

    @Test(arguments: [false, true])
    func `the tasks of a metalink are carried over, and a list that knows of none`(
        isOld: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            try await store.commit { transaction in
                _ = try transaction.addTask("https://e.org/a.meta4") {
                    $0.listedTasks = [$0.id]
                    $0.request.keptLogins = LoginKey(id: "k", isForURL: true)
                }
                guard isOld else { return }
                _ = try transaction.texts("ALTER TABLE task DROP COLUMN listedTasks")
            }
            try store.close()
            try await tearARow(folder)
            let (saved, report) = try Store.open(folder: folder, now: .someTime)
            #expect(report.recovery?.recoveredTasks == 1)
            let task = try await saved.read { snapshot in
                try snapshot.tasks().first
            }
            #expect(task?.listedTasks == (isOld ? [] : [try #require(task?.id)]))
            #expect(task?.request.keptLogins?.id == "k")
            try saved.close()
        }
    }

    /// Where the root of a table or an index is in the database file.
    func rootPage(of name: String, in store: Store) async throws -> Range<Int> {
        let rows = try await store.read { snapshot in
            try snapshot.texts("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
        }
        let page = try #require(rows.first?.first.flatMap { Int($0) })
        return (page - 1) * 4_096..<page * 4_096
    }

    /// Damages the database so that only a check of its content finds it.
    private func tearARow(_ folder: String) async throws {
        let program = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("PRAGMA writable_schema = ON")
            database.execute("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'taskByState'")
            database.close()
            """
        let done = try await ChildProcess.run(
            "/usr/bin/python3",
            ["-c", program, folder + "/tasks.sqlite"]
        )
        #expect(done.succeeded, "\(done.standardError)")
    }
}
