// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// A task that is valid and can be added.
package struct NewTask: Sendable {
    package var request: TaskRequest
    package var priority: Int32?
    /// Bytes a second; 0 for no limit.
    package var speedLimit: Int64 = 0
    package var isPaused = false
    /// The name that a new task needs but cannot have; nil where it can.
    ///
    /// It does not concern a task that is resumed instead.
    package var takenName: String?
    /// The token of this task alone, which gives the same id for ever; nil where there is none.
    var token: String?
    /// What an error calls the task; empty where the call has only one.
    var place = ""
    /// Hashes of the file's pieces, which are stored beside the task.
    package var pieces: PieceHashes?
    /// Whether a program of the user's own asked for the task.
    ///
    /// Such a request also resumes a task that may use the user's logins, even if the request
    /// itself may not.
    var isUsersOwn = false
    /// The ids in the vault of logins that equal the login of its URL.
    var keptLogins: Set<String> = []
}
