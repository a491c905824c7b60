// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState

/// Lets candidates have their slots, or has them wait for what is in their way.
///
/// Valid for one transaction.
struct Admission {
    /// So many tasks at most are told what they wait for.
    ///
    /// The rest of a queue of thousands waits in the queue and is passed over there: it costs no
    /// write when the obstacle comes or goes.
    static let mostHeld = 256

    private let transaction: Transaction
    private let surroundings: Surroundings
    private let date: WallTime
    /// Those that get no slot in this transaction.
    private(set) var passedOver = QueueExclusions()
    /// How many more tasks may be told; nil until somebody has to be.
    private var room: Int?

    init(_ transaction: Transaction, _ surroundings: Surroundings, at date: WallTime) {
        self.date = date
        self.transaction = transaction
        self.surroundings = surroundings
    }

    /// Starts a candidate, or holds it, or passes it over with all its kind.
    ///
    /// - Parameters:
    ///   - candidate: the task.
    ///   - order: the number of the start.
    ///   - arrival: what its transfer, which began ahead, waits to have recorded.
    /// - Returns: what changed; nil where the candidate stays in the queue.
    /// - Throws: `StoreFailure`.
    mutating func admit(
        _ candidate: Candidate,
        order: Int64,
        arrival: TransferEvent?
    ) throws -> Change? {
        let obstacle = surroundings.obstacle(
            for: candidate.origin,
            directory: candidate.directory,
            hasFile: candidate.hasFile
        )
        guard let obstacle else {
            return try change(candidate, .slotGranted(order: order), then: arrival)
        }
        let room = try self.room ?? Self.mostHeld - transaction.countOfHeld()
        self.room = room - 1
        guard room <= 0 else { return try change(candidate, .held(by: obstacle)) }
        switch obstacle {
        case .batteryLow, .wrongSettings:
            passedOver.all = true
        case .offline, .metered:
            passedOver.remote = true
        case .hostRests:
            if let origin = candidate.origin { passedOver.origins.insert(origin) }
        case .diskFull:
            passedOver.directories.insert(candidate.directory)
        }
        return nil
    }

    /// A record that cannot be read is passed over, and so is one that is not what the queue took
    /// it for: it would come up again and again.
    private mutating func change(
        _ candidate: Candidate,
        _ event: Event,
        then arrival: TransferEvent? = nil
    ) throws -> Change? {
        let changes = try transaction.changeIfReadable(candidate.id) {
            let effects = $0.apply(event, at: date, jitter: 0)
            // One change: it is stored and told of once.
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
