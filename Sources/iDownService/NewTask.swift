// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// A validated wish for a task.
package struct NewTask: Sendable {
    package var request: TaskRequest
    package var priority: Int32?
    /// Bytes a second; 0 for no limit.
    package var speedLimit: Int64
    package var isPaused: Bool
    /// Why a new task cannot have the name it needs; nothing to one that is there already.
    package var takenName: String?
    /// The same token gives the same id for ever; nil where the task has none of its own.
    var token: String?
    /// What an error calls it; empty where the call has one task only.
    var place = ""
    /// Hashes of the file's pieces, to be kept beside the task.
    package var pieces: PieceHashes?
    /// Whether a program of the user's own asked for it: then it also resumes a task that may use the
    /// user's logins, although it may not use them itself.
    var isUsersOwn = false
    /// Where logins are kept that are those of its URL.
    var keptLogins: Set<String> = []

    package init(
        request: TaskRequest,
        priority: Int32? = nil,
        speedLimit: Int64 = 0,
        isPaused: Bool = false,
        takenName: String? = nil,
        pieces: PieceHashes? = nil
    ) {
        self.request = request
        self.priority = priority
        self.speedLimit = speedLimit
        self.isPaused = isPaused
        self.takenName = takenName
        self.pieces = pieces
    }
}
