// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownData

@Suite struct StoreSearchingTests {
    /// Six tasks, one in each state, with various names, sizes and priorities.
    private func withTasks(
        _ body: (_ found: (TaskSearch) async throws -> (ids: [Int64], total: Int)) async throws ->
            Void
    ) async throws {
        try await withStore { store in
            try await store.commit { transaction in
                let rows: [(TaskState, String, String, Int32, Int64?, Int64)] = [
                    (.waiting(.queue), "http://a/1?key=Straße", "Zebra.iso", 0, nil, 0),
                    (.downloading, "http://a/gr%C3%BC%C3%9Fe/2", "apfel.iso", 5, 100, 50),
                    (.paused, "http://me:SECRET@b/3", "ÄPFEL.iso", -5, 1000, 100),
                    (.completed, "http://b/4", "σίσυφος", 0, 10, 10),
                    (.failed, "http://b/5", "100%_sure.bin", 0, nil, 0),
                    (.cancelled, "http://b/6", "b.iso", 5, 0, 0),
                ]
                for (state, url, name, priority, total, bytes) in rows {
                    _ = try transaction.addTask(url, name: name, priority: priority) { record in
                        record.state = state
                        record.remote.total = total
                        let range = ByteRange(first: 0, length: bytes)
                        record.segments = SegmentMap([range].compactMap(\.self))
                    }
                }
                _ = try transaction.addTask("http://b/gone", name: "gone.iso") {
                    $0.intent = .remove
                }
            }
            try await body { search in
                try await store.read { snapshot in
                    var ids: [Int64] = []
                    let total = try snapshot.forEachFound(search) { record in
                        ids.append(record.id.rawValue)
                        return true
                    }
                    return (ids, total)
                }
            }
        }
    }

    private func search(_ change: (inout TaskSearch) -> Void = { _ in }) -> TaskSearch {
        var search = TaskSearch()
        change(&search)
        return search
    }

    @Test func `tasks are found by who added them, also together with a text and a state`()
        async throws
    {
        try await withStore { store in
            try await store.commit { transaction in
                let rows: [(String, String?, String?)] = [
                    ("a.iso", "org.a", nil), ("b.iso", "idown", nil), ("c.iso", nil, nil),
                    ("d.txt", "org.a", "flatpak/org.a"), ("e.txt", nil, "connection/:1.7"),
                ]
                for (name, application, owner) in rows {
                    _ = try transaction.addTask("http://a/\(name)", name: name) { record in
                        record.request.addedBy = application
                        record.request.owner = owner
                    }
                }
            }
            func found(
                _ adder: TaskSearch.Adder,
                _ change: (inout TaskSearch) -> Void = { _ in }
            ) async throws -> [Int64] {
                var search = TaskSearch()
                search.adder = adder
                change(&search)
                return try await store.read { [search] snapshot in
                    var ids: [Int64] = []
                    let total = try snapshot.forEachFound(search) { record in
                        ids.append(record.id.rawValue)
                        return true
                    }
                    return total == ids.count ? ids : []
                }
            }
            #expect(try await found(.application("org.a")) == [1, 4])
            #expect(try await found(.application("idown")) == [2])
            #expect(try await found(.application("")) == [3, 5])
            #expect(try await found(.application("x")) == [])
            #expect(try await found(.owner("flatpak/org.a")) == [4])
            #expect(try await found(.owner("connection/:1.7")) == [5])
            #expect(try await found(.application("org.a")) { $0.text = "TXT" } == [4])
            #expect(try await found(.application("org.a")) { $0.states = [.paused] } == [])
            #expect(try await found(.application("org.a")) { $0.order = .name } == [1, 4])
        }
    }

    @Test func `all tasks are found in the order of adding, except those being removed`()
        async throws
    {
        try await withTasks { found async throws in
            let all = try await found(search())
            #expect(all.ids == [1, 2, 3, 4, 5, 6])
            #expect(all.total == 6)
        }
    }

    @Test(
        arguments: [
            (.added, [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]),
            (.name, [5, 2, 6, 1, 3, 4], [4, 3, 1, 6, 2, 5]),
            (.host, [1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 1, 2]),
            (.size, [1, 5, 6, 4, 2, 3], [3, 2, 4, 6, 1, 5]),
            (.state, [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]),
            (.progress, [1, 5, 3, 2, 4, 6], [4, 6, 2, 3, 1, 5]),
            (.priority, [3, 1, 4, 5, 2, 6], [2, 6, 1, 4, 5, 3]),
        ] as [(TaskSearch.Order, [Int64], [Int64])]
    )
    func `tasks are ordered by each key, both ways, equal ones by adding`(
        order: TaskSearch.Order,
        ascending: [Int64],
        descending: [Int64]
    ) async throws {
        try await withTasks { found async throws in
            var search = TaskSearch()
            search.order = order
            let forwards = try await found(search)
            #expect(forwards.ids == ascending)
            search.isDescending = true
            let backwards = try await found(search)
            #expect(backwards.ids == descending, "\(search.pageStatement)")
        }
    }

    @Test func `the progress of running tasks goes before the recorded one`() async throws {
        try await withTasks { found async throws in
            var search = TaskSearch()
            search.order = .progress
            search.states = [.downloading]
            let known = try await found(search)
            search.progress = [try #require(TaskID(rawValue: known.ids.last ?? 0)): 0.00001]
            search.states = Set(TaskState.Kind.allCases)
            let present = try await found(search)
            #expect(present.ids == [1, 5, 2, 3, 4, 6])
        }
    }

    @Test func `hosts are ordered with their ports and without logins`() async throws {
        try await withStore { store in
            try await store.commit { transaction in
                for url in [
                    "https://z:p@c.org/1", "ftp://d.org/2", "http://b.org:90/3", "http://b.org/4",
                    "sftp://me@a.org/5",
                ] { _ = try transaction.addTask(url, name: "x") }
            }
            var byHost = TaskSearch()
            byHost.order = .host
            let ids = try await store.read { [byHost] snapshot in
                var ids: [Int64] = []
                _ = try snapshot.forEachFound(byHost) { record in
                    ids.append(record.id.rawValue)
                    return true
                }
                return ids
            }
            #expect(ids == [5, 4, 3, 1, 2])
        }
    }

    @Test func `by the time left, the named tasks are the first ones, in both directions`()
        async throws
    {
        try await withTasks { found async throws in
            var byTime = search { $0.order = .timeLeft }
            #expect(try await found(byTime).ids == [1, 2, 3, 4, 5, 6])
            byTime.first = try [5, 2].map { try #require(TaskID("\($0)")) }
            #expect(try await found(byTime).ids == [5, 2, 1, 3, 4, 6])
            byTime.isDescending = true
            #expect(try await found(byTime).ids == [5, 2, 1, 3, 4, 6])
            byTime.offset = 1
            byTime.limit = 2
            byTime.text = "iso"
            #expect(try await found(byTime).ids == [1, 3])
        }
    }

    @Test(
        arguments: [
            ("ISO", [1, 2, 3, 6]), ("äpfel", [3]), ("a\u{308}PFEL", [3]), ("STRASSE", [1]),
            ("grüße", [2]), ("GRÜẞE", [2]), ("GR%C3%BC", [2]), ("σίσυφοσ", [4]), ("ΣΊΣΥΦΟΣ", [4]),
            ("100%", [5]),
            ("%", [5]), ("_", [5]), ("%00", []), ("'", []), ("SECRET", []),
            ("http://b/", [3, 4, 5, 6]),
        ] as [(String, [Int64])]
    )
    func `a text is found in any spelling, and has no wildcards`(
        text: String,
        ids: [Int64]
    ) async throws {
        try await withTasks { found async throws in
            let result = try await found(search { $0.text = text })
            #expect(result.ids == ids)
            #expect(result.total == ids.count)
        }
    }

    @Test func `only names are searched if URLs are not to be`() async throws {
        try await withTasks { found async throws in
            let names = search {
                $0.text = "strasse"
                $0.searchesURLs = false
            }
            #expect(try await found(names).total == 0)
            let other = search {
                $0.text = "zebra"
                $0.searchesURLs = false
            }
            #expect(try await found(other).ids == [1])
        }
    }

    @Test func `states and text both apply, and the total counts all pages`() async throws {
        try await withTasks { found async throws in
            let page = search {
                $0.states = [.paused, .cancelled, .waiting]
                $0.text = "iso"
                $0.order = .name
                $0.offset = 1
                $0.limit = 1
            }
            let result = try await found(page)
            #expect(result.ids == [1])
            #expect(result.total == 3)
            #expect(try await found(search { $0.states = [.failed] }).total == 1)
            #expect(try await found(search { $0.states = [] }).total == 0)
            #expect(try await found(search { $0.offset = 100 }).ids == [])
        }
    }

    @Test func `the searched text follows the record`() async throws {
        try await withStore { store in
            try await store.commit { transaction in
                var record = try transaction.addTask("http://a/x", name: "old")
                let before = record
                record.file = LocalFile(name: "new", fileSystem: 1, mark: 1)
                try transaction.update(record, from: before)
                let search = search { $0.text = "old" }
                #expect(try transaction.forEachFound(search) { _ in false } == 0)
                let renamed = self.search { $0.text = "NEW" }
                #expect(try transaction.forEachFound(renamed) { $0.id == record.id } == 1)
                try transaction.delete(record.id)
                #expect(try transaction.texts("SELECT count(*) FROM taskText") == [["0"]])
            }
        }
    }

    @Test func `a page by name or by adding needs no sorting of the list`() async throws {
        try await withStore { store in
            for order in [TaskSearch.Order.name, .added] {
                let statement = search { $0.order = order }.pageStatement
                let plan = try await store.read { snapshot in
                    try snapshot.texts("EXPLAIN QUERY PLAN \(statement)").compactMap(\.last)
                }
                #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(order): \(plan)")
            }
        }
    }
}
