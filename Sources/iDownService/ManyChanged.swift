// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownState

/// Tasks that one commit has changed in the same way, told by one signal (contract, version 2,
/// point 3).
struct ManyChanged: Sendable {
    enum Kind: Hashable, Sendable { case added, changed, removed }

    /// A commit that changes more tasks than this tells tasks that changed in the same way
    /// together.
    static let fewest = 1_000

    /// The most ids in one signal.
    static let most = 16_000

    let kind: Kind
    /// One of the tasks as clients may see it; for removed tasks only its serial counts.
    let sample: TaskProperties
    /// The properties whose values all the tasks share.
    let common: [TaskProperty]
    var ids: [String] = []

    /// The kind of change that all tasks of one signal have in common.
    private struct Shape: Hashable {
        let kind: Kind
        let state: TaskState.Kind?
        let properties: Set<TaskProperty>
    }

    /// Groups tasks that have changed in the same way.
    ///
    /// - Parameters:
    ///   - news: what one commit has changed.
    ///   - serial: the commit's serial.
    /// - Returns: the groups of more than ``fewest`` tasks with the positions of these in `news`,
    ///   and the positions of all other tasks.
    static func grouped(
        _ news: [TaskNews],
        serial: Int64
    ) async -> (groups: [(many: ManyChanged, places: [Int])], others: [Int]) {
        var shapes: [Shape: [Int]] = [:]
        for place in news.indices {
            if place % Commits.piece == 0 { await Task.yield() }
            shapes[shape(of: news[place]), default: []].append(place)
        }
        var groups: [(many: ManyChanged, places: [Int])] = []
        var others: [Int] = []
        for (shape, places) in shapes {
            guard places.count > fewest else {
                others += places
                continue
            }
            let (sample, common) = await likeness(of: places, in: news, shape)
            // The signal could not tell that some of the tasks have another value, so they are told
            // one by one.
            guard shape.kind != .changed || shape.properties.isSubset(of: common) else {
                others += places
                continue
            }
            var first = sample ?? TaskProperties()
            first.serial = UInt64(clamping: serial)
            groups.append((ManyChanged(kind: shape.kind, sample: first, common: common), places))
        }
        return (groups, others.sorted())
    }

    private static func shape(of news: TaskNews) -> Shape {
        guard let now = news.now else { return Shape(kind: .removed, state: nil, properties: []) }
        let state = now.record.state.kind
        guard let told = news.told else {
            return Shape(kind: .added, state: state, properties: [])
        }
        return Shape(kind: .changed, state: state, properties: now.differences(from: told))
    }

    /// Returns one of some tasks, and the properties whose values they share.
    private static func likeness(
        of places: [Int],
        in news: [TaskNews],
        _ shape: Shape
    ) async -> (sample: TaskProperties?, common: [TaskProperty]) {
        guard let first = places.first.flatMap({ news[$0].now }) else { return (nil, []) }
        let sample = TaskProperties(first).withoutQueries
        // Each task has its own values of these.
        var common = TaskProperty.allCases.filter { ![.id, .url, .fileName].contains($0) }
        if shape.kind == .changed { common.removeAll { !shape.properties.contains($0) } }
        for (number, place) in places.enumerated() {
            if number % Commits.piece == 0 { await Task.yield() }
            guard let now = news[place].now else { continue }
            let isLike =
                shape.kind == .changed
                ? shape.properties.isSubset(of: TaskSnapshot.properties) && now.moves(like: first)
                : now.differsInURLOnly(from: first)
            if isLike { continue }
            var task = TaskProperties(now).withoutQueries
            (task.id, task.url, task.fileName) = (sample.id, sample.url, sample.fileName)
            guard task != sample else { continue }
            let different = Set(task.properties(changedSince: sample))
            common.removeAll(where: different.contains)
        }
        return (sample, common)
    }
}

// Most tasks that change together change only their state, and most that are added together differ
// only in their URLs. Comparing their records then costs a tenth of comparing all properties.
extension TaskSnapshot {
    /// The properties that say in which state a task is, and why.
    fileprivate static let properties: Set<TaskProperty> = [
        .serial, .state, .hold, .retryAt, .errorCode, .errorMessage, .attempts,
    ]

    /// Returns the properties that differ from an earlier state of the task.
    fileprivate func differences(from told: TaskSnapshot) -> Set<TaskProperty> {
        let (old, new) = (told.record, record)
        guard live == nil, told.live == nil, !isVerifying, !told.isVerifying,
            old.differsInStateOnly(from: new)
        else {
            return Set(TaskProperties(self).properties(changedSince: TaskProperties(told)))
        }
        var properties: Set<TaskProperty> = []
        if old.serial != new.serial { properties.insert(.serial) }
        if old.state.kind != new.state.kind { properties.insert(.state) }
        let (oldHold, newHold) = (old.state.hold, new.state.hold)
        if oldHold?.name != newHold?.name { properties.insert(.hold) }
        if oldHold?.retryAt != newHold?.retryAt { properties.insert(.retryAt) }
        if old.failure?.code != new.failure?.code { properties.insert(.errorCode) }
        if old.failure?.message(for: old.id) != new.failure?.message(for: new.id) {
            properties.insert(.errorMessage)
        }
        if old.tries != new.tries { properties.insert(.attempts) }
        return properties
    }

    /// Returns whether another task is in the same state for the same reason.
    fileprivate func moves(like other: TaskSnapshot) -> Bool {
        record.state == other.record.state && record.serial == other.record.serial
            && record.tries == other.record.tries
            // An error's text may hold the id.
            && record.failure == nil && other.record.failure == nil
    }

    /// Returns whether a new task differs from another one at most in id, URL and name.
    fileprivate func differsInURLOnly(from other: TaskSnapshot) -> Bool {
        var record = record
        (record.request.url, record.request.fileName) =
            (other.record.request.url, other.record.request.fileName)
        return live == nil && other.live == nil && !isVerifying && !other.isVerifying
            && record.createdAt == other.record.createdAt && moves(like: other)
            && other.record.differsInStateOnly(from: record)
    }
}

extension TaskRecord {
    /// Returns whether, of all that clients see, at most the state and its reasons differ.
    fileprivate func differsInStateOnly(from other: TaskRecord) -> Bool {
        request == other.request && segments == other.segments && remote == other.remote
            && file == other.file && priority == other.priority && speedLimit == other.speedLimit
            && integrity == other.integrity && finishedAt == other.finishedAt
            && listedTasks == other.listedTasks
            && move == other.move && destination == other.destination
    }
}
