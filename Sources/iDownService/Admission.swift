// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState

/// Gives candidates their slots, or holds them for the condition that is in their way.
///
/// An instance is valid for one transaction.
struct Admission {
    /// The most tasks that are put on hold.
    ///
    /// The rest of a queue of thousands stays in the queue and is passed over there. So the rest
    /// costs no write when an obstacle comes or goes.
    static let mostHeld = 256

    /// The most tasks of disks that do not answer that one query finds.
    private static let mostStuck = 256

    let transaction: Transaction
    private let surroundings: Surroundings
    private let date: WallTime
    /// The tasks that get no slot in this transaction.
    private var passedOver = QueueExclusions()
    /// How many more tasks may be held; nil until the first obstacle.
    private var room: Int?

    init(_ transaction: Transaction, _ surroundings: Surroundings, at date: WallTime) {
        self.date = date
        self.transaction = transaction
        self.surroundings = surroundings
    }

    /// Returns the first tasks of the queue, `count` or more of them where so many wait.
    ///
    /// Tasks of a disk that does not answer are passed over from now on.
    mutating func candidates(_ count: Int) throws -> [Candidate] {
        while true {
            // Of a disk that does not answer there may be many folders: they are found by the hundred.
            let isAmongStuck = count > 0 && !passedOver.stuckDirectories.isEmpty
            let candidates = try transaction.nextWaiting(
                limit: isAmongStuck ? max(count, Self.mostStuck) : count,
                excluding: passedOver
            )
            let stuck = candidates.filter { surroundings.isStuck($0.directory) }
            guard !stuck.isEmpty else { return candidates }
            passedOver.stuckDirectories.formUnion(stuck.map(\.directory))
            // A folder may be written in other bytes than an equal one in the set.
            passedOver.ids.formUnion(stuck.map(\.id))
        }
    }

    /// Returns what keeps a candidate from starting now; `hasBegun` says that it has a head start.
    func obstacle(for candidate: Candidate, hasBegun: Bool = false) -> Obstacle? {
        surroundings.obstacle(
            for: candidate.origin,
            mirrors: candidate.mirrors,
            directory: candidate.directory,
            hasFile: candidate.hasFile,
            hasBegun: hasBegun
        )
    }

    /// Starts a candidate, holds it, or passes over all tasks with the same obstacle.
    ///
    /// - Parameters:
    ///   - candidate: the task.
    ///   - order: the number of the start.
    ///   - hasBegun: whether the candidate has a head start.
    ///   - arrival: the arrival of the head start's file, which is recorded with the start; nil
    ///     where no file has arrived.
    /// - Returns: what changed; nil where the candidate stays in the queue.
    /// - Throws: `StoreFailure`.
    mutating func admit(
        _ candidate: Candidate,
        order: Int64,
        hasBegun: Bool,
        arrival: TransferEvent?
    ) throws -> Change? {
        guard let obstacle = obstacle(for: candidate, hasBegun: hasBegun) else {
            return try change(candidate, .slotGranted(order: order), then: arrival)
        }
        let room = try self.room ?? Self.mostHeld - transaction.countOfHeld()
        self.room = room - 1
        guard room <= 0 else { return try change(candidate, .held(by: obstacle)) }
        switch obstacle {
        case .hold(.battery, _), .hold(.settings, _):
            passedOver.all = true
        case .hold(.offline, _), .hold(.metered, _):
            passedOver.remote = true
        case .hostRests:
            if let origin = candidate.origin { passedOver.origins.insert(origin) }
        case .hold(.space, _):
            passedOver.directories.insert(candidate.directory)
            // The folder may be written in other bytes than an equal one in the set.
            passedOver.ids.insert(candidate.id)
        case .hold(.queue, _), .hold(.retry, _):
            break
        }
        return nil
    }

    /// Applies an event to a candidate.
    ///
    /// A record that cannot be read, or that the event does not change, is passed over: it would
    /// come up again and again.
    private mutating func change(
        _ candidate: Candidate,
        _ event: Event,
        then arrival: TransferEvent? = nil
    ) throws -> Change? {
        let changes = try transaction.changeIfReadable(candidate.id) {
            let effects = $0.apply(event, at: date, jitter: 0)
            // Start and arrival are one change, which is stored and told once.
            if let arrival, $0.state == .downloading {
                _ = $0.apply(.transfer(arrival, of: $0.attempt), at: date, jitter: 0)
            }
            return effects
        }
        guard let change = changes.first, !change.effects.isEmpty else {
            passedOver.ids.insert(candidate.id)
            return nil
        }
        return change
    }
}
