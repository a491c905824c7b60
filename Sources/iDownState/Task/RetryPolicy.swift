// SPDX-License-Identifier: Apache-2.0

/// When a failed transfer is tried again, and when no more.
///
/// A host that has answered the task before, or has given it bytes, is waited for through an outage:
/// for as long as the task's `retryFor` says. Every other failure is tried eight times, since a
/// wrong address does not become right. Both counts start anew after 1 MiB of progress.
package enum RetryPolicy {
    /// The first wait; each further one is twice as long.
    package static let base: Duration = .seconds(1)
    /// No wait is longer, so that a link that comes back is noticed within minutes.
    package static let cap: Duration = .seconds(300)
    /// Tries in one stretch without progress: with full jitter about two minutes.
    package static let tries: UInt32 = 8
    /// How long a task waits for its host, in seconds, where nobody says (24 hours).
    package static let usualRetryFor: Int64 = 86_400
    /// So many bytes (1 MiB) end a stretch: a slow line that moves is never given up.
    package static let progress: Int64 = 1 << 20
    /// Spread over a server's own wish, so that its clients do not come back as one.
    package static let retryAfterSpread: Duration = .milliseconds(500)

    package enum Verdict: Hashable, Sendable {
        case retry(after: Duration)
        /// No more tries; the failure is what the task has failed of.
        case giveUp(Failure)
    }

    /// What counts in a stretch of tries without progress.
    package struct Stretch: Hashable, Sendable {
        /// How many tries have failed.
        package var tries: UInt32
        /// The time that the tries and the waits between them took.
        package var waited: Duration
        /// Whether the host has answered the task before, or has given it bytes.
        package var isHostKnown: Bool
        /// For how long the task is tried; nil for as long as it takes.
        package var limit: Duration?

        package init(
            tries: UInt32,
            waited: Duration = .zero,
            isHostKnown: Bool = false,
            limit: Duration? = .seconds(usualRetryFor)
        ) {
            self.tries = tries
            self.waited = waited
            self.isHostKnown = isHostKnown
            self.limit = limit
        }

        /// The time that is left; nil for as long as it takes.
        package var left: Duration? { limit.map { max(.zero, $0 - waited) } }

        /// The tries that are left for a failure; nil where only time counts.
        package func triesLeft(after failure: Failure) -> UInt32? {
            // No outage spoils the content or the disk.
            let isOutage = failure.code.isOfSource && !failure.code.spoilsContent
            guard !isOutage || !isHostKnown else { return nil }
            return tries < RetryPolicy.tries ? RetryPolicy.tries - tries : 0
        }
    }

    /// The limit that a number of seconds stands for; nil for 0, as long as it takes.
    package static func limit(ofSeconds seconds: Int64) -> Duration? {
        seconds > 0 ? .seconds(seconds) : nil
    }

    /// Judges a failure that was the last try of a stretch.
    ///
    /// - Parameters:
    ///   - failure: what went wrong.
    ///   - stretch: the tries without progress, this one included.
    ///   - jitter: 0 up to 1, from the caller's random source: full jitter, so that tasks which
    ///     failed together do not try again together.
    /// - Returns: whether, and after what time, to try again. The last wait ends at the limit, so
    ///   that a host which is back by then is found.
    package static func verdict(
        on failure: Failure,
        _ stretch: Stretch,
        jitter: Double
    ) -> Verdict {
        guard failure.isTransient, stretch.triesLeft(after: failure) != 0 else {
            return .giveUp(failure)
        }
        let left = stretch.left
        guard left != .zero else { return .giveUp(failure) }
        if let wish = failure.retryAfter {
            if let left, wish > left {
                return .giveUp(.tooLongPause(wish, after: failure.message + " "))
            }
            return .retry(after: max(.zero, wish) + retryAfterSpread * jitter)
        }
        let wait = ceiling(of: stretch.tries) * jitter
        return .retry(after: min(wait, left ?? wait))
    }

    /// The longest wait after the `tries`-th failure.
    static func ceiling(of tries: UInt32) -> Duration {
        // 2 to the power of 9 seconds are beyond the cap.
        min(base * (1 << min(max(1, tries) - 1, 9)), cap)
    }

    /// How long a back-off that was recorded until `deadline` still lasts after a restart.
    ///
    /// The clock may have been set in between: never longer than its kind allows.
    package static func remaining(
        until deadline: WallTime,
        now: WallTime,
        after failure: Failure?
    ) -> Duration {
        let longest = failure?.retryAfter.map { max(.zero, $0) + retryAfterSpread } ?? cap
        return min(max(.zero, deadline.since(now)), longest)
    }
}

extension Failure {
    /// The failure of a task that may not wait for as long as the server asks for.
    ///
    /// - Parameters:
    ///   - wish: how long that is.
    ///   - answer: what the server has answered the task; empty where it has told another one.
    /// - Returns: the failure.
    static func tooLongPause(_ wish: Duration, after answer: String = "") -> Failure {
        Failure(
            .serverBusy,
            answer + "The server asks clients to wait \(wish.components.seconds) seconds,"
                + " longer than this download waits. Try again after that."
        )
    }
}
