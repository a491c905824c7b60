// SPDX-License-Identifier: Apache-2.0

/// A command to a task, from a person or a program.
///
/// It may be refused.
package enum Command: String, CaseIterable, Sendable {
    case pause, resume, retry, cancel, remove
}

/// Why a command was refused; it has changed nothing.
package enum Refusal: Error, Hashable, Sendable {
    /// The command does not apply in this state: the contract's `InvalidState`.
    case invalidState(Command, TaskState.Kind)
    /// The option cannot be changed in this state, the URL where the task fetches nothing:
    /// `InvalidState` too.
    case keepsOption(TaskEdit.Option, TaskState.Kind)
    /// The command needs a finished file, which only a completed task has.
    case unfinished(TaskState.Kind)
    /// The partial file is being deleted; the caller may ask again after that.
    case deleting
    /// The file is being moved; the caller may ask again after that.
    case moving
    /// The finished file is being published, or may be published already and the command would
    /// delete it; the caller may ask again once that is over, or known.
    case publishing
    /// The task is being removed: for clients it no longer exists.
    case gone
}
