// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// Which changes of some downloads are drawn at once, and which may be left out.
///
/// Bytes come all the time, and soon there are newer ones. How a download stands may not change for
/// hours: what was left out of that would be wrong on the screen for as long.
package struct DrawingPace: Sendable {
    /// Twenty times a second is as much as an eye sees.
    package static let shortest = 0.05

    /// How a download stands.
    private struct Mark: Equatable {
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
    private var marks: [String: Mark] = [:]
    private var gone: Set<String> = []
    private var lastDrawn: Double?

    /// Takes how many downloads there will be.
    package init(count: Int) {
        self.count = count
    }

    /// Takes a task as it is now; the time is in seconds on a clock that only goes forward.
    ///
    /// - Returns: Whether all downloads are to be drawn now.
    package mutating func isDue(_ task: TaskProperties, at time: Double) -> Bool {
        let mark = Mark(task)
        let last = marks.updateValue(mark, forKey: task.id)
        let isNews =
            if let last {
                mark != last
            } else {
                // They are looked at one after the other, thousands perhaps, and the last one shows
                // them all.
                task.hasEnded || marks.count + gone.count >= count
            }
        if !isNews, let lastDrawn, time - lastDrawn < Self.shortest { return false }
        lastDrawn = time
        return true
    }

    /// A task was taken off the list, and will not be shown any more.
    package mutating func remove(_ id: String) {
        if marks[id] == nil { gone.insert(id) }
    }
}
