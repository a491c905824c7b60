// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
package import iDownState

/// Moves the logins of URLs from the list into a vault.
///
/// Logins are committed with their task, before the reply, and move as soon as the vault is open.
/// Only this type adds or deletes logins in the vault, one step after the other, so that no task
/// ever loses logins that it shares with another.
final class LoginCustody {
    /// The most logins that are kept in memory; the vault knows the others.
    private static let mostKnown = 1_000
    /// The most tasks that one step moves.
    private static let batch = 256

    private var vault: (any LoginVault)?
    private let keeping = WantedWork()
    /// Whether vault and list have been compared since the vault was opened.
    private var hasCompared = false
    /// The logins that are in the vault, by id.
    private var known: [String: URLLogins] = [:]
    /// The prefix of the ids of this list's logins in the vault.
    ///
    /// A list that was made anew or copied has another prefix, so it deletes no logins that it does
    /// not know.
    private var origin = ""
    /// The ids of logins that seemingly no task has any more.
    private var released: Set<String> = []

    /// Keeps logins in a vault from now on; to be called again whenever it may have been opened.
    func keep(in vault: any LoginVault, for coordinator: isolated Coordinator) {
        self.vault = vault
        hasCompared = false
        begin(for: coordinator)
    }

    /// Moves or deletes the logins of a changed task, where that is needed.
    func note(_ change: Change, for coordinator: isolated Coordinator) {
        let (before, after) = (change.before?.request, change.after.request)
        if change.effects.contains(.erase) {
            guard let key = after.keptLogins else { return }
            release(key.id)
        } else {
            // Most changes are of the state only.
            guard
                before?.url != after.url || before?.mirrors != after.mirrors
                    || before?.keptLogins != after.keptLogins
            else { return }
            if let id = before?.keptLogins?.id, id != after.keptLogins?.id {
                release(id)
            } else {
                guard after.hasLogins else { return }
            }
        }
        begin(for: coordinator)
    }

    /// Returns the new tasks, each with the ids in the vault of logins that equal its URL's.
    func withKeptLogins(_ tasks: [NewTask]) -> [NewTask] {
        guard !known.isEmpty else { return tasks }
        return tasks.map { task in
            guard TaskRequest.hasLogin(task.request.url), let own = URLLogins(of: task.request)
            else { return task }
            var task = task
            task.keptLogins = Set(known.filter { $0.value.hasSameForURL(as: own) }.keys)
            return task
        }
    }

    func stop() { keeping.stop() }

    private func begin(for coordinator: isolated Coordinator) {
        guard let vault else { return }
        keeping.want(in: coordinator) { [self] in
            guard await vault.isOpen else { return }
            do {
                if !hasCompared { try await compare(with: vault, for: coordinator) }
                try await moveLogins(into: vault, for: coordinator)
                let ids = released
                released = []
                for id in ids { try await forget(id, by: vault, for: coordinator) }
            } catch {
                // Logins that could not be moved stay in the list until something changes. What was to
                // be deleted is found then.
                hasCompared = false
                coordinator.log.debug("logins stay in the list for now: \(error)")
            }
        }
    }

    // MARK: Moving

    private func moveLogins(
        into vault: any LoginVault,
        for coordinator: isolated Coordinator
    ) async throws {
        var last: TaskID?
        while !coordinator.isStopping {
            let records = try await coordinator.store.read { [last] snapshot in
                try snapshot.tasksWithLogins(after: last, limit: Self.batch)
            }
            guard let end = records.last?.id else { break }
            last = end
            var moves: [(id: TaskID, from: TaskRequest, to: TaskRequest)] = []
            for record in records {
                let request = record.request
                guard let key = await put(request, into: vault, for: coordinator) else { continue }
                moves.append((record.id, request, request.withoutLogins(keptAt: key)))
            }
            guard !moves.isEmpty else { continue }
            let moved = try await coordinator.commit { [moves] transaction in
                let changes = try moves.flatMap { move in
                    try transaction.changeIfReadable(move.id) { record in
                        // A task that has changed meanwhile is read again.
                        guard record.request == move.from else { return [] }
                        record.request = move.to
                        return [.persist]
                    }
                }
                return (Set(changes.map(\.after.id)), changes)
            }
            coordinator.erasure.want(in: coordinator)
            // The vault has logins now that no task may have.
            for case (let id, _, let request) in moves where !moved.contains(id) {
                if let key = request.keptLogins { release(key.id) }
            }
        }
    }

    /// Stores the logins of a request in the vault, unless the same ones are there already.
    private func put(
        _ request: TaskRequest,
        into vault: any LoginVault,
        for _: isolated Coordinator
    ) async -> LoginKey? {
        var old: URLLogins?
        if let id = request.keptLogins?.id {
            old = known[id]
            if old == nil { old = await vault.urlLogins(keptAt: id) }
            // Without the old logins, those of the mirrors would be lost.
            guard old != nil else { return nil }
        }
        guard let logins = URLLogins(of: request, over: old) else { return nil }
        if let id = known.first(where: { $0.value == logins })?.key {
            return LoginKey(id: id, isForURL: logins.isForURL)
        }
        let id =
            origin + String(UInt64.random(in: .min ... .max), radix: 36)
            + String(UInt64.random(in: .min ... .max), radix: 36)
        guard await vault.keep(logins, at: id) else { return nil }
        note(logins, at: id)
        return LoginKey(id: id, isForURL: logins.isForURL)
    }

    private func note(_ logins: URLLogins, at id: String) {
        if known.count >= Self.mostKnown { known = [:] }
        known[id] = logins
    }

    // MARK: Forgetting

    /// Notes that a task does not have these logins any more.
    ///
    /// Ids beyond the limit are found when vault and list are compared.
    private func release(_ id: String) {
        if released.count < Self.mostKnown { released.insert(id) } else { hasCompared = false }
    }

    /// Deletes logins from the vault if no task has them any more.
    private func forget(
        _ id: String,
        by vault: any LoginVault,
        for coordinator: isolated Coordinator
    ) async throws {
        let isNeeded = try await coordinator.store.read { try $0.needsLogins(keptAt: id) }
        guard !isNeeded else { return }
        known[id] = nil
        await vault.forget(id)
    }

    // MARK: An open vault

    /// Deletes logins that a crash or a locked vault has left, reads the others, and retries tasks
    /// that failed because their logins could not be read.
    private func compare(
        with vault: any LoginVault,
        for coordinator: isolated Coordinator
    ) async throws {
        origin = try await coordinator.position().list + "-"
        hasCompared = true
        for id in await vault.ids where id.hasPrefix(origin) {
            try await forget(id, by: vault, for: coordinator)
        }
        let keys = try await coordinator.store.read { try $0.loginKeys(limit: Self.mostKnown) }
        for key in keys where known[key.id] == nil {
            guard let logins = await vault.urlLogins(keptAt: key.id) else { continue }
            note(logins, at: key.id)
        }
        try await coordinator.commitChanges(of: { try $0.tasksWithUnreadableLogins() }) {
            try $0.apply(.retry)
        }
    }
}

/// Stores the logins of URLs outside of the list of tasks, in the desktop's keyring.
///
/// A login is first durable in the list, before the reply, because a keyring may be locked or slow.
/// Then the login moves into the vault: one item for each distinct set of logins, under a random
/// key, so that no digest is left from which the login could be guessed. The list's write-ahead log
/// is emptied afterwards, because SQLite keeps overwritten pages there. Two tasks that differ only
/// in their logins stay two as long as the keyring can be read.
///
/// The vault never waits for a person: a locked keyring counts as unavailable.
package protocol LoginVault: Sendable {
    /// Whether the keyring can be read and written now.
    var isOpen: Bool { get async }

    /// Stores logins under an id.
    ///
    /// - Returns: whether they are stored.
    func keep(_ logins: URLLogins, at id: String) async -> Bool

    /// Returns the logins that are stored under an id; nil where they cannot be read.
    func urlLogins(keptAt id: String) async -> URLLogins?

    /// The ids under which this service has stored logins.
    var ids: [String] { get async }

    /// Deletes logins; if that fails, their id stays among the ``ids``.
    func forget(_ id: String) async
}
