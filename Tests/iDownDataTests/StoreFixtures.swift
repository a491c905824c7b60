// SPDX-License-Identifier: Apache-2.0

import iDownTesting

@testable import iDownData
@testable import iDownState

extension WallTime {
    /// 2026-01-31 23:59:59 UTC.
    static let someTime = WallTime(microseconds: 1_769_903_999_000_000)
}

/// Runs `body` with a new store in a folder of its own.
func withStore<R>(
    commitFaults: CallFaults? = nil,
    _ body: (Store) async throws -> R
) async throws -> R {
    try await withTemporaryFolder { folder in
        let store = try Store.open(
            folder: folder,
            now: .someTime,
            commitFaults: commitFaults?.strikes
        ).store
        let result = try await body(store)
        try store.close()
        return result
    }
}

extension Transaction {
    /// Adds a task that is then changed by `change`.
    func addTask(
        _ url: String,
        in directory: String = "/home/me/Downloads",
        name: String? = nil,
        priority: Int32 = 0,
        _ change: (inout TaskRecord) -> Void = { _ in }
    ) throws -> TaskRecord {
        let request = TaskRequest(url: url, directory: directory, fileName: name)
        var record = TaskRecord(
            id: try makeID(),
            request: request,
            createdAt: .someTime,
            priority: priority
        )
        change(&record)
        try insert(record)
        return record
    }
}

extension Store {
    func urls() async throws -> [String] {
        try await read { snapshot in try snapshot.tasks() }.map(\.request.url)
    }
}
