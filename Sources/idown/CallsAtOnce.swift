// SPDX-License-Identifier: Apache-2.0

import iDownBus

/// Makes the same call for many downloads, several at a time.
///
/// The service commits changes that wait together in one durable commit, so that thousands of
/// changes take a hundred commits.
enum CallsAtOnce {
    /// The most calls under way: each may hold 64 headers of 8 KiB, and the service lets 16 MiB of
    /// one client wait.
    private static let most = 32

    /// Makes the calls, and gives the answers in the order of the items.
    ///
    /// - Parameters:
    ///   - items: The items to make calls for.
    ///   - call: Makes one call.
    ///   - take: Gets each answer; no further calls are begun after it has thrown.
    /// - Throws: What `take` throws.
    static func make<Item: Sendable, Answer: Sendable, Failure: Error>(
        about items: some Collection<Item>,
        _ call: @escaping @Sendable (Item) async throws(ManagerError) -> Answer,
        then take: (Item, Result<Answer, ManagerError>) throws(Failure) -> Void
    ) async throws(Failure) {
        var rest = items[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(most))
            rest = rest.dropFirst(most)
            for (item, answer) in zip(some, await answers(about: some, call)) {
                try take(item, answer)
            }
        }
    }

    private static func answers<Item: Sendable, Answer: Sendable>(
        about items: [Item],
        _ call: @escaping @Sendable (Item) async throws(ManagerError) -> Answer
    ) async -> [Result<Answer, ManagerError>] {
        await withTaskGroup(of: (Int, Result<Answer, ManagerError>).self) { group in
            for (place, item) in items.enumerated() {
                group.addTask {
                    do throws(ManagerError) {
                        return (place, .success(try await call(item)))
                    } catch {
                        return (place, .failure(error))
                    }
                }
            }
            var answers: [(Int, Result<Answer, ManagerError>)] = []
            for await answer in group { answers.append(answer) }
            return answers.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
