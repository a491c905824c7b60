// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Commits changes, carries out their effects in the order of the commits, and then has them told.
///
/// The next commit does not wait until the last one has been told. So even a change of very many
/// tasks holds up neither the next call nor what transfers have to record.
final class Commits {
    typealias Queue = CommitQueue<Change>

    /// The outcome of an entry, kept until it has been told, and when its caller is answered.
    private typealias News = (outcome: Queue.Outcome, replyTime: Queue.ReplyTime)

    /// Changes of many tasks are carried out and told in pieces of this size, so that other calls
    /// are answered in between.
    ///
    /// A piece takes a few milliseconds; letting others in costs two changes of thread, 0.1 ms.
    static let piece = 256

    private var queue = Queue()
    /// Commits the entries that wait; nil while there is nothing to commit.
    private var committer: Task<Void, Never>?
    private var news: [News] = []
    /// Has commits told; nil while there is nothing to tell.
    private var teller: Task<Void, Never>?
    /// The records as last told of tasks whose latest changes are told with a later one.
    private var known: [TaskID: Shared<TaskRecord>] = [:]
    /// Fills slots again some time after the store has failed.
    private let retry = WantedWork()
    private var isClosed = false

    /// Whether everything is committed and told.
    var isIdle: Bool { committer == nil && teller == nil }

    /// How many entries wait for the next commit.
    var waiting: Int { queue.count }

    /// Adds an entry to the next commit; refuses the entry where no commit comes any more.
    func append(_ entry: Queue.Entry, in coordinator: isolated Coordinator) {
        guard !isClosed else { return entry.refuse(ServiceRefusal.stopping) }
        queue.append(entry)
        begin(in: coordinator)
    }

    /// Commits what waits, and fills slots if that is wanted.
    func begin(in coordinator: isolated Coordinator) {
        guard committer == nil, !isClosed else { return }
        committer = Task {
            // Calls that have arrived already are read before the commit, and share it.
            await Task.yield()
            while !queue.isEmpty || (coordinator.slots.isWanted && !isClosed) {
                await commitOnce(in: coordinator)
            }
            committer = nil
        }
    }

    /// Refuses clients' entries that are not in a commit yet.
    func refuseClients() {
        for entry in queue.take(.afterSignals) + queue.take(.afterSignalsFreeing) {
            entry.refuse(ServiceRefusal.stopping)
        }
    }

    /// Refuses all entries that are not in a commit yet.
    ///
    /// Returns when the commit that is under way is over and answered, however long that takes: a
    /// durable change is never refused.
    func close() async {
        isClosed = true
        for entry in queue.take() { entry.refuse(ServiceRefusal.stopping) }
        await committer?.value
        await teller?.value
    }

    private func commitOnce(in coordinator: isolated Coordinator) async {
        let committed = await commitWaiting(in: coordinator)
        coordinator.log.writeDown(committed.flatMap(\.outcome.changes))
        for news in committed {
            for (number, change) in news.outcome.changes.enumerated() {
                if number % Self.piece == Self.piece - 1 { await Task.yield() }
                coordinator.carryOut(change)
            }
        }
        news += committed
        tell(in: coordinator)
    }

    /// Commits what waits.
    ///
    /// Only the news are kept, because what clients sent may be large.
    private func commitWaiting(in coordinator: isolated Coordinator) async -> [News] {
        let entries = queue.take()
        var (results, pass) = await commit(entries, in: coordinator)
        var again: [Int] = []
        if let failure = results.lazy.compactMap(\.fullDisk).first,
            zip(entries, results).contains(where: { $0.isVital && $1.fullDisk != nil }),
            await coordinator.store.makeRoom()
        {
            coordinator.log.notice("the list's disk takes no more: its last space is used")
            if results.allSatisfy({ $0.fullDisk != nil }) {
                // The failed pass has used up the wish to fill slots.
                coordinator.slots.want()
                (results, pass) = await commit(entries, refusing: failure, in: coordinator)
            } else {
                // A part had no room for the file beside the database, and comes once more.
                again = entries.indices.reversed().filter { index in
                    entries[index].isVital && !entries[index].isRepeated
                        && results[index].fullDisk != nil
                }
                for index in again { queue.putBack(entries[index]) }
            }
        }
        coordinator.slots.take(pass, try? results.last?.get().changes, in: coordinator)
        var committed: [News] = []
        for (index, result) in results.enumerated() {
            let entry = entries.indices.contains(index) ? entries[index] : nil
            switch result {
            case .success(let outcome):
                if entry?.replyTime == .first { outcome.reply() }
                committed.append((outcome, entry?.replyTime ?? .first))
            case .failure(let error):
                if again.contains(index) { continue }
                entry?.refuse(error)
                guard entry == nil else { continue }
                coordinator.log.error("the queue cannot be moved on: \(error)")
                // A full disk may have room by then.
                retry.want(after: Coordinator.storeRetryInterval, in: coordinator) {
                    coordinator.fillSlots()
                }
            }
        }
        return committed
    }

    /// Commits entries; where `failure` is given, refuses with it those that are not vital.
    private func commit(
        _ entries: [Queue.Entry],
        refusing failure: StoreFailure? = nil,
        in coordinator: isolated Coordinator
    ) async -> ([Result<Queue.Outcome, any Error>], SchedulingPass) {
        let pass = coordinator.slots.pass(in: coordinator)
        var bodies = entries.map { entry in
            { @Sendable (transaction: Transaction) in
                if let failure, !entry.isVital { throw failure }
                let outcome = try entry.run(transaction)
                pass.note(outcome.changes)
                return outcome
            }
        }
        bodies.append { Queue.Outcome(changes: try pass.run($0)) {} }
        return (await coordinator.store.commit(bodies), pass)
    }

    // MARK: Telling

    private func tell(in coordinator: isolated Coordinator) {
        guard teller == nil else { return }
        teller = Task {
            while !news.isEmpty {
                let committed = news
                news = []
                for news in committed { await tell(news, in: coordinator) }
            }
            teller = nil
        }
    }

    private func tell(_ news: News, in coordinator: isolated Coordinator) async {
        let changes = news.outcome.changes
        var all: [TaskNews] = []
        for change in changes { all += self.news(of: change, in: coordinator) }
        let serial = changes.map(\.after.serial).max() ?? 0
        await coordinator.announcer?.tell(all, serial: serial)
        for (number, change) in changes.enumerated() {
            if number % Self.piece == Self.piece - 1 { await Task.yield() }
            if change.starts { coordinator.slots.noteTold(change.after.id) }
            await coordinator.endWaiters.tell(change, in: coordinator)
        }
        switch (news.replyTime, coordinator.announcer) {
        case (.first, _): break
        case (.afterSignals, let announcer?), (.afterSignalsFreeing, let announcer?):
            await announcer.call(news.outcome.reply, after: changes.map(\.after.id))
        case (.inOrder, _), (_, nil): news.outcome.reply()
        }
        await coordinator.announcer?.tellObjects()
    }

    /// Returns what is told of a change now, in order.
    private func news(of change: Change, in coordinator: isolated Coordinator) -> [TaskNews] {
        let id = change.after.id
        return change.effects.compactMap { effect in
            switch effect {
            case .announce:
                let before = known.removeValue(forKey: id) ?? change.sharedBefore
                return TaskNews(
                    id: id,
                    told: before.map { coordinator.snapshot(of: $0, isTold: true) },
                    now: coordinator.snapshot(of: change.sharedAfter)
                )
            case .announceLater:
                known[id] = known[id] ?? change.sharedBefore
                return nil
            case .announceRemoved:
                known[id] = nil
                return TaskNews(id: id, told: nil, now: nil)
            default: return nil
            }
        }
    }
}

extension Command {
    /// When a client hears that the command's change is durable.
    var replyTime: Commits.Queue.ReplyTime {
        self == .cancel || self == .remove ? .afterSignalsFreeing : .afterSignals
    }
}

extension Result<Commits.Queue.Outcome, any Error> {
    /// The failure, if it is want of space on the list's disk.
    fileprivate var fullDisk: StoreFailure? {
        guard case .failure(let failure as StoreFailure) = self, failure.isFullDisk else {
            return nil
        }
        return failure
    }
}

extension Logger {
    /// A commit that changes more tasks than this gets one line in the log.
    private static let mostChanges = 32

    /// Logs which tasks a commit moved to which states and why, one line each.
    ///
    /// The lines contain no URL and no name, because readers of the log need not know what is
    /// downloaded. The id leads to both.
    fileprivate func writeDown(_ changes: [Change]) {
        // Making a text for each of 100,000 tasks would hold up all calls.
        if changes.count > Self.mostChanges {
            info("\(changes.count) tasks have changed at once")
            guard logLevel <= .debug else { return }
        }
        for move in changes.lazy.compactMap(\.move) {
            changes.count > Self.mostChanges ? debug("\(move)") : info("\(move)")
        }
    }
}
