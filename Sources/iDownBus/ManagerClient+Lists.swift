// SPDX-License-Identifier: Apache-2.0

extension ManagerClient {
    /// All tasks that a query finds, however many, page by page.
    ///
    /// What comes or goes between two pages may be missed or told twice; ids tell.
    public func allTasks(
        _ query: TaskQuery = TaskQuery()
    ) async throws(ManagerError) -> [TaskProperties] {
        if query == TaskQuery() {
            // The whole list at once is the quickest, as long as it fits.
            do {
                return try await listTasks()
            } catch {
                guard error.code == .limitExceeded else { throw error }
            }
        }
        var query = query
        query.offset = 0
        // About 10 MB a page: far below what an answer may hold, and few round trips.
        query.limit = Self.page
        var tasks: [TaskProperties] = []
        while true {
            let (page, total): ([TaskProperties], UInt32)
            do {
                (page, total) = try await findTasks(query)
            } catch {
                // URLs may be long, and a message has an end.
                guard error.code == .limitExceeded, let limit = query.limit, limit > 1 else {
                    throw error
                }
                query.limit = limit / 2
                continue
            }
            tasks += page
            guard !page.isEmpty, UInt32(clamping: tasks.count) < total else { return tasks }
            query.offset = UInt32(clamping: tasks.count)
        }
    }

    private static let page: UInt32 = 20_000
}
