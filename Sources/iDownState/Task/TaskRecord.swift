// SPDX-License-Identifier: Apache-2.0

/// The file that idown made for a task, and what later proves that it is this file.
package struct LocalFile: Hashable, Sendable {
    /// The final name, one path element.
    ///
    /// While the file is unfinished, it is stored as ``partName``.
    package var name: String
    /// The identifier of its file system, the same at each mount; 0 where there is none.
    ///
    /// It tells whether a missing file is deleted or its drive is not mounted. The device number
    /// cannot tell that, because it changes when drives are detected in another order.
    package var fileSystem: UInt64
    /// Identifies the file among others of the same name: its inode, mixed with its birth time.
    ///
    /// ext4 gives the inode of a deleted file to the next new file: without the birth time idown
    /// would continue another program's file.
    package var mark: UInt64

    package init(name: String, fileSystem: UInt64, mark: UInt64) {
        self.name = name
        self.fileSystem = fileSystem
        self.mark = mark
    }

    package static let partSuffix = ".part"

    /// The name of the file until it is complete.
    package var partName: String { name + Self.partSuffix }
}

/// A change to files that is committed before it is made, so that a crash leaves none half done.
package enum Intent: Hashable, Sendable {
    /// Rename the partial file to this final name.
    ///
    /// The intent to rename stays recorded until the rename is known to be durable, whatever
    /// happens to the task meanwhile. If syncing the folder or writing the list fails, only the
    /// disk can tell after a power cut which name the complete file has. The next attempt looks
    /// there first, and so does a command that would delete the file. Dropping the intent too early
    /// caused a second copy of the file.
    case publish(name: String)
    /// Delete the partial file and keep the task.
    case discard
    /// Delete the partial file, then the task.
    case remove
}

/// Everything that is kept of a task.
///
/// Only commands, edits and events change it.
package struct TaskRecord: Hashable, Sendable {
    package let id: TaskID
    /// The serial number of the last commit that changed what clients see of the task, apart from
    /// its progress.
    package var serial: Int64 = 0
    package var request: TaskRequest
    package var state = TaskState.waiting(.queue)
    /// Tasks with a higher number start first; those with the same number start in order of ids.
    package var priority: Int32
    /// The most bytes a second; 0 for no limit.
    package var speedLimit: Int64
    /// The number of the latest transfer.
    package var attempt = AttemptNumber.none
    /// When the latest transfer started, as a place in the order of all starts.
    package var startOrder: Int64 = 0
    /// How many tries failed in the present stretch without progress.
    package var tries: UInt32 = 0
    /// The time that these tries and the waits between them took, by a clock that is never set.
    package var waited = Duration.zero
    /// Whether a host has ever answered the task.
    package var hostHasAnswered = false
    /// The number of bytes on disk when the present stretch began.
    package var stretchStart: Int64 = 0
    /// The last failure; nil after completion and after a command that restarts the task.
    package var failure: Failure?
    /// The file on disk; nil before the first answer.
    package var file: LocalFile?
    /// The server's version of the file that `segments` belong to.
    package var remote = RemoteVersion()
    package var segments = SegmentMap()
    package var intent: Intent?
    /// The move of the file to another place; nil where there is none.
    package var move: Move?
    /// How far the finished file is verified; nil before the task is completed.
    package var integrity: Integrity?
    /// The tasks for the files that this metalink lists, in its order and each once; empty for
    /// other files, and until the tasks are added.
    package var listedTasks: [TaskID] = []
    package var createdAt: WallTime
    package var finishedAt: WallTime?

    package init(
        id: TaskID,
        request: TaskRequest,
        createdAt: WallTime,
        priority: Int32 = 0,
        speedLimit: Int64 = 0
    ) {
        self.id = id
        self.request = request
        self.priority = priority
        self.speedLimit = speedLimit
        self.createdAt = createdAt
    }

    /// The name to show: the file's, or else the one from the option or the URL; never empty.
    package var displayName: String { file?.name ?? request.suggestedName }

    /// Whether a transfer is publishing the finished file.
    package var isPublishing: Bool {
        guard case .publish = intent else { return false }
        return state == .downloading
    }

    /// Whether the partial file is being deleted: nothing starts before it is gone.
    package var isDeleting: Bool { intent == .discard || intent == .remove }

    /// Whether a command has to wait until it is known whether the finished file is published.
    ///
    /// The wait takes a few milliseconds, and then the command applies to the completed task: a
    /// rename cannot be paused, and a complete file must not be deleted as a partial one. No command
    /// waits for a disk that does not answer: what the running transfer then finds out still counts,
    /// and a file that has got its name is not deleted.
    package func mustSettle(before command: Command, onStuckDisk: Bool) -> Bool {
        guard case .publish = intent, !onStuckDisk else { return false }
        return switch command {
        case .pause, .resume, .retry: state == .downloading
        case .cancel, .remove: true
        }
    }

    /// The present stretch of tries without progress.
    package var stretch: RetryPolicy.Stretch {
        RetryPolicy.Stretch(
            tries: tries,
            waited: waited,
            isHostKnown: hostHasAnswered || !segments.isEmpty,
            limit: RetryPolicy.limit(ofSeconds: request.retryFor)
        )
    }

    /// Begins a new stretch: tries and waits are counted from zero.
    mutating func beginStretch() {
        tries = 0
        waited = .zero
        stretchStart = segments.byteCount
    }

    /// The path of the finished file; nil before the task is completed.
    package var path: String? {
        guard state == .completed, let file else { return nil }
        return request.directory == "/" ? "/" + file.name : request.directory + "/" + file.name
    }
}
