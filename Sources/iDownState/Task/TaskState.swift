// SPDX-License-Identifier: Apache-2.0

/// Why a waiting task does not start.
package enum Hold: Hashable, Sendable {
    /// All slots are taken.
    case queue
    /// The last try failed; the next comes at this time.
    case retry(at: WallTime)
    /// There is no network, and its host is another computer.
    case offline
    /// The network is metered, its host is another computer, and the user wants to wait.
    case metered
    /// The battery is low, and the user wants to wait.
    case battery
    /// Its file system has no room for it.
    case space
    /// The settings file is wrong, and nobody knows which proxy the user wants.
    case settings
}

extension Hold {
    /// Those that end when the world changes, not by a slot or a time.
    package static let byTheWorld: [Hold] = [.offline, .metered, .battery, .space, .settings]
}

/// Where a task stands.
///
/// Legal successors, besides being removed: waiting → downloading, paused, cancelled; downloading →
/// waiting, paused, completed, failed, cancelled; paused → waiting, cancelled; failed → waiting,
/// cancelled; completed → waiting; cancelled → waiting. Where the file of an open publication is
/// found under its name: waiting at a start, and waiting, paused and failed when they are to be
/// cancelled or removed → completed.
package enum TaskState: Hashable, Sendable {
    case waiting(Hold)
    case downloading
    case paused
    case completed
    case failed
    case cancelled

    /// The six kinds, as the contract names them.
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

    /// Whether it waits for its next try.
    package var isBackOff: Bool {
        if case .waiting(.retry) = self { return true }
        return false
    }

    /// Another AddURL of the same file means this task.
    package var isUnfinished: Bool {
        switch self {
        case .waiting, .downloading, .paused, .failed: true
        case .completed, .cancelled: false
        }
    }
}

/// What is known of a finished file's bytes.
package enum Integrity: String, Sendable {
    /// A digest matched.
    case checksum
    /// Every response carried the same strong validator.
    case validators
    /// The length is right.
    case length
    /// Nothing: the server gave no length.
    case none
}
