// SPDX-License-Identifier: Apache-2.0

/// A feature that a service has beyond the first version of the contract.
///
/// The service lists these words in its property `Capabilities`. A client should read that property
/// and not try a call to see whether it fails. Later versions only add words.
public enum Capability: String, CaseIterable, Hashable, Sendable {
    /// `org.idown.Settings1` has the settings that the manager's interface does not have.
    case settings
    /// GetHistory returns what happened in the attempts of a task, and GetConnections returns its
    /// open connections.
    case history
    /// GetChangesSince returns what has changed since a serial.
    case changes
    /// Objects of tasks announce their changes once a client has called Subscribe.
    case objectsOnDemand = "objects-on-demand"
    /// TasksAdded, TasksChanged and TasksRemoved report many tasks at once.
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
    /// ExplainCodes returns, as codes with values, why a task makes no progress.
    case reasons
    /// FindTasks sorts by `host` and `time-left`.
    case moreOrders = "more-orders"
}
