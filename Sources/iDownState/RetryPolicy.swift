// SPDX-License-Identifier: Apache-2.0

/// When a failed transfer is tried again, and when no more.
package enum RetryPolicy {
    /// The first wait; each further one is twice as long.
    package static let base: Duration = .seconds(1)
    /// No wait is longer, so that a link that comes back is noticed within minutes.
    package static let cap: Duration = .seconds(300)
    /// Tries in one stretch without progress: with full jitter about two minutes.
    package static let tries: UInt32 = 8
    /// So many bytes (1 MiB) end a stretch: a slow line that moves is never given up.
    package static let progress: Int64 = 1 << 20
    /// A server's wish is honoured up to an hour; whoever wants more time has to be asked again.
    package static let longestRetryAfter: Duration = .seconds(3600)
    /// Spread over a server's own wish, so that its clients do not come back as one.
    package static let retryAfterSpread: Duration = .milliseconds(500)

    package enum Verdict: Hashable, Sendable {
        case retry(after: Duration)
        case giveUp
    }

    /// Judges a failure that was the `tries`-th of its stretch.
    ///
    /// - Parameters:
    ///   - failure: what went wrong.
    ///   - tries: how many failed tries the stretch has had, this one included.
    ///   - jitter: 0 up to 1, from the caller's random source: full jitter, so that tasks which
    ///     failed together do not try again together.
    /// - Returns: whether, and after what time, to try again.
    package static func verdict(on failure: Failure, tries: UInt32, jitter: Double) -> Verdict {
        guard failure.isTransient else { return .giveUp }
        guard tries < Self.tries else { return .giveUp }
        if let retryAfter = failure.retryAfter {
            guard retryAfter <= longestRetryAfter else { return .giveUp }
            return .retry(after: max(.zero, retryAfter) + retryAfterSpread * jitter)
        }
        return .retry(after: ceiling(of: tries) * jitter)
    }

    /// The longest wait after the `tries`-th failure.
    static func ceiling(of tries: UInt32) -> Duration {
        var wait = base
        for _ in 1..<max(1, tries) where wait < cap { wait *= 2 }
        return min(wait, cap)
    }

    /// How long a back-off that was recorded until `deadline` still lasts after a restart.
    ///
    /// The clock may have been set in between: never longer than its kind allows.
    package static func remaining(
        until deadline: WallTime,
        now: WallTime,
        after failure: Failure?
    ) -> Duration {
        let longest = failure?.retryAfter == nil ? cap : longestRetryAfter + retryAfterSpread
        return min(max(.zero, deadline.since(now)), longest)
    }
}
