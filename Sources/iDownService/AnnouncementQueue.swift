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
    }

    /// A reply that comes after what it causes.
    private struct Fence {
        var missing: Int
        let reply: Reply
    }

    private var entries: [TaskID: Entry] = [:]
    /// Ids in the order of telling; those whose entry is gone are passed over.
    private var order = Lane()
    /// The same for what a reply waits for: it does not wait for what others do.
    private var hastened = Lane()
    private var fences: [Int: Fence] = [:]
    private var fencesByTask: [TaskID: [Int]] = [:]
    private var lastFence = 0

    /// So many changes are told at once before a reply; more than that keep their turn.
    private static let mostHastened = 64

    var isEmpty: Bool { entries.isEmpty }

    func contains(_ id: TaskID) -> Bool { entries[id] != nil }

    /// Takes note of a change; what is not told yet of the same task becomes one with it.
    mutating func put(_ id: TaskID, from told: TaskSnapshot?, to now: TaskSnapshot?) {
        if entries[id] != nil {
            entries[id]?.now = now
        } else {
            entries[id] = Entry(told: told, now: now)
            order.append(id)
        }
    }

    /// Keeps a reply back until all that was put of these tasks so far has been taken.
    ///
    /// - Returns: false where nothing of them waits: the reply is the caller's to make.
    mutating func keep(_ reply: @escaping Reply, after ids: [TaskID]) -> Bool {
        let missing = Set(ids.filter(contains))
        guard !missing.isEmpty else { return false }
        lastFence += 1
        fences[lastFence] = Fence(missing: missing.count, reply: reply)
        for id in missing { fencesByTask[id, default: []].append(lastFence) }
        guard missing.count <= Self.mostHastened else { return true }
        for id in ids where missing.contains(id) { hastened.append(id) }
        return true
    }

    /// Takes the next entry out, for telling it at once.
    mutating func takeFirst() -> (id: TaskID, entry: Entry)? {
        while let id = hastened.takeFirst() ?? order.takeFirst() {
            guard let entry = entries.removeValue(forKey: id) else { continue }
            // A dictionary keeps the room that it once needed: for 100,000 tasks that is much.
            if entries.isEmpty { entries = [:] }
            return (id, entry)
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
        let replies = fences.sorted { $0.key < $1.key }.map(\.value.reply)
        self = AnnouncementQueue()
        return replies
    }
}

/// Ids, first in, first out.
private struct Lane {
    private var ids: [TaskID] = []
    private var head = 0

    mutating func append(_ id: TaskID) { ids.append(id) }

    mutating func takeFirst() -> TaskID? {
        guard head < ids.count else { return nil }
        defer {
            head += 1
            if head == ids.count { self = Lane() }
        }
        return ids[head]
    }
}
