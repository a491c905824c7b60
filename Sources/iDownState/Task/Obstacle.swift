// SPDX-License-Identifier: Apache-2.0

/// What keeps a task from starting or going on although nothing is wrong with the task itself.
///
/// It does not count as a failed try. The pause that a host asked for counts as time without
/// progress: a task that does not wait for so long fails, whichever task the host told.
package enum Obstacle: Hashable, Sendable {
    /// The host asked to be left alone for this long, whoever asks (RFC 9110 section 10.2.3).
    case hostRests(for: Duration)
    /// There is no network at all; the failure that showed it, if there was one.
    case offline(Failure?)
    /// The network costs by the byte, and the user wants to wait for another.
    case metered
    /// The battery is low, and the user wants to save it.
    case batteryLow
    /// The settings file is wrong, and nobody knows which proxy the user wants.
    case wrongSettings
    /// The file system has no room; the failure says how much is needed.
    case diskFull(Failure)

    /// As the history has it.
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
    /// Steps aside until the obstacle is gone, or fails where that takes longer than it waits.
    ///
    /// - Returns: what is to be done about it; the slot that may be free now is the caller's.
    mutating func hold(by obstacle: Obstacle, at now: WallTime) -> [Effect] {
        defer { failure?.isAfterAnswer = false }
        switch obstacle {
        case .hostRests(let rest):
            if stretch.isHostKnown, let left = stretch.left, rest > left {
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

    /// Ends without another try.
    mutating func failForGood(of failure: Failure) -> [Effect] {
        self.failure = failure
        self.failure?.isAfterAnswer = false
        request.cookies = nil
        state = .failed
        return [.persist, .announce]
    }
}
