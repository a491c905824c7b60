// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// Decides which changes of downloads are drawn immediately and which can be skipped.
///
/// A running download's new byte count can be skipped, because the next one follows within a
/// moment. Any other change must be drawn, immediately or a moment later: the next one may be hours
/// away, and the screen would be wrong until then.
package struct DrawingPace: Sendable {
    /// Seconds between two drawings; the eye sees at most 20 pictures per second.
    ///
    /// Thousands of downloads may end together, and a drawing takes longer the more there are.
    package static let shortestInterval = 0.05

    /// The facts whose change has to be drawn.
    private struct Status: Equatable {
        let state: TaskProperties.State
        let activity: TaskProperties.Activity
        let hold: TaskProperties.Hold
        let message: String
        /// 0 while the download runs.
        let bytes: UInt64

        init(_ task: TaskProperties) {
            state = task.state
            activity = task.activity
            hold = task.hold
            message = task.errorMessage
            bytes = task.state == .downloading ? 0 : task.downloadedBytes
        }
    }

    private let count: Int
    private var statuses: [String: Status] = [:]
    private var removed: Set<String> = []
    private var lastDrawn: Double?
    /// Whether a change that has to be drawn was skipped, so that it has to be drawn soon.
    package private(set) var isOwed = false

    /// Creates a pace for a number of downloads.
    package init(count: Int) { self.count = count }

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
        if mustBeDrawn { isOwed = true }
        return isDue(at: time)
    }

    /// Stops waiting for a task, because it was removed from the list.
    ///
    /// - Returns: Whether all downloads must be drawn now.
    package mutating func isDue(afterRemovalOf id: String, at time: Double) -> Bool {
        if statuses[id] == nil { removed.insert(id) }
        isOwed = true
        return isDue(at: time)
    }

    /// Returns whether all downloads must be drawn now because of changes that were skipped.
    package mutating func isOwed(at time: Double) -> Bool {
        guard isOwed else { return false }
        lastDrawn = time
        isOwed = false
        return true
    }

    private mutating func isDue(at time: Double) -> Bool {
        if let lastDrawn, time - lastDrawn < Self.shortestInterval { return false }
        lastDrawn = time
        isOwed = false
        return true
    }
}
