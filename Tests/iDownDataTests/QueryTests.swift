// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownData

@Suite struct QueryTests {
    /// The table has many tasks that the index of each query leaves out, and fresh statistics.
    @Test(arguments: Query.allCases.filter { $0.rawValue.contains(" task ") })
    func `no query scans the table`(query: Query) async throws {
        try await withStore { store in
            let plan = try await store.commit { transaction in
                for number in 1...200 {
                    _ = try transaction.addTask("http://a/\(number)") { $0.state = .completed }
                }
                _ = try transaction.texts("ANALYZE")
                let sql = query.rawValue.replacing("?", with: "1")
                return try transaction.texts("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
            }
            #expect(!plan.isEmpty)
            for step in plan {
                // Scanning a partial index reads only the rows that the query selects; a list that
                // is passed with the query is short.
                let isAside = [
                    "USE TEMP B-TREE", "LIST SUBQUERY", "SCAN json_each",
                    // Of hand-overs the newest alone are read.
                    "CO-ROUTINE", "MATERIALIZE", "SCAN handOver", "SCAN (subquery", "CORRELATED",
                ]
                .contains { step.hasPrefix($0) }
                let reads =
                    step.hasPrefix("SEARCH task USING") || step.contains("INDEX task")
                    || step.hasPrefix("SEARCH pieceHashes USING")
                    || step.hasPrefix("SEARCH removal USING")
                #expect(reads || isAside, "\(plan)")
            }
        }
    }

    @Test(arguments: [Query.inQueue, .inQueueExcluding, .held, .inState, .unfinished])
    func `the index also gives the order`(query: Query) async throws {
        try await withStore { store in
            let plan = try await store.commit { transaction in
                let sql = query.rawValue.replacing("?", with: "1")
                return try transaction.texts("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
            }
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        }
    }
}
