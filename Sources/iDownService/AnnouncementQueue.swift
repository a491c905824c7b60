// SPDX-License-Identifier: Apache-2.0

import iDownState

/// What is still to be told of tasks: at most one entry each, in which its changes are merged.
///
/// It grows while the bus does not take what is sent, and no further than to one entry a task.
struct AnnouncementQueue {
    typealias Reply = @Sendable () -> Void

    /// What everybody knows of a task, and what is to be known.
    struct Entry: Sendable {
        /// Nil for a task that nobody was told of.
        let told: TaskSnapshot?
        /// Nil for a task that is gone.
        var now: TaskSnapshot?
        var audience = Audience.all
    }

    /// Who does not know the change of a task yet.
    indirect enum Audience: Sendable {
        case all
        /// Those who follow the task's object: the manager's signals have told it already.
        case objects
        /// All, and those who follow the object were last told of `object`; nil for nothing.
        case allSince(object: TaskSnapshot?)
    }

    /// What comes next.
    enum Item {
        case task(TaskID, Entry)
        case many(ManyChanged)
        case reply(Reply)
    }

    private enum Place: Sendable {
        case task(TaskID)
        case many(ManyChanged)
        case reply(Reply)
    }

    /// A reply that comes after what it causes.
    private struct Fence {
        var missing: Int
        let reply: Reply
    }

    private var entries: [TaskID: Entry] = [:]
    /// What is told, in its order; tasks whose entry is gone are passed over.
    private var order = Lane()
    /// What a reply waits for: it does not wait for what others do.
    private var hastened = Lane()
    /// What only objects tell, behind all else.
    private var objects = Lane()
    private var fences: [Int: Fence] = [:]
    private var fencesByTask: [TaskID: [Int]] = [:]
    private var lastFence = 0
    /// Signals for many that wait: what is told before one of them would be older news afterwards.
    private var manyWaiting = 0

    /// A reply to a change of more tasks than this waits for all that was put before it; others have
    /// what they wait for told at once.
    private static let mostHastened = 64

    /// While so many signals for many wait, each of up to 16,000 tasks, tasks are merged one by one.
    private static let mostManyWaiting = 64

    var hasManyWaiting: Bool { manyWaiting >= Self.mostManyWaiting }

    /// The serials of running tasks that are still to be told.
    var runningSerials: [TaskID: Int64] {
        entries.compactMapValues { entry in
            entry.now.flatMap { $0.record.state == .downloading ? $0.record.serial : nil }
        }
    }

    var isEmpty: Bool { entries.isEmpty && order.isEmpty }

    /// Whether what is put now may be told at once: only objects have something to tell.
    var hasNothingBefore: Bool { order.isEmpty }

    func contains(_ id: TaskID) -> Bool { entries[id] != nil }

    /// Takes note of a change; what is not told yet of the same task becomes one with it.
    mutating func put(_ id: TaskID, from told: TaskSnapshot?, to now: TaskSnapshot?) {
        if let entry = entries[id] {
            entries[id]?.now = now
            // What the manager's signals have told is not told again.
            guard case .objects = entry.audience else { return }
            entries[id] = Entry(told: told, now: now, audience: .allSince(object: entry.told))
        } else {
            entries[id] = Entry(told: told, now: now)
        }
        order.append(.task(id))
    }

    /// Takes note of many changes that one signal tells.
    mutating func put(_ many: ManyChanged) {
        order.append(.many(many))
        manyWaiting += 1
    }

    /// Takes note of a change that only the task's object has still to tell.
    mutating func putForObject(_ id: TaskID, from told: TaskSnapshot?, to now: TaskSnapshot?) {
        if entries[id] != nil {
            entries[id]?.now = now
        } else {
            entries[id] = Entry(told: told, now: now, audience: .objects)
            objects.append(.task(id))
        }
    }

    /// Keeps a reply back until all that was put of these tasks so far has been taken.
    ///
    /// - Returns: false where nothing of them waits: the reply is the caller's to make.
    mutating func keep(_ reply: @escaping Reply, after ids: [TaskID]) -> Bool {
        guard ids.count <= Self.mostHastened, manyWaiting == 0 else {
            guard !order.isEmpty else { return false }
            order.append(.reply(reply))
            return true
        }
        let missing = Set(
            ids.filter { id in
                switch entries[id]?.audience {
                case .all, .allSince: true
                case .objects, nil: false
                }
            }
        )
        guard !missing.isEmpty else { return false }
        lastFence += 1
        fences[lastFence] = Fence(missing: missing.count, reply: reply)
        for id in missing { fencesByTask[id, default: []].append(lastFence) }
        for id in ids where missing.contains(id) { hastened.append(.task(id)) }
        return true
    }

    /// Takes the next item out, for telling it at once.
    mutating func takeFirst() -> Item? {
        while let place = hastened.takeFirst() ?? order.takeFirst() ?? objects.takeFirst() {
            switch place {
            case .many(let many):
                manyWaiting -= 1
                return .many(many)
            case .reply(let reply): return .reply(reply)
            case .task(let id):
                guard let entry = entries.removeValue(forKey: id) else { continue }
                // A dictionary keeps the room that it once needed: for 100,000 tasks that is much.
                if entries.isEmpty { entries = [:] }
                return .task(id, entry)
            }
        }
        return nil
    }

    /// Takes out the replies that waited for a task, once it has been told of.
    mutating func takeReplies(for id: TaskID) -> [Reply] {
        var replies: [Reply] = []
        for number in fencesByTask.removeValue(forKey: id) ?? [] {
            fences[number]?.missing -= 1
            guard let fence = fences[number], fence.missing == 0 else { continue }
            fences[number] = nil
            replies.append(fence.reply)
        }
        return replies
    }

    /// Forgets everything: there is nobody to tell.
    ///
    /// - Returns: the replies that were kept back.
    mutating func removeAll() -> [Reply] {
        var replies = fences.sorted { $0.key < $1.key }.map(\.value.reply)
        while let place = order.takeFirst() {
            if case .reply(let reply) = place { replies.append(reply) }
        }
        self = AnnouncementQueue()
        return replies
    }

    /// Places, first in, first out; what is taken is not kept.
    private struct Lane {
        /// The first places, the very first one at the end.
        private var front: [Place] = []
        private var back: [Place] = []

        var isEmpty: Bool { front.isEmpty && back.isEmpty }

        mutating func append(_ place: Place) { back.append(place) }

        mutating func takeFirst() -> Place? {
            if front.isEmpty { (front, back) = (back.reversed(), []) }
            return front.popLast()
        }
    }
}
