// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownData

@Suite struct TaskRowTests {
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `every field of a record comes back as it was stored`(seed: UInt64) async throws {
        try await withStore { store async throws in
            var random = RandomRecord(seed: seed)
            var ids: [TaskID] = []
            for number in 1...60 as ClosedRange<Int64> {
                ids.append(try #require(TaskID(rawValue: number)))
            }
            let inserted = ids.map { random.next(id: $0) }
            let updated = ids.map { random.next(id: $0) }
            for records in [inserted, updated] {
                try await store.commit { transaction in
                    for record in records {
                        if let before = try transaction.task(record.id) {
                            try transaction.update(record, from: before)
                        } else {
                            try transaction.insert(record)
                        }
                    }
                }
                for record in records {
                    let stored = try await store.read { snapshot in
                        try snapshot.task(record.id)
                    }
                    #expect(stored == record, "seed \(seed)")
                }
            }
        }
    }

    @Test func `a task that lists nothing has nothing stored for it`() async throws {
        try await withStore { store in
            let stored = try await store.commit { transaction in
                let before = try transaction.addTask("http://a/1")
                var after = before
                after.listedTasks = [before.id]
                try transaction.update(after, from: before)
                try transaction.update(before, from: after)
                _ = try transaction.addTask("http://a/2") { $0.listedTasks = [before.id] }
                return try transaction.texts(
                    "SELECT id || hex(coalesce(listedTasks, 'none')) FROM task ORDER BY id"
                )
            }
            #expect(stored == [["16E6F6E65"], ["201"]])
        }
    }

    @Test(arguments: [
        ("state", "'dreaming'"), ("state", "'WAITING'"), ("hold", "'weather'"), ("hold", "NULL"),
        ("hold", "'retry'"), ("intent", "'publish'"), ("intent", "'burn'"), ("tries", "-1"),
        ("priority", "4294967296"), ("integrity", "'luck'"), ("failureCode", "'Disk.Fire'"),
        ("failureCode", "'Network.DNS'"), ("onExisting", "'overwrite'"), ("segments", "x'80'"),
        ("segments", "x'0000'"), ("segments", "x'ffffffffffffffffff01ffffffffffffffffff01'"),
        ("checksum", "'sha-256=00'"), ("checksum", "'crc=00'"), ("speedLimit", "-1"),
        ("connections", "0"), ("connections", "17"),
        ("headers", "'[[\"a\"]]'"), ("headers", "'{'"), ("fileName", "'name only'"),
        ("entityTag", "'\"tag only\"'"), ("listedTasks", "x'80'"), ("listedTasks", "x'00'"),
        ("retryFor", "-1"), ("waited", "-1"), ("waited", "-9223372036854775808"),
    ])
    func `an invalid row is reported and hides no other`(
        column: String,
        value: String
    ) async throws {
        try await withStore { store in
            let bad = try await store.commit { transaction in
                let bad = try transaction.addTask("http://a/1").id
                _ = try transaction.addTask("http://a/2")
                _ = try transaction.texts("UPDATE task SET \(column) = \(value) WHERE id = \(bad)")
                return bad
            }
            await #expect {
                try await store.read { snapshot in try snapshot.task(bad) }
            } throws: { error in
                guard case StoreFailure.corruptRecord(1, _) = error else { return false }
                return true
            }
            let urls = try await store.urls()
            #expect(urls == ["http://a/2"])
        }
    }

    @Test func `the hash of a URL never changes`() {
        // From the definition of 64-bit FNV-1a.
        #expect(UInt64(bitPattern: URLHash.value(of: "")) == 0xcbf2_9ce4_8422_2325)
        #expect(UInt64(bitPattern: URLHash.value(of: "foobar")) == 0x8594_4171_f739_67e8)
    }

    @Test(arguments: [0, 1, 127, 128, 16_384, Int64.max - 1, .max])
    func `a number survives its variable-length form`(number: Int64) {
        var bytes: [UInt8] = []
        VariableLengthInteger.append(number, to: &bytes)
        var rest = bytes[...]
        #expect(VariableLengthInteger.removeFirst(from: &rest) == number)
        #expect(rest.isEmpty)
    }
}
