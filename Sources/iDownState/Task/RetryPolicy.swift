// SPDX-License-Identifier: Apache-2.0

/// Decides when a failed transfer is tried again, and when it is given up.
///
/// A host that has answered the task before, or has given it bytes, is tried again during an outage
/// for as long as the task's `retryFor` says. Every other failure gets eight tries, because a wrong
/// address stays wrong. Both counts start anew after 1 MiB of progress.
package enum RetryPolicy {
    /// The longest wait after the first failure; it doubles with each further failure.
    package static let base: Duration = .seconds(1)
    /// The longest wait of all, so that a host that comes back is noticed within minutes.
    package static let cap: Duration = .seconds(300)
    /// The tries in one stretch without progress; with full jitter they take about a minute,
    /// and two at most.
    package static let tries: UInt32 = 8
    /// How long a task waits for its host, in seconds, if `retryFor` was not given (24 hours).
    package static let usualRetryFor: Int64 = 86_400
    /// How many bytes end a stretch (1 MiB): a slow line that makes progress is never given up.
    package static let progress: Int64 = 1 << 20
    /// Spreads the tries after a server's Retry-After, so that not all clients come back at once.
    package static let retryAfterSpread: Duration = .milliseconds(500)

    package enum Verdict: Hashable, Sendable {
        case retry(after: Duration)
        /// No more tries; the task fails with this failure.
        case giveUp(Failure)
    }

    /// What is counted in a stretch of tries without progress.
    package struct Stretch: Hashable, Sendable {
        /// How many tries have failed.
        package var tries: UInt32
        /// The time that the tries and the waits between them have taken.
        package var waited = Duration.zero
        /// Whether the host has answered the task before, or has given it bytes.
        package var isHostKnown = false
        /// How long the task is tried; nil without a limit.
        package var limit: Duration? = .seconds(usualRetryFor)

        /// The time that is left; nil without a limit.
        package var left: Duration? { limit.map { max(.zero, $0 - waited) } }

        /// Returns the tries that are left after a failure; nil where only time counts.
        package func triesLeft(after failure: Failure) -> UInt32? {
            // Wrong content, a broken disk and a login that nobody can read are not outages.
            let isOutage =
                failure.code.isOfSource && !failure.code.spoilsContent
                && failure.code != .serverAuthRequired
            guard !isOutage || !isHostKnown else { return nil }
            return tries < RetryPolicy.tries ? RetryPolicy.tries - tries : 0
        }
    }

    /// Returns the limit that a number of seconds means; nil, without a limit, for 0.
    package static func limit(ofSeconds seconds: Int64) -> Duration? {
        seconds > 0 ? .seconds(seconds) : nil
    }

    /// Judges a failure.
    ///
    /// - Parameters:
    ///   - failure: what went wrong.
    ///   - stretch: the tries without progress, this one included.
    ///   - jitter: 0 up to 1, from the caller's random source. It scales the whole wait, so that
    ///     tasks which failed together do not try again together.
    /// - Returns: whether, and after what time, to try again. The last wait ends at the limit, so
    ///   that a host that is back by then is found.
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
        // A drive gets the whole time that eight tries can take, 127 s: the tries ask no host, so
        // that they need not be spread.
        let wait = ceiling(of: stretch.tries) * (failure.code == .fileVanished ? 1 : jitter)
        return .retry(after: min(wait, left ?? wait))
    }

    /// Returns the longest wait after the `tries`-th failure.
    static func ceiling(of tries: UInt32) -> Duration {
        // 2 to the power of 9 seconds exceeds the cap.
        min(base * (1 << min(max(1, tries) - 1, 9)), cap)
    }

    /// Returns how long a back-off that was recorded until `deadline` still lasts after a restart.
    ///
    /// The clock may have been set in between, so the result never exceeds the longest wait.
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
    /// Returns the failure of a task that may not wait for as long as the server asks.
    ///
    /// - Parameters:
    ///   - wish: how long the server asks to wait.
    ///   - answer: how the server answered the task; empty where it answered another task.
    /// - Returns: the failure.
    static func tooLongPause(_ wish: Duration, after answer: String = "") -> Failure {
        Failure(
            .serverBusy,
            answer + "The server asks clients to wait \(wish.roundedUp),"
                + " longer than this download waits. Try again after that."
        )
    }
}
