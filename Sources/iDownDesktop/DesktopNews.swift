// SPDX-License-Identifier: Apache-2.0

/// What has happened since the desktop was told last; of each task only the end of it.
struct DesktopNews: Sendable {
    /// All that download now, by their ids.
    var active: [String: DesktopTask] = [:]
    /// Those that did and do not any more, but are not at their end.
    var resting: [String: DesktopTask] = [:]
    /// Tasks that were completed or failed, in order.
    var ended: [DesktopTask] = []
    /// So many more than those in `ended` were, which nobody can read one by one.
    var moreCompleted = 0
    var moreFailed = 0
    /// Tasks that another program handed over, in order.
    var handedOver: [DesktopTask] = []
    /// Somebody has asked for the program and named nothing.
    var isActivated = false
}
