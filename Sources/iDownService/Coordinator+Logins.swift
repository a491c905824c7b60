// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState

// Names and passwords of URLs are committed with the task, before the reply; afterwards they move
// out of the list into a vault, as soon as that is open. Only the keeper puts anything there or
// takes it away, one step after the other, so that no task ever loses what it shares with another.
extension Coordinator {
    /// From now on logins are kept there; to be called again each time that it may have been opened.
    package func keepLogins(in vault: any LoginVault) {
        custody.vault = vault
        custody.hasCompared = false
        attendToLogins()
    }

    /// What is to be done about the logins of a changed task.
    func noteLogins(of change: Change) {
        let (before, after) = (change.before?.request, change.after.request)
        if change.effects.contains(.erase) {
            guard let key = after.keptLogins else { return }
            custody.release(key.id)
        } else {
            // Most changes are of the state alone.
            guard before?.url != after.url || before?.keptLogins != after.keptLogins else { return }
            if let id = before?.keptLogins?.id, id != after.keptLogins?.id {
                custody.release(id)
            } else {
                guard after.hasLogins else { return }
            }
        }
        attendToLogins()
    }

    /// The wishes, each with the places where the login of its URL is kept.
    func withKeptLogins(_ wishes: [NewTask]) -> [NewTask] {
        guard !custody.known.isEmpty else { return wishes }
        return wishes.map { wish in
            guard TaskRequest.hasLogin(wish.request.url), let own = URLLogins(of: wish.request)
            else { return wish }
            var wish = wish
            wish.keptLogins = Set(custody.known.filter { $0.value.hasSameForURL(as: own) }.keys)
            return wish
        }
    }

    private func attendToLogins() {
        custody.isWanted = true
        guard custody.keeper == nil, let vault = custody.vault, !isStopping else { return }
        custody.keeper = Task {
            while custody.isWanted, !isStopping, await vault.isOpen {
                custody.isWanted = false
                do {
                    if !custody.hasCompared { try await compare(with: vault) }
                    try await moveLogins(into: vault)
                    try await forgetReleased(by: vault)
                } catch {
                    // What could not be moved stays where it is until something changes.
                    log.debug("logins stay in the list for now: \(error)")
                }
            }
            custody.keeper = nil
        }
    }

    // MARK: Moving

    private func moveLogins(into vault: any LoginVault) async throws {
        var last: TaskID?
        var hasMoved = false
        while !isStopping {
            let records = try await store.read { [last] snapshot throws(StoreFailure) in
                try snapshot.tasksWithLogins(after: last, limit: LoginCustody.batch)
            }
            guard let end = records.last?.id else { break }
            last = end
            var moves: [(id: TaskID, from: TaskRequest, to: TaskRequest)] = []
            for record in records {
                guard let key = await put(record.request, into: vault) else { continue }
                let request = record.request
                moves.append((record.id, request, request.withoutLogins(keptAt: key)))
            }
            guard !moves.isEmpty else { continue }
            try await commit { [moves] transaction in
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
        if hasMoved { try await store.emptyLog() }
    }

    /// Puts the logins of a request into the vault, where the same are not there already.
    private func put(_ request: TaskRequest, into vault: any LoginVault) async -> LoginKey? {
        var old: URLLogins?
        if let id = request.keptLogins?.id {
            old = custody.known[id]
            if old == nil { old = await vault.urlLogins(keptAt: id) }
            // Without them those of the mirrors would be lost.
            guard old != nil else { return nil }
        }
        guard let logins = URLLogins(of: request, over: old) else { return nil }
        if let id = custody.id(of: logins) { return LoginKey(id: id, isForURL: logins.isForURL) }
        let id =
            String(UInt64.random(in: .min ... .max), radix: 36)
            + String(UInt64.random(in: .min ... .max), radix: 36)
        guard await vault.keep(logins, at: id) else { return nil }
        custody.note(logins, at: id)
        return LoginKey(id: id, isForURL: logins.isForURL)
    }

    private func forgetReleased(by vault: any LoginVault) async throws {
        for id in custody.takeReleased() { try await forget(id, by: vault) }
    }

    /// Forgets logins that no task has any more.
    private func forget(_ id: String, by vault: any LoginVault) async throws {
        let isNeeded = try await store.read { snapshot throws(StoreFailure) in
            try snapshot.needsLogins(keptAt: id)
        }
        guard !isNeeded else { return }
        custody.forget(id)
        await vault.forget(id)
    }

    // MARK: An open vault

    /// Forgets what a crash or a locked vault has left there, learns what is there, and lets those
    /// tasks go on that missed it.
    private func compare(with vault: any LoginVault) async throws {
        custody.hasCompared = true
        for id in await vault.ids { try await forget(id, by: vault) }
        let keys = try await store.read { snapshot throws(StoreFailure) in
            try snapshot.loginKeys(limit: LoginCustody.mostKnown)
        }
        for key in keys where custody.known[key.id] == nil {
            guard let logins = await vault.urlLogins(keptAt: key.id) else { continue }
            custody.note(logins, at: key.id)
        }
        try await commit { transaction in
            let changes = try transaction.tasksWithUnreadableLogins().flatMap { id in
                try transaction.changeIfReadable(id) { try $0.apply(.retry) }
            }
            return ((), changes)
        }
    }
}
