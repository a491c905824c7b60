// SPDX-License-Identifier: Apache-2.0

/// What a person or a program asks of a task.
///
/// May be refused.
package enum Command: String, CaseIterable, Sendable {
    case pause, resume, retry, cancel, remove
}

/// Why a command was not carried out.
///
/// Nothing has changed.
package enum Refusal: Error, Hashable, Sendable {
    /// The state does not know the verb: the contract's `InvalidState`.
    case invalidState(Command, TaskState.Kind)
    /// A task in this state fetches nothing, and so gets no other URL: `InvalidState` too.
    case keepsURL(TaskState.Kind)
    /// A task in this state keeps the value as it is: `InvalidState` too.
    case keepsOption(TaskEdit.Option, TaskState.Kind)
    /// Only a completed task has a finished file.
    case unfinished(TaskState.Kind)
    /// The partial file is being deleted; ask again when that is over.
    case deleting
    /// The file is on its way to another place; ask again when it is there.
    case moving
    /// The finished file is being given its name at this moment, or may have it already and the
    /// verb would delete it; ask again when that is over, or known.
    case publishing
    /// The task is being removed: for everybody outside it is gone.
    case gone
}
