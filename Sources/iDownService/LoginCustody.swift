// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState

/// Moves names and passwords of URLs out of the list into a vault.
///
/// They are committed with the task, before the reply; afterwards they move, as soon as the vault is
/// open. Only this keeper puts anything there or takes it away, one step after the other, so that no
/// task ever loses what it shares with another.
final class LoginCustody {
    /// More logins are known by the vault alone.
    private static let mostKnown = 1_000
    /// This many tasks at once.
    private static let batch = 256

    private var vault: (any LoginVault)?
    /// At work; nil while there is nothing to do.
    private var keeper: Task<Void, Never>?
    private var isWanted = false
    /// Whether vault and list were compared since the vault was opened.
    private var hasCompared = false
    /// What is kept, by where.
    private var known: [String: URLLogins] = [:]
    private var ids: [URLLogins: String] = [:]
    /// Begins the ids of what this list puts into the vault.
    ///
    /// A list that was made anew, or comes from a
    /// copy, has another one: it takes nothing away that it does not know.
    private var origin = ""
    /// No task has these any more, or so it seems.
    private var released: Set<String> = []

    /// From now on logins are kept there; to be called again each time that it may have been opened.
    func keep(in vault: any LoginVault, for coordinator: isolated Coordinator) {
        self.vault = vault
        hasCompared = false
        begin(for: coordinator)
    }

    /// What is to be done about the logins of a changed task.
    func note(_ change: Change, for coordinator: isolated Coordinator) {
        let (before, after) = (change.before?.request, change.after.request)
        if change.effects.contains(.erase) {
            guard let key = after.keptLogins else { return }
            release(key.id)
        } else {
            // Most changes are of the state alone.
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

    /// The new tasks, each with the places where the login of its URL is kept.
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

    func stop() { keeper?.cancel() }

    private func begin(for coordinator: isolated Coordinator) {
        isWanted = true
        guard keeper == nil, let vault, !coordinator.isStopping else { return }
        keeper = Task {
            while isWanted, !coordinator.isStopping, await vault.isOpen {
                isWanted = false
                do {
                    if !hasCompared { try await compare(with: vault, for: coordinator) }
                    try await moveLogins(into: vault, for: coordinator)
                    try await forgetReleased(by: vault, for: coordinator)
                } catch {
                    // What could not be moved stays where it is until something changes.
                    coordinator.log.debug("logins stay in the list for now: \(error)")
                }
            }
            keeper = nil
        }
    }

    // MARK: Moving

    private func moveLogins(
        into vault: any LoginVault,
        for coordinator: isolated Coordinator
    ) async throws {
        var last: TaskID?
        var hasMoved = false
        while !coordinator.isStopping {
            let records = try await coordinator.store.read { [last] snapshot throws(StoreFailure) in
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
            try await coordinator.commit { [moves] transaction in
                let changes = try moves.flatMap { move in
                    try transaction.changeIfReadable(move.id) { record in
                        // What has changed meanwhile is looked at again.
                        guard record.request == move.from else { return [] }
                        record.request = move.to
                        return [.persist]
                    }
                }
                return ((), changes)
            }
            hasMoved = true
        }
        if hasMoved { try await coordinator.store.emptyLog() }
    }

    /// Puts the logins of a request into the vault, where the same are not there already.
    private func put(
        _ request: TaskRequest,
        into vault: any LoginVault,
        for _: isolated Coordinator
    ) async -> LoginKey? {
        var old: URLLogins?
        if let id = request.keptLogins?.id {
            old = known[id]
            if old == nil { old = await vault.urlLogins(keptAt: id) }
            // Without them those of the mirrors would be lost.
            guard old != nil else { return nil }
        }
        guard let logins = URLLogins(of: request, over: old) else { return nil }
        if let id = ids[logins] { return LoginKey(id: id, isForURL: logins.isForURL) }
        let id =
            origin + String(UInt64.random(in: .min ... .max), radix: 36)
            + String(UInt64.random(in: .min ... .max), radix: 36)
        guard await vault.keep(logins, at: id) else { return nil }
        note(logins, at: id)
        return LoginKey(id: id, isForURL: logins.isForURL)
    }

    private func note(_ logins: URLLogins, at id: String) {
        if known.count >= Self.mostKnown {
            known = [:]
            ids = [:]
        }
        known[id] = logins
        ids[logins] = id
    }

    // MARK: Forgetting

    /// Notes that a task has these logins no more.
    ///
    /// What is beyond the limit is found when vault and list are compared.
    private func release(_ id: String) {
        if released.count < Self.mostKnown { released.insert(id) } else { hasCompared = false }
    }

    private func forgetReleased(
        by vault: any LoginVault,
        for coordinator: isolated Coordinator
    ) async throws {
        let ids = released
        released = []
        for id in ids { try await forget(id, by: vault, for: coordinator) }
    }

    /// Forgets logins that no task has any more.
    private func forget(
        _ id: String,
        by vault: any LoginVault,
        for coordinator: isolated Coordinator
    ) async throws {
        let isNeeded = try await coordinator.store.read { snapshot throws(StoreFailure) in
            try snapshot.needsLogins(keptAt: id)
        }
        guard !isNeeded else { return }
        if let logins = known.removeValue(forKey: id) { ids[logins] = nil }
        await vault.forget(id)
    }

    // MARK: An open vault

    /// Forgets what a crash or a locked vault has left there, learns what is there, and lets those
    /// tasks go on that missed it.
    private func compare(
        with vault: any LoginVault,
        for coordinator: isolated Coordinator
    ) async throws {
        origin = try await coordinator.position().list + "-"
        hasCompared = true
        for id in await vault.ids where id.hasPrefix(origin) {
            try await forget(id, by: vault, for: coordinator)
        }
        let keys = try await coordinator.store.read { snapshot throws(StoreFailure) in
            try snapshot.loginKeys(limit: Self.mostKnown)
        }
        for key in keys where known[key.id] == nil {
            guard let logins = await vault.urlLogins(keptAt: key.id) else { continue }
            note(logins, at: key.id)
        }
        try await coordinator.commit { transaction in
            let changes = try transaction.tasksWithUnreadableLogins().flatMap { id in
                try transaction.changeIfReadable(id) { try $0.apply(.retry) }
            }
            return ((), changes)
        }
    }
}
