// SPDX-License-Identifier: Apache-2.0

/// What keeps a task from starting or continuing without being the task's fault.
///
/// An obstacle does not count as a failed try. A pause that a host asks for counts as time without
/// progress: a task that may not wait that long fails, even if the host told another task.
package enum Obstacle: Hashable, Sendable {
    /// The host asked all clients to leave it alone for this long (RFC 9110 section 10.2.3), or is busy
    /// for all tasks (``HostRests``).
    case hostRests(for: Duration)
    /// One of ``Hold/byTheWorld``; the failure that showed it, if any. That of a full disk says how
    /// much space is needed.
    case hold(Hold, after: Failure? = nil)

    /// The name in the history.
    package var name: String {
        if case .hold(let hold, _) = self { hold.name } else { "host-rests" }
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
        case .hold(let hold, let failure):
            self.failure = failure ?? self.failure
            state = .waiting(hold)
            return [.persist, .announce]
        }
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
