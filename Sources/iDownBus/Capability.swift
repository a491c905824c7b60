// SPDX-License-Identifier: Apache-2.0

/// What a service can do beyond the first version of the contract.
///
/// The service lists the words in the property `Capabilities`. A client asks there, never by
/// provoking an error. Words are only added.
public enum Capability: String, CaseIterable, Hashable, Sendable {
    /// `org.idown.Settings1` has the settings that the manager's interface does not have.
    case settings
    /// GetHistory tells what happened in the attempts of a task, and GetConnections which
    /// connections it has open.
    case history
    /// GetChangesSince tells what has changed since a serial.
    case changes
    /// Objects of tasks announce their changes to those who have asked: Subscribe.
    case objectsOnDemand = "objects-on-demand"
    /// TasksAdded, TasksChanged and TasksRemoved tell of many tasks at once.
    case bulk
    /// SetOptions changes the options of a task.
    case edit
    /// OpenFile hands out the file of a task.
    case openFile = "open-file"
    /// Verify reads a finished file again.
    case verify
    /// Probe asks a server about a file without adding it.
    case probe
    /// HandOver, Confirm and Withdraw take a download over from a browser.
    case handOver = "hand-over"
    /// AddMany adds several downloads, each with options of its own, and GetTasks returns several.
    case addMany = "add-many"
    /// Tasks have AddedBy, and FindTasks the key `added-by`.
    case addedBy = "added-by"
    /// ExplainCodes tells as codes with values why a task makes no progress.
    case reasons
    /// FindTasks sorts by `host` and `time-left`.
    case moreOrders = "more-orders"
}
