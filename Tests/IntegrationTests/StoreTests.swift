// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// What the service does with a list of tasks that it cannot use as it is.
@Suite(.timeLimit(.minutes(5)))
struct StoreTests {
    /// Runs SQL on a list that no service has open.
    private func execute(_ sql: String, on store: String) async throws {
        let program = """
            import sqlite3, sys
            with sqlite3.connect(sys.argv[1]) as database: database.execute(sys.argv[2])
            database.execute('PRAGMA wal_checkpoint(TRUNCATE)')
            database.close()
            """
        let ended = try await ChildProcess.run("/usr/bin/python3", ["-c", program, store, sql])
        try #require(ended.succeeded, "\(ended.standardError)")
    }

    @Test func `a list of a newer version is left alone, and the service ends with 74`()
        async throws
    {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/x") { $0.paused = true }
            _ = try await service.terminate()
            let newer = "INSERT INTO grdb_migrations (identifier) VALUES ('999')"
            try await execute(newer, on: service.home.store)
            let before = try TestFile.bytes(of: service.home.store)

            let child = try await service.launch()
            let status = try await within("the service to end") { await child.waitForExit() }
            #expect(status == .exited(74))
            #expect(child.standardError.contains("newer"), "\(child.standardError)")
            #expect(child.standardError.contains(service.home.state), "\(child.standardError)")
            #expect(try TestFile.bytes(of: service.home.store) == before)
            // What SQLite keeps beside a database comes and goes with whoever reads it.
            let names = TestFile.names(in: service.home.state).filter { !$0.contains("sqlite-") }
            #expect(names == ["lock", "next-id", "reserve", "settings.last", "tasks.sqlite"])

            // Taken back, it is as good as before.
            try await execute(
                "DELETE FROM grdb_migrations WHERE identifier = '999'",
                on: service.home.store
            )
            try await service.start()
            #expect(try await service.client.listTasks().count == 1)
        }
    }

    @Test func `a home whose path is not UTF-8 is told, and no other folder is made`()
        async throws
    {
        try await withService(started: false) { service in
            let home = service.home.path + "/h"
            let script = "HOME=$(printf '\(home)\\377') exec \"$0\""
            let child = try await service.launch(under: ["sh", "-c", script])
            let status = try await within("the service to end") { await child.waitForExit() }
            #expect(status == .exited(70))
            #expect(child.standardError.contains("HOME is not UTF-8"), "\(child.standardError)")
            #expect(!TestFile.names(in: service.home.path).contains { $0.hasPrefix("h\u{fffd}") })
        }
    }

    @Test func `a list that is none is moved aside, and the service comes up`() async throws {
        try await withService { service in
            let id = try await service.add("http://127.0.0.1:9/x") { $0.paused = true }
            _ = try await service.terminate()
            let garbage = TestContent(seed: 100, count: 40_000).bytes
            // Without the log, from which SQLite would restore the pages that it holds.
            _ = try await ChildProcess.run("rm", ["-f", service.home.store + "-wal"])
            try TestFile.write(garbage, to: service.home.store)
            try await service.start()
            let broken = TestFile.names(in: service.home.state).filter { $0.contains(".broken-") }
            #expect(broken.count >= 1)
            let kept = broken.contains {
                (try? TestFile.bytes(of: "\(service.home.state)/\($0)")) == garbage
            }
            #expect(kept)
            try await service.waitForLog(
                "the damaged file is kept as \(service.home.state)/tasks.sqlite.broken-"
            )
            // What was lost is not given out again.
            let next = try await service.add("http://127.0.0.1:9/y") { $0.paused = true }
            #expect(Int(next) ?? 0 > Int(id) ?? 0)
        }
    }

    @Test func `list and folder are for the user alone`() async throws {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/x") { $0.paused = true }
            let modes = try await ChildProcess.run(
                "stat",
                ["-c", "%a", service.home.state]
                    + TestFile.names(in: service.home.state).map { "\(service.home.state)/\($0)" }
            )
            let lines = modes.standardOutput.split(separator: "\n")
            #expect(lines.first == "700")
            #expect(lines.dropFirst().allSatisfy { $0 == "600" }, "\(lines)")
        }
    }
}
