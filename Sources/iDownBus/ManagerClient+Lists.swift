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

    func all() async throws(ManagerError) -> [TaskProperties] {
        let limit = query.limit ?? 0
        let most = limit == 0 ? UInt32.max : limit
        if most == .max, !query.properties.isEmpty, query.text == nil, query.addedBy == nil,
            let tasks = try await sideBySide()
        {
            return tasks
        }
        return try await oneByOne(atMost: most)
    }

    private func oneByOne(atMost most: UInt32) async throws(ManagerError) -> [TaskProperties] {
        var query = query
        query.offset = 0
        var longest = Self.page
        var tasks: [TaskProperties] = []
        while true {
            query.limit = min(longest, most - UInt32(clamping: tasks.count))
            let (page, total): ([TaskProperties], UInt32)
            do {
                (page, total) = try await client.findTasks(query)
            } catch  where error.code == .invalidOption && !query.properties.isEmpty {
                // An older service does not know this key, and returns all properties.
                query.properties = []
                continue
            } catch {
                // URLs may be long, and the length of a message is limited.
                guard error.code == .limitExceeded, let limit = query.limit, limit > 1 else {
                    throw error
                }
                longest = max(1, limit / 4)
                continue
            }
            tasks += page
            guard !page.isEmpty, tasks.count < min(total, most) else { return tasks }
            query.offset = UInt32(clamping: tasks.count)
        }
    }

    /// The tasks of one page: about 10 MB, far below the limit of an answer, with few round trips.
    private static let page: UInt32 = 20_000

    /// Returns the tasks that match a query by asking for several pages at once: while the service
    /// reads one page, another is being sent and a third is being decoded here.
    ///
    /// - Returns: Nil if the list changed between two pages, or if the service cannot select
    ///   properties.
    private func sideBySide() async throws(ManagerError) -> [TaskProperties]? {
        var tasks: [TaskProperties] = []
        var total: UInt32?
        var first: UInt32 = 0
        repeat {
            for page in await pages(from: first) {
                switch page {
                case .success(let page):
                    guard total ?? page.total == page.total else { return nil }
                    total = page.total
                    tasks += page.tasks
                case .failure(let error) where error.code == .invalidOption: return nil
                case .failure(let error) where error.code == .limitExceeded: return nil
                case .failure(let error): throw error
                }
            }
            first += Self.shortPage * Self.pagesAtOnce
        } while first < total ?? 0
        let isWhole =
            tasks.count == total.map(Int.init) && Set(tasks.map(\.id)).count == tasks.count
        return isWhole ? tasks : nil
    }

    private typealias Page = Result<(tasks: [TaskProperties], total: UInt32), ManagerError>

    /// Returns several consecutive pages, in order.
    private func pages(from first: UInt32) async -> [Page] {
        await withTaskGroup(of: (UInt32, Page).self) { group in
            for number in 0..<Self.pagesAtOnce {
                var query = query
                query.offset = first + number * Self.shortPage
                query.limit = Self.shortPage
                group.addTask { [query] in
                    do throws(ManagerError) {
                        let (tasks, total) = try await client.findTasks(query)
                        return (number, .success((tasks, total)))
                    } catch {
                        return (number, .failure(error))
                    }
                }
            }
            var pages: [(UInt32, Page)] = []
            for await page in group { pages.append(page) }
            return pages.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// The tasks of one page when several pages are asked for at once.
    private static let shortPage: UInt32 = 2_500
    private static let pagesAtOnce: UInt32 = 4
}
