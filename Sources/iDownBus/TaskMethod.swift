// SPDX-License-Identifier: Apache-2.0

package import DBus

/// A method that changes the state of one task, of several tasks, or of all that allow it.
///
/// The raw value is the name of the method for one task, on the manager and on the task's object.
public enum TaskMethod: String, CaseIterable, Hashable, Sendable {
    /// Stops a task and keeps its bytes.
    case pause = "Pause"
    /// Puts a task back into the queue.
    case resume = "Resume"
    /// Resumes a task; also ends a back-off, and downloads a completed file again.
    case retry = "Retry"
    /// Stops a task and deletes its partial file.
    case cancel = "Cancel"
    /// Removes a task from the list; a finished file stays.
    case remove = "Remove"

    /// The name of the method.
    package var memberName: MemberName { MemberName(checked: rawValue) }
}
