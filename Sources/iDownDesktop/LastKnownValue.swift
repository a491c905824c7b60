// SPDX-License-Identifier: Apache-2.0

import DBus

/// The outcome of asking a service for something.
enum ServiceAnswer<Content: Sendable>: Sendable {
    case value(Content)
    /// The service does not run, or does not offer this.
    case unavailable
    /// The service did not answer: it is slow, or about to stop.
    case noReply

    /// Takes the error of a call: `noReply` if an answer may still come, otherwise `unavailable`.
    init(_ error: BusError) {
        self = error.isNoReply || error.isDisconnected ? .noReply : .unavailable
    }
}

/// The last value that a service reported, as long as it may be used.
///
/// The value stays valid while the service does not answer, and for `grace` after the service has
/// stopped: a metered network does not become unmetered because the service that knows of it is
/// slow or restarts.
struct LastKnownValue<Content: Sendable> {
    typealias Instant = ContinuousClock.Instant

    /// How long the value stays valid after the service has stopped.
    let grace: Duration
    /// The value; nil where none was reported, or the service has been stopped for longer than
    /// `grace`.
    private(set) var value: Content?
    /// When to ask again even if no signal reports a change; nil for never.
    private(set) var nextQuery: Instant?
    private var unavailableSince: Instant?

    init(grace: Duration) { self.grace = grace }

    /// How long to wait before a service that did not answer is asked again.
    var retryDelay: Duration { grace / 6 }

    /// Takes in the outcome of a question.
    ///
    /// - Parameters:
    ///   - answer: The outcome.
    ///   - now: The time of the outcome.
    ///
    /// - Returns: Whether ``value`` should be reported now.
    mutating func update(with answer: ServiceAnswer<Content>, at now: Instant) -> Bool {
        nextQuery = nil
        switch answer {
        case .value(let new):
            unavailableSince = nil
            value = new
        case .unavailable:
            let since = unavailableSince ?? now
            unavailableSince = since
            if value != nil, now < since + grace {
                nextQuery = since + grace
                return false
            }
            value = nil
        case .noReply:
            nextQuery = now + retryDelay
            return false
        }
        return true
    }
}
