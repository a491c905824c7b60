// SPDX-License-Identifier: Apache-2.0

/// What keeps a task from starting or continuing without being the task's fault.
///
/// An obstacle does not count as a failed try. A pause that a host asks for counts as time without
/// progress: a task that may not wait that long fails, even if the host told another task.
package enum Obstacle: Hashable, Sendable {
    /// The host asked all clients to leave it alone for this long (RFC 9110 section 10.2.3), or is busy
    /// for all tasks (``HostRests``).
    case hostRests(for: Duration)
    /// There is no network; the failure that showed it, if any.
    case offline(Failure?)
    /// The network is metered, and the user wants to wait for another one.
    case metered
    /// The battery is low, and the user wants to save it.
    case batteryLow
    /// The settings file is wrong, so the proxy that the user wants is unknown.
    case wrongSettings
    /// The file system is full; the failure says how much space is needed.
    case diskFull(Failure)

    /// The name in the history.
    package var name: String {
        switch self {
        case .hostRests: "host-rests"
        case .offline: "offline"
        case .metered: "metered"
        case .batteryLow: "battery"
        case .wrongSettings: "settings"
        case .diskFull: "space"
        }
    }
}

extension TaskRecord {
    /// Holds the task until the obstacle is gone, or fails it where a pause is longer than it
    /// waits.
    ///
    /// - Returns: the effects; the caller fills the slot that may be free now.
    mutating func hold(by obstacle: Obstacle, at now: WallTime) -> [Effect] {
        defer { failure?.isAfterAnswer = false }
        switch obstacle {
        case .hostRests(let rest):
            // A pause that no host asked for is short, and every task waits it out.
            if rest > HostRests.longestGuess, stretch.isHostKnown, let left = stretch.left,
                rest > left
            {
                return failForGood(of: .tooLongPause(rest))
            }
            waited += rest
            state = .waiting(.retry(at: now.advanced(by: rest)))
            return [.persist, .announce, .scheduleRetry(after: rest)]
        case .offline(let failure): wait(by: .offline, after: failure)
        case .metered: wait(by: .metered)
        case .batteryLow: wait(by: .battery)
        case .wrongSettings: wait(by: .settings)
        case .diskFull(let failure): wait(by: .space, after: failure)
        }
        return [.persist, .announce]
    }

    private mutating func wait(by hold: Hold, after failure: Failure? = nil) {
        self.failure = failure ?? self.failure
        state = .waiting(hold)
    }

    /// Fails the task without another try.
    mutating func failForGood(of failure: Failure) -> [Effect] {
        self.failure = failure
        self.failure?.isAfterAnswer = false
        request.cookies = nil
        state = .failed
        return [.persist, .announce]
    }
}
