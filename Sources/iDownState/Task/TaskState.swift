// SPDX-License-Identifier: Apache-2.0

/// What a waiting task waits for.
package enum Hold: Hashable, Sendable {
    /// A slot: all are taken.
    case queue
    /// The next try, at this time: the last one failed.
    case retry(at: WallTime)
    /// A network; the task's host is another computer.
    case offline
    /// A network that is not metered; the task's host is another computer.
    case metered
    /// A charged battery, because the user wants so.
    case battery
    /// Space on the file system.
    case space
    /// A mended settings file: until then the proxy that the user wants is unknown.
    case settings
}

extension Hold {
    /// The holds that end when conditions change, not by a slot or at a time.
    package static let byTheWorld: [Hold] = [.offline, .metered, .battery, .space, .settings]

    /// The name in the contract and in the list.
    package var name: String {
        switch self {
        case .queue: "queue"
        case .retry: "retry"
        case .offline: "offline"
        case .metered: "metered"
        case .battery: "battery"
        case .space: "space"
        case .settings: "settings"
        }
    }

    /// When the task is tried again; nil for a hold that ends otherwise.
    package var retryAt: WallTime? {
        if case .retry(let time) = self { time } else { nil }
    }
}

/// The state of a task.
///
/// Possible changes, besides removal: waiting → downloading, paused, cancelled; downloading →
/// waiting, paused, completed, failed, cancelled; paused → waiting, cancelled; failed → waiting,
/// cancelled; completed → waiting; cancelled → waiting. A task whose file is found under its final
/// name after an open publication becomes completed: a waiting one when the service starts, a
/// waiting, paused or failed one before it is cancelled or removed, and a paused one when a disk
/// that did not answer gives the file its name.
package enum TaskState: Hashable, Sendable {
    case waiting(Hold)
    case downloading
    case paused
    case completed
    case failed
    case cancelled

    /// The six states by their names in the contract.
    package enum Kind: String, CaseIterable, Sendable {
        case waiting, downloading, paused, completed, failed, cancelled
    }

    package var kind: Kind {
        switch self {
        case .waiting: .waiting
        case .downloading: .downloading
        case .paused: .paused
        case .completed: .completed
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }

    /// The hold of a waiting task; nil in any other state.
    package var hold: Hold? {
        guard case .waiting(let hold) = self else { return nil }
        return hold
    }

    /// Whether the task waits for its next try.
    package var isBackOff: Bool { hold?.retryAt != nil }

    /// Whether adding the same file again returns this task.
    package var isUnfinished: Bool {
        switch self {
        case .waiting, .downloading, .paused, .failed: true
        case .completed, .cancelled: false
        }
    }
}

/// How far a finished file is verified.
package enum Integrity: String, Sendable {
    /// A digest matched.
    case checksum
    /// All responses had the same strong validator.
    case validators
    /// The length is right.
    case length
    /// Nothing is verified: the server gave no length.
    case none
}
