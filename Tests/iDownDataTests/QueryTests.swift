// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownData

@Suite struct QueryTests {
    /// With as many tasks as the index of each query leaves out, and with fresh statistics.
    @Test(arguments: Query.allCases.filter { $0.rawValue.contains(" task ") })
    func `no query walks through the table`(query: Query) async throws {
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
                // A scan of a partial index reads just the rows that are asked for; a list that
                // is given with the query is short.
                let isAside = ["USE TEMP B-TREE", "LIST SUBQUERY", "SCAN json_each"]
                    .contains { step.hasPrefix($0) }
                let reads =
                    step.hasPrefix("SEARCH task USING") || step.contains("INDEX task")
                    || step.hasPrefix("SEARCH pieceHashes USING")
                #expect(reads || isAside, "\(plan)")
            }
        }
    }

    @Test(arguments: [Query.inQueue, .inQueueBeside, .held, .inState, .running, .unfinished])
    func `the index gives the order as well`(query: Query) async throws {
        try await withStore { store in
            let plan = try await store.commit { transaction in
                let sql = query.rawValue.replacing("?", with: "1")
                return try transaction.texts("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
            }
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        }
    }
}
