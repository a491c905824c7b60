// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownState

/// The changes of tasks that are still to be told: at most one entry a task, which merges them.
///
/// The queue grows while the bus takes nothing, up to one entry for each task.
struct AnnouncementQueue {
    typealias Reply = @Sendable () -> Void

    /// Something to tell.
    enum Item: Sendable {
        /// A change of a task, whose news ``takeNews(of:)`` returns.
        case task(TaskID)
        case many(ManyChanged)
        case reply(Reply)
    }

    private var entries: [TaskID: TaskNews] = [:]
    /// What is to be told, in order; a task whose entry is gone has nothing to tell.
    private var order = Lane<Item>()
    /// The tasks that replies wait for, each group with its reply behind it.
    ///
    /// They are told before everything else, so that no reply waits for other changes.
    private var hastened = Lane<Item>()
    /// How many signals for many tasks wait.
    ///
    /// Nothing overtakes them, because they would then tell older news.
    private var manyWaiting = 0

    /// A reply to a change of more tasks than this waits for everything that was put before it; the
    /// tasks of other replies are told first.
    private static let mostHastened = 64

    /// While this many signals wait, each for up to 16,000 tasks, further tasks get entries of
    /// their own.
    private static let mostManyWaiting = 64

    var hasManyWaiting: Bool { manyWaiting >= Self.mostManyWaiting }

    /// The serials of running tasks whose changes are still to be told.
    var runningSerials: [TaskID: Int64] {
        entries.compactMapValues { entry in
            entry.now.flatMap { $0.record.state == .downloading ? $0.record.serial : nil }
        }
    }

    var isEmpty: Bool { order.isEmpty }

    func contains(_ id: TaskID) -> Bool { entries[id] != nil }

    /// Adds a change; it is merged with a waiting change of the same task.
    mutating func put(_ news: TaskNews) {
        guard entries[news.id]?.merge(news) == nil else { return }
        entries[news.id] = news
        order.append(.task(news.id))
    }

    /// Adds many changes that one signal tells.
    mutating func put(_ many: ManyChanged) {
        order.append(.many(many))
        manyWaiting += 1
    }

    /// Holds a reply back until all changes of these tasks put so far have been taken.
    ///
    /// - Returns: false where no such change waits: the caller then replies itself.
    mutating func keep(_ reply: @escaping Reply, after ids: [TaskID]) -> Bool {
        guard ids.count <= Self.mostHastened, manyWaiting == 0 else {
            guard !order.isEmpty else { return false }
            order.append(.reply(reply))
            return true
        }
        let untold = ids.filter(contains)
        guard !untold.isEmpty else { return false }
        for id in untold { hastened.append(.task(id)) }
        hastened.append(.reply(reply))
        return true
    }

    /// Takes out the next item, which the caller tells at once.
    mutating func takeFirst() -> Item? {
        let item = hastened.takeFirst() ?? order.takeFirst()
        if case .many = item { manyWaiting -= 1 }
        return item
    }

    /// Takes out the change of a task; nil if it was told earlier.
    mutating func takeNews(of id: TaskID) -> TaskNews? {
        // A dictionary keeps the memory that it once needed: for 100,000 tasks that is much.
        defer { if entries.isEmpty { entries = [:] } }
        return entries.removeValue(forKey: id)
    }

    /// Empties the queue, because there is no client to tell.
    ///
    /// - Returns: the replies that were held back.
    mutating func removeAll() -> [Reply] {
        var replies: [Reply] = []
        while let item = takeFirst() {
            if case .reply(let reply) = item { replies.append(reply) }
        }
        self = AnnouncementQueue()
        return replies
    }
}
