// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting

@testable import iDownData

@Suite struct IDReservationTests {
    @Test func `ids go on without a gap after a clean end`() async throws {
        try await withTemporaryFolder { folder async throws in
            var ids: [Int64] = []
            for _ in 1...3 { ids += try await addTasks(2, folder) }
            #expect(ids == [1, 2, 3, 4, 5, 6])
        }
    }

    @Test func `the id of a deleted last task is not given again`() async throws {
        try await withTemporaryFolder { folder in
            let first = try await addTasks(1, folder)
            let store = try Store.open(folder: folder, now: .someTime).store
            try await store.commit { transaction in
                for id in first.compactMap(TaskID.init(rawValue:)) { try transaction.delete(id) }
            }
            try store.close()
            #expect(try await addTasks(1, folder) == [2])
        }
    }

    @Test func `a change that is rolled back takes no id`() async throws {
        struct Refused: Error {}
        try await withStore { store in
            await #expect(throws: Refused.self) {
                try await store.commit { transaction in
                    _ = try transaction.makeID()
                    throw Refused()
                }
            }
            let id = try await store.commit { try $0.makeID().rawValue }
            #expect(id == 1)
        }
    }

    @Test func `of the changes that share a commit a refused one takes no id`() async throws {
        struct Refused: Error {}
        try await withStore { store in
            let results = await store.commit(
                [false, true, false].map { isRefused in
                    { transaction in
                        let id = try transaction.makeID()
                        if isRefused { throw Refused() }
                        return id.rawValue
                    }
                }
            )
            #expect(results.map { try? $0.get() } == [1, nil, 2])
            let next = try await store.commit { try $0.makeID().rawValue }
            #expect(next == 3)
        }
    }

    @Test func `no id is given again after the database is lost`() async throws {
        try await withTemporaryFolder { folder async throws in
            #expect(try await addTasks(5, folder) == [1, 2, 3, 4, 5])
            #expect(unlink(folder + "/tasks.sqlite") == 0)
            #expect(try await addTasks(1, folder) == [6])
        }
    }

    @Test func `no id is given again with an older copy of the database`() async throws {
        try await withTemporaryFolder { folder in
            _ = try await addTasks(1, folder)
            let old = try #require(try Files().read(folder + "/tasks.sqlite", limit: 1 << 30))
            _ = try await addTasks(40, folder)
            try Files().replace(folder + "/tasks.sqlite", with: old)
            #expect(try await addTasks(1, folder) == [42])
        }
    }

    @Test func `after a crash no id is given again, and few are skipped`() async throws {
        try await withTemporaryFolder { folder in
            let store = try Store.open(folder: folder, now: .someTime).store
            let last = try await store.commit { try $0.addTask("http://a/1").id.rawValue }
            let bound = try #require(try Files().read(folder + "/next-id", limit: 100))
            try store.close()
            // Restores the file as a crash would leave it.
            try Files().replace(folder + "/next-id", with: bound)
            let next = try await addTasks(1, folder)[0]
            #expect(next > last)
            #expect(next <= last + 16)
        }
    }

    @Test(arguments: ["", "nonsense\n", "-5\n", "99999999999999999999\n"])
    func `a missing or invalid file is rebuilt from the database`(content: String) async throws {
        try await withTemporaryFolder { folder in
            _ = try await addTasks(2, folder)
            try Files().replace(folder + "/next-id", with: Array(content.utf8))
            #expect(try await addTasks(1, folder) == [3])
            #expect(unlink(folder + "/tasks.sqlite") == 0)
            #expect(try await addTasks(1, folder) == [4])
        }
    }

    @Test func `many ids take few writes of the file`() async throws {
        try await withTemporaryFolder { folder in
            let faults = CallFaults()
            let store = try Store.open(
                folder: folder,
                now: .someTime,
                fileFaults: faults.next
            ).store
            let before = faults.calls
            try await store.commit { transaction in
                for _ in 1...20_000 { _ = try transaction.makeID() }
            }
            // Eight system calls per write, eleven writes.
            #expect(faults.calls - before <= 100)
            try store.close()
        }
    }

    @Test func `no id is given that could not be reserved`() async throws {
        try await withTemporaryFolder { folder in
            let counting = CallFaults()
            try Store.open(folder: folder, now: .someTime, fileFaults: counting.next).store.close()
            let probe = CallFaults()
            try Store.open(folder: folder, now: .someTime, fileFaults: probe.next).store.close()
            let faults = CallFaults(failing: [probe.calls + 1], with: ENOSPC)
            let store = try Store.open(folder: folder, now: .someTime, fileFaults: faults.next)
                .store
            await #expect {
                try await store.commit { try $0.makeID() }
            } throws: { error in
                guard case StoreFailure.file(let failure) = error else { return false }
                return failure.code == ENOSPC
            }
            let id = try await store.commit { try $0.makeID().rawValue }
            #expect(id == 1)
            try store.close()
        }
    }

    /// Opens the store, adds tasks and closes it; returns their ids.
    private func addTasks(_ count: Int, _ folder: String) async throws -> [Int64] {
        let store = try Store.open(folder: folder, now: .someTime).store
        let ids = try await store.commit { transaction in
            try (1...count).map { try transaction.addTask("http://a/\($0)").id.rawValue }
        }
        try store.close()
        return ids
    }
}
