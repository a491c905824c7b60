// SPDX-License-Identifier: Apache-2.0

extension ManagerClient {
    /// Returns all tasks that match a query, however many, by asking for page after page.
    ///
    /// A task that is added or removed between two pages may be missing or appear twice; compare
    /// ids.
    ///
    /// - Parameter query: The query; its limit applies to the whole result.
    /// - Returns: The tasks.
    /// - Throws: The first error of a page.
    public func allTasks(
        _ query: TaskQuery = TaskQuery()
    ) async throws(ManagerError) -> [TaskProperties] {
        if query == TaskQuery() {
            // One call for the whole list is the fastest way if the answer fits.
            do {
                return try await listTasks()
            } catch {
                guard error.code == .limitExceeded else { throw error }
            }
        }
        return try await TaskPageReader(client: self, query: query).all()
    }

    /// Returns how many tasks are in a state.
    package func taskCount(in state: TaskProperties.State) async throws(ManagerError) -> UInt32 {
        var query = TaskQuery()
        query.states = [state]
        query.limit = 1
        return try await findTasks(query).total
    }
}

/// Reads all pages of a list.
private struct TaskPageReader {
    let client: ManagerClient
    let query: TaskQuery

    /// Returns all tasks that match the query, or as many as its limit says.
    func all() async throws(ManagerError) -> [TaskProperties] {
        // While the service reads one page, another is being sent and a third is being decoded here.
        // But each page of a search costs a walk through the whole list.
        if query.text == nil, query.addedBy == nil {
            let (tasks, isWhole) = try await tasks(inPagesOf: 2_500, atOnce: 4)
            if isWhole { return tasks }
        }
        // About 10 MB, far below the limit of an answer, with few round trips.
        return try await tasks(inPagesOf: 20_000, atOnce: 1).tasks
    }

    /// Returns the tasks, and whether the list has not changed between two pages.
    private func tasks(
        inPagesOf longest: UInt32,
        atOnce count: UInt32
    ) async throws(ManagerError) -> (tasks: [TaskProperties], isWhole: Bool) {
        let limit = query.limit ?? 0
        let most = limit == 0 ? UInt32.max : limit
        var (query, length) = (query, longest)
        var (tasks, totals) = ([TaskProperties](), Set<UInt32>())
        while true {
            let first = UInt32(clamping: tasks.count)
            let places = (0..<count).map { first + $0 * length }.filter { $0 < most }
            do throws(ManagerError) {
                let places = places.map { ($0, min(length, most - $0)) }
                for page in await pages(of: query, at: places) {
                    let (found, total) = try page.get()
                    tasks += found
                    totals.insert(total)
                }
            } catch {
                switch error.code {
                // URLs may be long, and the length of a message is limited.
                case .limitExceeded where length > 1: length = max(1, length / 4)
                // An older service does not know this key, and returns all properties.
                case .invalidOption where !query.properties.isEmpty: query.properties = []
                default: throw error
                }
                tasks.removeSubrange(Int(first)...)
                continue
            }
            let end = min(totals.max() ?? 0, most)
            guard tasks.count > first, tasks.count < end else {
                let isWhole = totals.count == 1 && tasks.count == end
                return (tasks, isWhole && Set(tasks.map(\.id)).count == tasks.count)
            }
        }
    }

    private typealias Page = Result<(page: [TaskProperties], total: UInt32), ManagerError>

    /// Returns several pages, each by its first place and its length, in their order.
    private func pages(
        of query: TaskQuery,
        at places: [(offset: UInt32, limit: UInt32)]
    ) async -> [Page] {
        await withTaskGroup(of: (UInt32, Page).self) { group in
            for (offset, limit) in places {
                var query = query
                (query.offset, query.limit) = (offset, limit)
                group.addTask { [query] in
                    do throws(ManagerError) {
                        return (offset, .success(try await client.findTasks(query)))
                    } catch {
                        return (offset, .failure(error))
                    }
                }
            }
            var pages: [(UInt32, Page)] = []
            for await page in group { pages.append(page) }
            return pages.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
