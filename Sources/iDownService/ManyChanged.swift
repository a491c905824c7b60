// SPDX-License-Identifier: Apache-2.0

import iDownBus
package import iDownState

/// What is told of one task: from what everybody knows to what is.
package struct TaskNews: Sendable {
    package let id: TaskID
    /// Nil for a task that nobody was told of.
    package let told: TaskSnapshot?
    /// Nil for a task that is gone.
    package let now: TaskSnapshot?

    package init(_ id: TaskID, from told: TaskSnapshot?, to now: TaskSnapshot?) {
        self.id = id
        self.told = told
        self.now = now
    }
}

/// Tasks that one commit has changed alike, which one signal tells: contract, version 2, point 3.
struct ManyChanged: Sendable {
    enum Kind: Hashable, Sendable { case added, changed, removed }

    /// A commit that changes more tasks than this tells those together that have changed alike.
    static let fewest = 1_000

    /// The most ids in one signal.
    static let most = 16_000

    let kind: Kind
    /// One of them, as all may see it; of removed tasks nothing but the serial counts.
    let sample: TaskProperties
    /// The properties of the sample that all of them share.
    let common: [TaskProperty]
    var ids: [String]

    /// What makes tasks alike.
    private struct Shape: Hashable {
        let kind: Kind
        let state: TaskState.Kind?
        let properties: Set<TaskProperty>
    }

    /// Finds the tasks that have changed alike.
    ///
    /// - Parameters:
    ///   - news: what one commit has changed.
    ///   - serial: the commit's.
    /// - Returns: the groups of more than ``fewest`` with the places of their tasks in `news`, and
    ///   the places of all others.
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
            // Nobody would know that some of them have another value: those are told one by one.
            guard shape.kind != .changed || shape.properties.isSubset(of: common) else {
                others += places
                continue
            }
            var first = sample ?? TaskProperties()
            first.serial = UInt64(clamping: serial)
            groups.append(
                (
                    ManyChanged(
                        kind: shape.kind,
                        sample: first,
                        common: common,
                        ids: []
                    ),
                    places
                )
            )
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

    /// One of some tasks, and what they share.
    private static func likeness(
        of places: [Int],
        in news: [TaskNews],
        _ shape: Shape
    ) async -> (sample: TaskProperties?, common: [TaskProperty]) {
        guard let first = places.first.flatMap({ news[$0].now }) else { return (nil, []) }
        let sample = TaskProperties(first).withoutQueries
        // These are each task's own.
        var common = TaskProperty.allCases.filter { ![.id, .url, .fileName].contains($0) }
        if shape.kind == .changed { common.removeAll { !shape.properties.contains($0) } }
        for (number, place) in places.enumerated() {
            if number % Commits.piece == 0 { await Task.yield() }
            guard let now = news[place].now else { continue }
            if shape.kind == .changed, now.moves(like: first), shape.properties.isOfMoves {
                continue
            }
            var task = TaskProperties(now).withoutQueries
            (task.id, task.url, task.fileName) = (sample.id, sample.url, sample.fileName)
            guard task != sample else { continue }
            let different = Set(task.properties(changedSince: sample))
            common.removeAll(where: different.contains)
        }
        return (sample, common)
    }
}

extension Set<TaskProperty> {
    /// Whether these are only what says in which state a task is, and why.
    fileprivate var isOfMoves: Bool { isSubset(of: TaskSnapshot.properties) }
}

// Of most tasks that change together only the state does: then the records tell, at a tenth of the
// cost.
extension TaskSnapshot {
    /// The properties that say in which state a task is, and why.
    fileprivate static let properties: Set<TaskProperty> = [
        .serial, .state, .hold, .retryAt, .errorCode, .errorMessage, .attempts,
    ]

    /// The properties that differ from an earlier state.
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
        if !old.state.isHeld(like: new.state) { properties.insert(.hold) }
        if old.state != new.state, old.state.isBackOff || new.state.isBackOff {
            properties.insert(.retryAt)
        }
        if old.failure?.code != new.failure?.code { properties.insert(.errorCode) }
        if old.failure?.message(for: old.id) != new.failure?.message(for: new.id) {
            properties.insert(.errorMessage)
        }
        if old.tries != new.tries { properties.insert(.attempts) }
        return properties
    }

    /// Whether another task is in the same state for the same reason.
    fileprivate func moves(like other: TaskSnapshot) -> Bool {
        record.state == other.record.state && record.serial == other.record.serial
            && record.tries == other.record.tries
            // An error's text may hold the id.
            && record.failure == nil && other.record.failure == nil
    }
}

extension TaskRecord {
    /// Whether nothing that clients see differs but the state and its reasons.
    fileprivate func differsInStateOnly(from other: TaskRecord) -> Bool {
        request == other.request && segments == other.segments && remote == other.remote
            && file == other.file && priority == other.priority && speedLimit == other.speedLimit
            && integrity == other.integrity && finishedAt == other.finishedAt
            && listedTasks == other.listedTasks
            && move == other.move && destination == other.destination
    }
}

extension TaskState {
    /// Whether another state waits for the same, or does not wait either.
    fileprivate func isHeld(like other: TaskState) -> Bool {
        switch (self, other) {
        case (.waiting(.retry), .waiting(.retry)): true
        case (.waiting(let hold), .waiting(let otherHold)): hold == otherHold
        case (.waiting, _), (_, .waiting): false
        default: true
        }
    }
}
