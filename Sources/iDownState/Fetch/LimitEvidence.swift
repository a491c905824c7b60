// SPDX-License-Identifier: Apache-2.0

/// What a task knows about a source that may limit connections: whether a 403 may pass.
///
/// Hosts that allow a client few connections answer 403 to one more, and many count a connection
/// for some seconds after its end. A source that has served the task within the last hour, or that
/// other tasks have connections to, is therefore asked again, with nothing else of the task open,
/// before its 403 is believed. A 403 is never believed while other tasks have as many connections
/// open as the host was seen to allow. Times are readings of a clock that only goes forward.
package struct LimitEvidence: Hashable, Sendable {
    /// How long after it has served the task a source is asked again.
    package static let memory: Duration = .seconds(3600)
    /// How many tries a source must refuse before its 403 is believed, and over what time at least:
    /// hosts were seen to count a connection for 5 s after its end.
    package static let tries = 3
    package static let patience: Duration = .seconds(15)

    /// Whether the source has served a part of the file: then a 403 is not about ranges.
    package private(set) var hasServedRange = false
    private var servedAt: Duration?
    private var refusals = 0
    /// When the first refusal came.
    private var refusedAt: Duration = .zero

    package init() {}

    /// Records that the source has brought bytes until now, as an answer to a range (206) or not.
    package mutating func served(isRange: Bool, at now: Duration) {
        servedAt = now
        hasServedRange = hasServedRange || isRange
        forgetRefusals()
    }

    /// Forgets past refusals, because the user asked for another try.
    package mutating func forgetRefusals() { refusals = 0 }

    /// Judges the answer to a try during which the task had no other connection open.
    ///
    /// - Parameters:
    ///   - failure: how the source answered.
    ///   - load: how far other tasks' connections use up what the host allows.
    ///   - now: the present time.
    /// - Returns: the failure; a 403 that may pass is transient.
    package mutating func judge(
        _ failure: Failure,
        load: HostLimits.Load = .none,
        at now: Duration
    ) -> Failure {
        guard failure == .status(403) else { return failure }
        var passing = failure
        passing.isTransient = true
        if load == .full { return passing }
        let hasServed = servedAt.map { now - $0 < Self.memory } ?? false
        guard hasServed || load == .some else { return failure }
        if refusals == 0 { refusedAt = now }
        refusals += 1
        return refusals < Self.tries || now - refusedAt < Self.patience ? passing : failure
    }
}
