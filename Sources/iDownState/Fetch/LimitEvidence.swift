// SPDX-License-Identifier: Apache-2.0

/// What a task knows of a source that may limit connections: whether a 403 can pass.
///
/// Hosts that allow a client few connections answer 403 to one more, and many count a connection
/// for some seconds after its end. A source that has served the task within the last hour is
/// therefore asked again, with nothing else open, before its 403 is believed. So is one whose host
/// has as many connections of other tasks open as it was seen to allow. Times are readings of any
/// clock that only goes forward.
package struct LimitEvidence: Hashable, Sendable {
    /// For how long it counts that the source has served the task.
    package static let memory: Duration = .seconds(3600)
    /// How many tries a source must refuse, and over what time at least: hosts were seen to count
    /// a connection for 5 s after its end.
    package static let tries = 3
    package static let patience: Duration = .seconds(15)

    /// Whether the source has served a part of the file: then a 403 is not about ranges.
    package private(set) var hasServedRange = false
    private var servedAt: Duration?
    private var refusals = 0
    /// When the first of them came.
    private var refusedAt: Duration = .zero

    package init() {}

    /// The source has brought bytes until now, as an answer to a range (206) or not.
    package mutating func served(isRange: Bool, at now: Duration) {
        servedAt = now
        hasServedRange = hasServedRange || isRange
        forgetRefusals()
    }

    /// Somebody asked for a try: past refusals no longer count.
    package mutating func forgetRefusals() { refusals = 0 }

    /// Judges how the source has ended a try in which the task had nothing else open.
    ///
    /// - Parameters:
    ///   - failure: what the source has answered.
    ///   - isCrowded: whether other tasks have as many connections open as its host allows.
    ///   - now: the present time.
    /// - Returns: the failure; a 403 that may pass is transient.
    package mutating func judge(
        _ failure: Failure,
        isCrowded: Bool = false,
        at now: Duration
    ) -> Failure {
        guard failure == .status(403) else { return failure }
        var passing = failure
        passing.isTransient = true
        if isCrowded { return passing }
        guard let servedAt, now - servedAt < Self.memory else { return failure }
        if refusals == 0 { refusedAt = now }
        refusals += 1
        return refusals < Self.tries || now - refusedAt < Self.patience ? passing : failure
    }
}
