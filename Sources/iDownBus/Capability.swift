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
}
