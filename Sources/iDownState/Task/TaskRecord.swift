// SPDX-License-Identifier: Apache-2.0

/// The file that idown made for a task: what proves, later, that it is ours.
package struct LocalFile: Hashable, Sendable {
    /// The final name, one path element.
    ///
    /// While unfinished, the bytes stand under `partName`.
    package var name: String
    /// The number of its file system, the same each time that is mounted; 0 where it has none.
    ///
    /// It answers one question only: whether a file that is not there is gone, or its drive. The
    /// number of the device could not, because it changes when drives are found in another order.
    package var fileSystem: UInt64
    /// What tells the file from every other that may stand under its name: its inode, with the time
    /// of birth mixed in.
    ///
    /// ext4 gives the inode of a deleted file to the next file at once: without the time of birth,
    /// idown would continue a stranger's file.
    package var mark: UInt64

    package init(name: String, fileSystem: UInt64, mark: UInt64) {
        self.name = name
        self.fileSystem = fileSystem
        self.mark = mark
    }

    package static let partSuffix = ".part"

    /// The name that the file bears until it is complete.
    package var partName: String { name + Self.partSuffix }
}

/// A change to files that was committed before it is made, so that a crash leaves no half.
package enum Intent: Hashable, Sendable {
    /// Rename the partial file to this final name.
    ///
    /// The intent stays recorded until the rename is known to be durable, whatever happens to the
    /// task meanwhile. If the folder cannot be synced or the list not be written, only the disk can
    /// tell after a power cut which name the complete file has: the next attempt looks there first,
    /// and so does a verb that would delete the file. Giving the intent up too early cost a second
    /// copy of the file.
    case publish(name: String)
    /// Delete the partial file, keep the task.
    case discard
    /// Delete the partial file, then the task.
    case remove

    fileprivate var isDeletion: Bool {
        switch self {
        case .discard, .remove: true
        case .publish: false
        }
    }
}

/// All that is kept of a task.
///
/// Commands and events change it, and nothing else does.
package struct TaskRecord: Hashable, Sendable {
    package let id: TaskID
    /// The serial of the last commit that changed what clients see of the task, beside its progress.
    package var serial: Int64 = 0
    package var request: TaskRequest
    package var state = TaskState.waiting(.queue)
    /// Higher first; in the order of ids within one priority.
    package var priority: Int32
    /// The most bytes a second; 0 for no limit.
    package var speedLimit: Int64
    /// The number of the latest transfer.
    package var attempt = AttemptNumber.none
    /// When the latest transfer started, as a place in the order of all starts.
    package var startOrder: Int64 = 0
    /// Failed tries in the present stretch without progress.
    package var tries: UInt32 = 0
    /// The time that these tries and the waits between them took, by a clock that nobody sets.
    package var waited = Duration.zero
    /// Whether a host has ever answered the task.
    package var hostHasAnswered = false
    /// The bytes on disk when the count of tries was last begun anew.
    package var stretchStart: Int64 = 0
    /// The last failure; nil again once completed or restarted by a verb.
    package var failure: Failure?
    /// The file on disk; nil before the first answer.
    package var file: LocalFile?
    /// The version at the other end that `segments` belong to.
    package var remote = RemoteVersion()
    package var segments = SegmentMap()
    package var intent: Intent?
    /// The way of the file to another place; nil where it stays.
    package var move: Move?
    /// Of a completed task.
    package var integrity: Integrity?
    /// The tasks that stand for the files of this metalink, in its order and each once; empty for
    /// every other file, and until the files are added.
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

    /// The name to show: the file's, else the one that the option or the URL suggests; never empty.
    package var displayName: String { file?.name ?? request.suggestedName }

    /// Whether a transfer is just giving the finished file its name.
    package var isPublishing: Bool {
        guard case .publish = intent else { return false }
        return state == .downloading
    }

    /// Whether the partial file is being deleted: until it is gone nothing starts.
    package var isDeleting: Bool { intent?.isDeletion ?? false }

    /// Whether a verb has to wait until it is known if the finished file has its name.
    ///
    /// The wait takes a few milliseconds, and then the verb is judged against the finished task:
    /// half a rename cannot be paused, and a complete file is not deleted as a partial one.
    package func mustSettle(before command: Command) -> Bool {
        guard case .publish = intent else { return false }
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

    /// Counts tries and waits anew.
    mutating func beginStretch() {
        tries = 0
        waited = .zero
        stretchStart = segments.byteCount
    }

    /// Where the finished file stands; nil before.
    package var path: String? {
        guard state == .completed, let file else { return nil }
        return request.directory == "/" ? "/" + file.name : request.directory + "/" + file.name
    }
}
