// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// Decides which changes of downloads are drawn at once and which can be skipped.
///
/// A new byte count can be skipped, because the next one follows within a moment. A new state, hold
/// or message is always drawn: the next change may be hours away, and the screen would be wrong
/// until then.
package struct DrawingPace: Sendable {
    /// Seconds between two drawings of byte counts; the eye sees at most 20 pictures per second.
    private static let shortestInterval = 0.05

    /// The facts whose change is always drawn.
    private struct Status: Equatable {
        let state: TaskProperties.State
        let activity: TaskProperties.Activity
        let hold: TaskProperties.Hold
        let message: String

        init(_ task: TaskProperties) {
            state = task.state
            activity = task.activity
            hold = task.hold
            message = task.errorMessage
        }
    }

    private let count: Int
    private var statuses: [String: Status] = [:]
    private var removed: Set<String> = []
    private var lastDrawn: Double?

    /// Creates a pace for a number of downloads.
    package init(count: Int) {
        self.count = count
    }

    /// Takes the current facts of a task, and returns whether all downloads must be drawn now.
    ///
    /// The time is in seconds on a clock that only goes forward.
    package mutating func isDue(_ task: TaskProperties, at time: Double) -> Bool {
        let status = Status(task)
        let last = statuses.updateValue(status, forKey: task.id)
        let mustBeDrawn =
            if let last {
                status != last
            } else {
                // At first every task arrives once, perhaps thousands of them. The drawing for the
                // last one shows them all.
                task.hasEnded || statuses.count + removed.count >= count
            }
        if !mustBeDrawn, let lastDrawn, time - lastDrawn < Self.shortestInterval { return false }
        lastDrawn = time
        return true
    }

    /// Stops waiting for a task, because it was removed from the list.
    package mutating func remove(_ id: String) {
        if statuses[id] == nil { removed.insert(id) }
    }
}
