// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging
import iDownBus
import iDownData
import iDownState
import iDownloader

/// Takes over downloads from browsers that hold their own response meanwhile (contract, "Hand-over
/// from a browser").
///
/// A transfer asks for the file, and waits with its answer open and nothing stored. If the answer
/// equals the browser's, the future task is stored beside the list, where no client sees it.
/// Confirm puts the task into the list, and the transfer goes on with the same answer, because many
/// links work only once. So a hand-over that is not confirmed leaves no file, and only a row to
/// delete.
///
/// After `kill -9` only the row is left. Whether the caller got its answer is then unknown, so the
/// hand-over counts as answered: a download may come twice, but is never lost.
final class HandOvers {
    /// The longest that the browser's response is held.
    static let patience: Duration = .seconds(3)
    /// How long the browser has to confirm or withdraw a hand-over.
    static let term: Duration = .seconds(60)
    /// The most downloads that wait at once; further ones are left to the browser.
    private static let most = 64
    /// The most that wait for one host: a few connections stay free for the downloads that run.
    private static let mostOfHost = 12

    /// The calls that wait for the first answer, or for the reason of a refusal.
    ///
    /// Keys are the bytes of tokens, as in the store: as texts, two Unicode forms are equal.
    private let words = Waiters<[UInt8], Result<Journal.FirstWord, ServiceRefusal>>()
    /// The hosts that are asked, by the tokens whose first answer is awaited.
    private var asking: [[UInt8]: Origin?] = [:]
    /// The transfers of provisional tasks, which wait with their answers open.
    private var held: [TaskID: (start: HeadStart, isSeen: Bool)] = [:]
    /// Confirms hand-overs whose time is over; idle while none is provisional.
    private let clock = WantedWork()

    /// Whether no server is being asked, and no answer is held open.
    var holdsNothing: Bool { asking.isEmpty && held.isEmpty }

    /// Whether no server is being asked, and no hand-over is provisional.
    ///
    /// The end of the last hand-over is noticed only when its minute is over.
    var isIdle: Bool { holdsNothing && clock.isIdle }

    /// Returns whether a transfer waits for its task to be put into the list.
    func holdsTransfer(of id: TaskID) -> Bool { held[id] != nil }

    // MARK: Handing over

    /// Asks for the file that a browser is about to get, and keeps the task as provisional if the
    /// answer is the same.
    ///
    /// Of the calls with one token only one is here at a time: ``HandOverCalls`` joins them.
    ///
    /// - Parameters:
    ///   - wish: the future task.
    ///   - token: the token of the hand-over.
    ///   - seen: the answer that the browser got.
    ///   - deadline: the time when the browser stops waiting.
    ///   - coordinator: the owner.
    /// - Returns: the id of the future task, and whether this call made it provisional.
    /// - Throws: `ServiceRefusal`; `StoreFailure`. Nothing is left then.
    func take(
        _ wish: NewTask,
        token: String,
        seen: SeenAnswer,
        until deadline: TimeAndChance.Instant,
        in coordinator: isolated Coordinator
    ) async throws -> (id: TaskID, isNew: Bool) {
        try coordinator.refuseWhileStopping()
        let known = try await coordinator.store.readNow { try $0.handOvers.find(token) }
        if let known { return (try known.taskID, false) }
        try checkPlaces(for: wish.request.origin, in: coordinator)
        let key = Array(token.utf8)
        asking.updateValue(wish.request.origin, forKey: key)
        defer { asking.removeValue(forKey: key) }
        try check(wish, in: coordinator)
        let id = try await coordinator.commit(answering: .first) { transaction in
            (try transaction.makeID(), [])
        }
        try coordinator.refuseWhileStopping()
        let asked = TaskRecord(wish, id: id, at: coordinator.time.date)
        var start = HeadStart(asked, on: coordinator.engine, for: coordinator) { word in
            coordinator.post { $0.handOvers.words.release(key, with: .success(word)) }
        }
        do {
            let rest = max(.zero, deadline - coordinator.time.now)
            let word = await words.wait(for: key, atMost: rest, in: coordinator)
            let answer = try Self.judge(word, seen, expecting: wish.request.expectedSize)
            try await checkRoom(for: answer, wish, until: deadline, in: coordinator)
            start.answer = answer
            coordinator.freshLinks.keep(answer, for: id)
            var record = TaskRecord(wish, id: id, at: coordinator.time.date)
            // If this answer is lost and the host is asked again, a login page is none.
            record.remote = answer.version
            let confirmAt = coordinator.time.date.advanced(by: Self.term)
            // A Confirm in the same commit takes the transfer from there.
            held[id] = (start, seen.status != nil)
            asking.removeValue(forKey: key)
            try await coordinator.commit(answering: .first) { [record] transaction in
                // The hand-over may have been withdrawn meanwhile.
                if let other = try transaction.handOvers.find(token) { _ = try other.taskID }
                guard try transaction.counts().total < Contract.maximumTasks else {
                    throw ServiceRefusal.limitExceeded(
                        "The list may hold at most \(Contract.maximumTasks) tasks. Remove some"
                            + " first."
                    )
                }
                try transaction.handOvers.keep(record, token: token, confirmAt: confirmAt)
                return ((), [])
            }
        } catch {
            held[id] = nil
            coordinator.freshLinks.forget(id)
            start.drop()
            coordinator.engine.forgetFindings(on: id)
            throw error
        }
        if coordinator.isStopping { drop(id) }
        watchClock(in: coordinator)
        return (id, true)
    }

    /// Leaves a download to the browser while as many wait as may, in all or for its host.
    private func checkPlaces(for origin: Origin?, in coordinator: isolated Coordinator) throws {
        let open = asking.count + held.count + coordinator.slots.openAnswers
        guard open < Self.most else {
            throw ServiceRefusal.limitExceeded(
                "At most \(Self.most) downloads that were handed over wait at once. Try again in a"
                    + " moment."
            )
        }
        let ofHost =
            held.values.count { $0.start.origin == origin } + asking.values.count { $0 == origin }
        guard ofHost + coordinator.slots.openAnswers(of: origin) < Self.mostOfHost else {
            throw ServiceRefusal.disagreed("As many downloads of this host wait as it may have.")
        }
    }

    /// Leaves a download to the browser that could not start now.
    private func check(_ wish: NewTask, in coordinator: isolated Coordinator) throws {
        let request = wish.request
        let obstacle = coordinator.holds.surroundings(in: coordinator)().obstacle(
            for: request.origin,
            directory: request.directory,
            hasFile: false
        )
        guard obstacle == nil, !coordinator.holds.isAsleep else {
            throw ServiceRefusal.disagreed("idown cannot start a download now.")
        }
    }

    /// Leaves a download to the browser for which the disk has no room, or does not answer in time.
    private func checkRoom(
        for answer: OfferedFile,
        _ wish: NewTask,
        until deadline: TimeAndChance.Instant,
        in coordinator: isolated Coordinator
    ) async throws {
        let (engine, directory) = (coordinator.engine, wish.request.directory)
        let rest = max(.zero, deadline - coordinator.time.now)
        let look = await engine.look(in: directory, rest) {
            await engine.freeSpace(in: directory)
        }
        let total = answer.version.total
        let needed = SpacePolicy.needed(for: total ?? 0)
        let refusal = ServiceRefusal.disagreed("File.NoSpace: the disk has no room for the file.")
        guard let space = look else { throw refusal }
        if space.map({ $0.bytes < needed }) != true { return }
        // Another click, or a fresh link, is for a download that has its room already.
        let others = try await coordinator.store.read { try $0.unfinishedTasksWithFile() }
        let isKnown = others.contains { other in
            let isSame = other.request.url == wish.request.url && other.state == .downloading
            return other.request.directory == directory && total != nil
                && other.remote.total == total
                && (isSame || answer.mayContinue(other, by: wish.request))
        }
        if !isKnown { throw refusal }
    }

    private static let overdue = "The server has not answered in time."

    /// Returns the server's answer if it equals the browser's, and throws otherwise.
    private static func judge(
        _ word: Result<Journal.FirstWord, ServiceRefusal>?,
        _ seen: SeenAnswer,
        expecting size: Int64?
    ) throws(ServiceRefusal) -> OfferedFile {
        switch try word?.get() {
        case .answered(let file):
            let isExpected = size == nil || (file.version.total ?? size) == size
            guard let difference = seen.difference(from: file) ?? (isExpected ? nil : "size")
            else { return file }
            throw .disagreed("The server's answer to idown has another \(difference).")
        case .ended(let failure):
            throw .disagreed(
                failure.map { "\($0.code.rawValue): \($0.messageWithoutTask)" }
                    ?? "idown cannot ask the server now."
            )
        case nil: throw .disagreed(overdue)
        }
    }

    // MARK: Confirm and Withdraw

    /// Turns a provisional hand-over into a task like any other.
    ///
    /// - Returns: the id of the task; that of another task if one of the user's own already
    ///   downloads this file, or waits for its slot with its answer open.
    /// - Throws: `ServiceRefusal.noSuchHandOver` for a token that is unknown or withdrawn.
    func confirm(_ token: String, in coordinator: isolated Coordinator) async throws -> TaskID {
        try coordinator.refuseWhileStopping()
        // A task whose Confirm is in the same commit is still in `held`.
        let answers = held.compactMapValues(\.start.answer)
            .merging(coordinator.slots.answers) { $1 }
        let (id, left) = try await coordinator.commit(answering: .afterSignals) { transaction in
            try transaction.confirm(token, answers: answers)
        }
        // The other task has its own transfer.
        if let left { leave(left, in: coordinator) }
        return id
    }

    /// Takes back a hand-over for good: a provisional one leaves nothing, and the task of a
    /// confirmed one is removed as by Remove, unless it stands for another hand-over as well.
    func withdraw(_ token: String, in coordinator: isolated Coordinator) async throws {
        try coordinator.refuseWhileStopping()
        let key = Array(token.utf8)
        words.release(key, with: .failure(.withdrawn))
        let known = try await coordinator.store.readNow { try $0.handOvers.find(token) }
        let taken = try await coordinator.whenSettled(try? known?.taskID) {
            try await coordinator.commit(answering: .afterSignalsFreeing) { transaction in
                try transaction.withdraw(token)
            }
        }
        // A call may have begun to wait while the withdrawal was recorded.
        words.release(key, with: .failure(.withdrawn))
        switch taken {
        case .provisional(let id, _): leave(id, in: coordinator)
        case .confirmed(let id): await coordinator.finish(.remove, on: [id])
        case .joined, .withdrawn, nil: break
        }
    }

    /// Takes back a hand-over that is still provisional, because its caller got no answer in time.
    ///
    /// - Parameters:
    ///   - token: the token of the hand-over.
    ///   - forEver: whether the hand-over counts as withdrawn; otherwise its token can be used
    ///     again.
    ///   - coordinator: the owner.
    /// - Throws: `StoreFailure`.
    func takeBack(
        _ token: String,
        forEver: Bool,
        in coordinator: isolated Coordinator
    ) async throws {
        let id: TaskID? = try await coordinator.commit(answering: .first) { transaction in
            guard case .provisional(let id, _) = try transaction.handOvers.find(token) else {
                return (nil, [])
            }
            if forEver {
                try transaction.handOvers.settle(token, as: .withdrawn)
            } else {
                try transaction.handOvers.forget(token)
            }
            return (id, [])
        }
        if let id { leave(id, in: coordinator) }
    }

    /// Drops all of a provisional task; only its text in the list's write-ahead log has yet to be
    /// erased.
    private func leave(_ id: TaskID, in coordinator: isolated Coordinator) {
        drop(id)
        coordinator.freshLinks.forget(id)
        coordinator.engine.forgetFindings(on: id)
        coordinator.erasure.want(in: coordinator)
    }

    private func drop(_ id: TaskID) {
        guard var start = held.removeValue(forKey: id)?.start else { return }
        start.drop()
    }

    /// Passes on the transfer of a task that is now in the list; it goes on in a slot, or waits for
    /// one.
    func note(_ change: Change, in coordinator: isolated Coordinator) {
        guard change.before == nil, let (start, isSeen) = held.removeValue(forKey: change.after.id)
        else { return }
        coordinator.slots.keep(start, for: change.after.id, isSeen: isSeen, in: coordinator)
    }

    // MARK: Confirming in time

    /// Begins to confirm hand-overs whose time is over, including those of the last run.
    func watchClock(in coordinator: isolated Coordinator) {
        guard coordinator.hasBegun else { return }
        clock.want(in: coordinator) { [self] in
            while !Task.isCancelled, let rest = await confirmNext(in: coordinator) {
                try? await coordinator.time.sleep(for: rest)
            }
        }
    }

    /// Waits for the time of the next hand-over, and confirms it if it is still provisional.
    ///
    /// - Returns: how long to wait before the next; nil where there is none.
    private func confirmNext(in coordinator: isolated Coordinator) async -> Duration? {
        var next = ""
        do {
            let open = try await coordinator.store.readNow {
                try $0.handOvers.provisional(limit: 1)
            }
            guard let (token, time) = open.first else { return nil }
            next = token
            // A calendar that was set back makes no wait longer.
            let rest = min(time.since(coordinator.time.date), Self.term)
            if rest > .zero { try await coordinator.time.sleep(for: rest) }
            let id = try await confirm(token, in: coordinator)
            // The user has left the page long ago, so a question about a fresh link comes too late.
            coordinator.freshLinks.forget(id)
        } catch ServiceRefusal.noSuchHandOver {
            // The browser has confirmed or withdrawn the hand-over meanwhile.
        } catch StoreFailure.corruptRecord {
            // Its task is lost, because the row cannot be read.
            coordinator.log.warning("a hand-over cannot be read, and is forgotten")
            do {
                try await takeBack(next, forEver: false, in: coordinator)
            } catch {
                return Coordinator.storeRetryInterval
            }
        } catch is CancellationError {
            return nil
        } catch {
            coordinator.log.warning("a hand-over could not be confirmed yet: \(error)")
            return Coordinator.storeRetryInterval
        }
        return .zero
    }

    /// Ends the transfers and waits, because the service ends; provisional hand-overs stay
    /// provisional.
    func stop() {
        clock.stop()
        words.releaseAll(with: .failure(.stopping))
        for id in held.keys.sorted() { drop(id) }
    }
}

extension TaskRecord {
    /// Makes the task for a request, waiting for its slot or paused.
    init(_ wish: NewTask, id: TaskID, at now: WallTime) {
        self.init(
            id: id,
            request: wish.request,
            createdAt: now,
            priority: wish.priority ?? 0,
            speedLimit: wish.speedLimit
        )
        if wish.isPaused { state = .paused }
    }
}

extension HandOver {
    /// The id of the hand-over's task.
    ///
    /// - Throws: `ServiceRefusal.withdrawn`.
    fileprivate var taskID: TaskID {
        get throws(ServiceRefusal) {
            switch self {
            case .provisional(let id, _), .confirmed(let id), .joined(let id): id
            case .withdrawn: throw .withdrawn
            }
        }
    }
}

extension Transaction {
    /// - Returns: the id of the task, and that of a provisional task that is not needed, or nil.
    fileprivate func confirm(
        _ token: String,
        answers: [TaskID: OfferedFile]
    ) throws -> ((id: TaskID, left: TaskID?), changes: [Change]) {
        let provisional: TaskID
        switch try handOvers.find(token) {
        case .provisional(let id, _): provisional = id
        case .confirmed(let id), .joined(let id): return ((id, nil), [])
        case .withdrawn, nil: throw ServiceRefusal.noSuchHandOver
        }
        guard var record = try handOvers.task(token) else {
            throw StoreFailure.corruptRecord(id: provisional.rawValue, column: "record")
        }
        if let id = try task(bringing: provisional, record.request, answers: answers) {
            try handOvers.settle(token, as: .joined(id))
            return ((id, provisional), [])
        }
        record.serial = try makeSerial()
        try insert(record)
        try handOvers.settle(token, as: .confirmed(provisional))
        let effects: [Effect] = [.persist, .announce, .fillSlots]
        return ((provisional, nil), [Change(before: nil, after: record, effects: effects)])
    }

    /// Returns the task of the user's own that brings the same file from the same URL: one that
    /// downloads it, or waits for its slot with its answer open.
    ///
    /// With another login, or a newer version, one URL gives another file.
    ///
    /// Other tasks that wait, are paused or have failed do not count: they would have to ask the
    /// server again, while the answer to the hand-over is there and has the browser's cookies.
    /// Tasks of sandboxed applications do not count, because an application could have prepared
    /// one.
    private func task(
        bringing provisional: TaskID,
        _ request: TaskRequest,
        answers: [TaskID: OfferedFile]
    ) throws -> TaskID? {
        guard let version = answers[provisional]?.version else { return nil }
        let ids = try unfinishedTasks(
            url: request.url,
            directory: request.directory,
            fileName: request.fileName
        )
        return ids.first { id in
            let answer = answers[id]
            guard let record = try? task(id), record.request.owner == nil,
                record.state == .downloading || record.state == .waiting(.queue) && answer != nil,
                record.request.isPrivate == request.isPrivate
            else { return false }
            let (remote, cookies) = (answer?.version ?? record.remote, record.request.cookies)
            if remote.isSame(as: version) { return true }
            // A second click may come before the first answer is recorded.
            let isLike =
                !remote.isOnRecord
                || remote.likeness(of: version, otherTag: .anotherFile) == .unproven
            return isLike && cookies == request.cookies
        }
    }

    /// - Returns: what the hand-over was before; nil for an unknown token, and for one whose task
    ///   stays because it stands for another hand-over.
    fileprivate func withdraw(_ token: String) throws -> (HandOver?, changes: [Change]) {
        let before = try handOvers.find(token)
        guard before != .withdrawn else { return (before, []) }
        try handOvers.settle(token, as: .withdrawn)
        guard case .confirmed(let id) = before else { return (before, []) }
        if try handOvers.passOn(id) { return (nil, []) }
        do {
            let change = try change(id, for: .remove) { try $0.apply(.remove) }
            return (before, change.map { [$0] } ?? [])
        } catch Refusal.gone {
            return (before, [])
        }
    }
}
