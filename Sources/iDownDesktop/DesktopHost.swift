// SPDX-License-Identifier: Apache-2.0

package import iDownState
import iDownView

/// The download service as the desktop integration uses it.
package protocol DesktopHost: Sendable {
    /// Receives the computer's conditions after each change, except for ``Conditions/isOnline``.
    ///
    /// Without a service that reports a condition, it is false.
    func conditionsChanged(_ conditions: Conditions) async
    /// Prepares for sleep; the computer sleeps once this returns, or after a few seconds at the
    /// latest.
    func willSleep() async
    /// Continues after sleep; may also be called without a sleep before it.
    func didWake() async
    /// Carries out a command on some tasks; tasks that do not allow it are skipped.
    func carryOut(_ command: Command, on ids: [String]) async
    /// Pauses all waiting and downloading tasks, or resumes all paused and failed ones.
    func carryOutOnAll(_ command: Command) async
    /// Continues a task with the link of a new download, which goes once the link has proven good.
    func carryOn(_ task: String, with new: String) async
    /// Leaves downloads to the browsers from now on: those of one host, or all for nil.
    func leaveToBrowsers(_ host: String?) async
    /// Returns the numbers of unfinished tasks and the download folder.
    func summary() async -> DesktopSummary
}

/// The numbers of unfinished tasks, for a notification in place of a window.
package struct DesktopSummary: Hashable, Sendable {
    package var downloading = 0
    package var waiting = 0
    package var paused = 0
    package var failed = 0
    /// The download folder, absolute.
    package var folder = ""

    package init() {}

    /// Whether there are tasks that Pause All would pause.
    var canPause: Bool { downloading + waiting > 0 }

    /// Whether there are tasks that Start All would start.
    var canStart: Bool { paused + failed > 0 }

    /// One line, such as `3 downloading, 2 paused`.
    var text: String {
        let parts = [
            (downloading, counted("{count} downloading", "{count} downloading", UInt(downloading))),
            (waiting, counted("{count} waiting", "{count} waiting", UInt(waiting))),
            (paused, counted("{count} paused", "{count} paused", UInt(paused))),
            (failed, counted("{count} failed", "{count} failed", UInt(failed))),
        ]
        let words = parts.filter { $0.0 > 0 }.map(\.1)
        return words.isEmpty
            ? translated("No unfinished downloads") : words.joined(separator: ", ")
    }
}
