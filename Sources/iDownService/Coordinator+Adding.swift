// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownData
package import iDownState
import iDownloader

extension Coordinator {
    /// Adds all tasks in one commit, or none.
    ///
    /// Where an unfinished task for the same download exists, that task is resumed instead.
    ///
    /// - Parameters:
    ///   - wishes: the tasks to add, in order.
    ///   - token: the same token gives the same ids for ever, whatever the tasks.
    ///   - answer: receives an id for each task; or a `ServiceRefusal` or the store's error, and
    ///     then nothing has been added.
    func add(
        _ wishes: [NewTask],
        token: String?,
        answer: @escaping @Sendable (Result<[TaskID], any Error>) -> Void
    ) {
        guard !isStopping else { return answer(.failure(ServiceRefusal.stopping)) }
        let now = time.date
        let wishes = custody.withKeptLogins(wishes)
        let entry = Commits.Queue.Entry(replyTime: .afterSignals, answer: answer) { transaction in
            if let token, let ids = try transaction.taskIDs(forToken: token) { return (ids, []) }
            let (ids, changes): ([TaskID], [Change]) = try transaction.add(wishes, at: now)
            if let token, !ids.isEmpty { try transaction.remember(token: token, ids: ids) }
            return (ids, changes)
        }
        commits.append(entry, in: self)
    }

    /// Returns the ids that a call with this token was answered; nil for a new token.
    package func ids(forToken token: String) async throws -> [TaskID]? {
        try await store.readNow { try $0.taskIDs(forToken: token) }
    }
}

extension Transaction {
    /// Adds each task, or resumes the unfinished task for the same download.
    ///
    /// - Returns: an id for each task, and what has changed.
    /// - Throws: `ServiceRefusal`, or the store's error; the transaction then has to be undone.
    fileprivate func add(
        _ wishes: [NewTask],
        at now: WallTime
    ) throws -> (ids: [TaskID], changes: [Change]) {
        var changes: [Change] = []
        var ids: [TaskID] = []
        for wish in wishes {
            if let token = wish.token, let id = try taskIDs(forToken: token)?.first {
                ids.append(id)
                continue
            }
            let (id, change) = try resume(wish) ?? add(wish, at: now)
            ids.append(id)
            if let change { changes.append(change) }
            if let token = wish.token { try remember(token: token, ids: [id]) }
        }
        let hasNew = changes.contains { $0.before == nil }
        for owner in Set(wishes.compactMap(\.request.owner)) where hasNew {
            let limit = Contract.maximumTasksOfApplication
            guard try count(ownedBy: owner) > limit else { continue }
            throw ServiceRefusal.limitExceeded(
                "An application may have at most \(limit) downloads in the list. Remove some first."
            )
        }
        // The list holds at most as many tasks as ids were ever given.
        if hasNew, let newest = ids.max(), newest.rawValue > Contract.maximumTasks,
            try counts().total > Contract.maximumTasks
        {
            throw ServiceRefusal.limitExceeded(
                "The list may hold at most \(Contract.maximumTasks) tasks. Remove some first."
            )
        }
        return (ids, changes)
    }

    /// Adds the files of a metalink, at the metalink's priority.
    ///
    /// After a crash the same files may come again: a file whose task has completed or was
    /// cancelled since is not added again.
    ///
    /// - Returns: the id of each file's task, once and in the order of the metalink, and what has
    ///   changed.
    /// - Throws: `ServiceRefusal`, or the store's error; the transaction then has to be undone.
    func add(
        _ wishes: [NewTask],
        listedBy metalink: TaskRecord,
        at now: WallTime
    ) throws -> (ids: [TaskID], changes: [Change]) {
        let ended = try endedTasks(listedBy: metalink)
        let isEnded = { (wish: NewTask) in ended[ListedName(wish.request)] != nil }
        let others = wishes.filter { !isEnded($0) }.map { wish in
            var wish = wish
            wish.priority = metalink.priority
            return wish
        }
        let (added, changes) = try add(others, at: now)
        var rest = added[...]
        // A metalink may name a file twice, or itself.
        var known: Set<TaskID> = [metalink.id]
        let ids = wishes.compactMap { ended[ListedName($0.request)] ?? rest.popFirst() }
            .filter { known.insert($0).inserted }
        return (ids, changes)
    }

    /// Returns the tasks from a metalink that have completed or were cancelled.
    private func endedTasks(listedBy metalink: TaskRecord) throws -> [ListedName: TaskID] {
        var ended: [ListedName: TaskID] = [:]
        for id in metalink.listedTasks {
            // A record that cannot be read must not stop the others.
            guard let record = try? task(id), record.intent != .remove,
                !record.state.isUnfinished
            else { continue }
            ended[ListedName(record.request)] = id
        }
        return ended
    }

    /// Returns the unfinished task for the same download, resumed unless the new one is to be
    /// paused; its file then gets the name that is asked for, whatever its server suggests.
    ///
    /// A request that may not use the user's logins resumes no task that may, unless the request is
    /// the user's own.
    fileprivate func resume(_ wish: NewTask) throws -> (TaskID, Change?)? {
        let request = wish.request
        let id = try unfinishedTask(
            url: request.url,
            directory: request.directory,
            fileName: request.fileName,
            owner: request.owner,
            keptLogins: wish.keptLogins
        )
        guard let id else { return nil }
        do {
            return (
                id,
                try change(id) { record in
                    let isNamed =
                        request.fileName != nil && record.request.fileName == nil
                        && record.file == nil
                    if isNamed { record.request.fileName = request.fileName }
                    guard !wish.isPaused else { return isNamed ? [.persist] : [] }
                    let usesLogins = record.request.usesStoredLogins
                    guard request.usesStoredLogins || wish.isUsersOwn || !usesLogins else {
                        return isNamed ? [.persist] : []
                    }
                    // The user's own request may use logins, unlike the request of a link that came
                    // before.
                    let isLent = request.usesStoredLogins && !usesLogins
                    if isLent { record.request.usesStoredLogins = true }
                    let effects = try record.apply(.resume)
                    let isChanged = isLent || isNamed
                    return isChanged && !effects.contains(.persist) ? [.persist] + effects : effects
                }
            )
        } catch Refusal.publishing {
            return (id, nil)
        }
    }

    /// Adds a task, unless it cannot have the name that it needs.
    private func add(_ wish: NewTask, at now: WallTime) throws -> (TaskID, Change?) {
        if let name = wish.takenName {
            let refusal = ServiceRefusal.fileExists(name)
            guard wish.place.isEmpty else { throw ManagerError(refusal).named(by: wish.place) }
            throw refusal
        }
        var record = TaskRecord(wish, id: try makeID(), at: now)
        record.serial = try makeSerial()
        try insert(record)
        if let pieces = wish.pieces { try keep(pieces, of: record.id) }
        let effects: [Effect] = [.persist, .announce, .fillSlots]
        return (record.id, Change(before: nil, after: record, effects: effects))
    }
}

/// The URL and name that tell one file of a metalink from another.
private struct ListedName: Hashable {
    let url: String
    let fileName: String?

    init(_ request: TaskRequest) {
        url = request.urlWithoutLogin
        fileName = request.fileName
    }
}
