// SPDX-License-Identifier: Apache-2.0

public import DBus

/// What the service does behind `org.idown.Manager1` and `org.idown.Task1`.
///
/// `Connection.export(_:)` puts it on the bus. Ids arrive as the client meant them: an object path
/// is already reduced to its id. A text that is not the id of a task must be answered with
/// `NoSuchTask`. Every method returns after the change is durable and announced.
public protocol ManagerHandling: Sendable {
    /// Adds a download; AddURL comes here without options.
    ///
    /// It must return at once, because calls come by the thousand and no task waits for each.
    ///
    /// - Parameters:
    ///   - url: The URL as the client gave it.
    ///   - options: The options, decoded.
    ///   - call: The call.
    ///   - answer: Takes the task's id or the error; called exactly once, on any thread.
    func addURL(
        _ url: String,
        options: AddOptions,
        call: Call,
        answer: @escaping @Sendable (Result<String, ManagerError>) -> Void
    )

    /// Adds all URLs together or none; with more than one URL, the options hold nothing that is for
    /// one file.
    ///
    /// - Parameters:
    ///   - urls: The URLs as the client gave them.
    ///   - options: The options, decoded.
    ///   - call: The call.
    /// - Returns: One id per URL, in the same order.
    /// - Throws: The error of the first bad URL, or of the options.
    func addURLs(
        _ urls: [String],
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> [String]

    /// Adds all files that a metalink of this machine lists, or none.
    ///
    /// - Parameters:
    ///   - path: The path as the client gave it.
    ///   - options: The options for every file, without those for a single file.
    ///   - call: The call.
    /// - Returns: One id per file, in the order of the metalink.
    /// - Throws: `AccessDenied` for a sandboxed caller, and what `addURLs` throws.
    func addMetalink(
        at path: String,
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> [String]

    /// Adds what a person opened, all of it or nothing: URLs, `idown:` links and local metalinks.
    func open(_ uris: [String], call: Call) async throws(ManagerError)

    /// Shows the state of the list to a person who started the program without naming a URL.
    func activate(call: Call) async throws(ManagerError)

    /// Stops a task and keeps its bytes.
    func pause(_ id: String, call: Call) async throws(ManagerError)

    /// Puts a task back into the queue.
    func resume(_ id: String, call: Call) async throws(ManagerError)

    /// Does what resume does; also ends a back-off, and downloads a completed file again.
    func retry(_ id: String, call: Call) async throws(ManagerError)

    /// Stops a task and deletes its partial file.
    func cancel(_ id: String, call: Call) async throws(ManagerError)

    /// Removes a task from the list; a finished file stays.
    func remove(_ id: String, call: Call) async throws(ManagerError)

    /// Puts every paused or failed task back into the queue, and returns how many changed.
    func startAll(call: Call) async throws(ManagerError) -> UInt32

    /// Pauses every waiting or downloading task, and returns how many changed.
    func pauseAll(call: Call) async throws(ManagerError) -> UInt32

    /// Resumes several tasks in one commit, and returns how many changed.
    ///
    /// - Throws: `NoSuchTask` if an id is unknown; nothing may have changed then.
    func startTasks(_ ids: [String], call: Call) async throws(ManagerError) -> UInt32

    /// Pauses several tasks as ``startTasks(_:call:)`` resumes them.
    func pauseTasks(_ ids: [String], call: Call) async throws(ManagerError) -> UInt32

    /// Cancels several tasks as ``startTasks(_:call:)`` resumes them.
    func cancelTasks(_ ids: [String], call: Call) async throws(ManagerError) -> UInt32

    /// Removes several tasks from the list; finished files stay or go to the trash.
    func removeTasks(
        _ ids: [String],
        options: RemoveOptions,
        call: Call
    ) async throws(ManagerError) -> UInt32

    /// Removes all completed tasks from the list, and returns how many.
    func clearCompleted(call: Call) async throws(ManagerError) -> UInt32

    /// Gives a task a fresh link; its bytes are kept if the link leads to the same file.
    func setURL(_ id: String, to url: String, call: Call) async throws(ManagerError)

    /// Sets the speed limit of a task, in bytes per second, within ``Contract/speedLimit``.
    func setSpeedLimit(
        _ limit: UInt64,
        of id: String,
        call: Call
    ) async throws(ManagerError)

    /// Sets how many connections a task may open, within ``Contract/maxConnections``.
    func setMaxConnections(
        _ count: UInt32,
        of id: String,
        call: Call
    ) async throws(ManagerError)

    /// Changes the place of a task in the queue.
    func setPriority(
        _ priority: Int32,
        of id: String,
        call: Call
    ) async throws(ManagerError)

    /// Returns one task.
    func getTask(_ id: String, call: Call) async throws(ManagerError) -> TaskProperties

    /// Returns all tasks in the order in which they were added.
    ///
    /// - Throws: `LimitExceeded` if the list is too long for an answer.
    func listTasks(call: Call) async throws(ManagerError) -> TaskListing

    /// Returns one page of the tasks that match a query, and how many match in all.
    ///
    /// - Throws: `LimitExceeded` if the page is too long for an answer.
    func findTasks(
        _ query: TaskQuery,
        call: Call
    ) async throws(ManagerError) -> (page: TaskListing, total: UInt32)

    /// Waits until a task is completed, failed, cancelled or removed, and returns the word for it.
    func wait(for id: String, call: Call) async throws(ManagerError) -> String

    /// Returns why a task makes no progress, one text per reason; empty for a task that makes
    /// progress or is completed.
    func explain(_ id: String, call: Call) async throws(ManagerError) -> [String]

    /// Returns what has happened in the attempts of a task that is not completed, the oldest first.
    func history(of id: String, call: Call) async throws(ManagerError) -> [HistoryEntry]

    /// Returns the connections that a task has open, the oldest first.
    func connections(of id: String, call: Call) async throws(ManagerError) -> [[String: Value]]

    /// Returns whether a task has this id.
    func hasTask(_ id: String) async throws(ManagerError) -> Bool

    /// Returns the ids of all tasks, in the order in which they were added.
    func taskIDs() async throws(ManagerError) -> [String]

    /// Saves everything and ends the service.
    func quit(call: Call) async throws(ManagerError)

    /// The version of the service, as text for people.
    var version: String { get }

    /// How many tasks may download at once.
    var maxConcurrentDownloads: UInt32 { get async throws(ManagerError) }

    /// Sets how many tasks may download at once, within ``Contract/concurrentDownloads``.
    func setMaxConcurrentDownloads(_ count: UInt32, call: Call) async throws(ManagerError)

    /// How many connections a task may open unless it has its own limit.
    var maxConnectionsPerDownload: UInt32 { get async throws(ManagerError) }

    /// Sets how many connections a task may open unless it has its own limit, within
    /// ``Contract/connections``.
    func setMaxConnectionsPerDownload(_ count: UInt32, call: Call) async throws(ManagerError)

    /// The most bytes per second of all tasks together; 0 means no limit.
    var speedLimit: UInt64 { get async throws(ManagerError) }

    /// Sets the most bytes per second of all tasks together, within ``Contract/speedLimit``.
    func setSpeedLimit(_ limit: UInt64, call: Call) async throws(ManagerError)

    /// The folder for downloads that name no folder.
    var downloadDirectory: String { get async throws(ManagerError) }

    /// Sets the folder for downloads that name no folder.
    ///
    /// - Throws: `InvalidArgs` for a relative path; `InvalidDestination` for a folder that the
    ///   option `directory` would refuse.
    func setDownloadDirectory(_ path: String, call: Call) async throws(ManagerError)

    /// Whether downloads wait while the network is metered.
    var holdOnMetered: Bool { get async throws(ManagerError) }

    /// Sets whether downloads wait while the network is metered.
    func setHoldOnMetered(_ holds: Bool, call: Call) async throws(ManagerError)

    /// Whether downloads wait while the battery is low.
    var holdOnLowBattery: Bool { get async throws(ManagerError) }

    /// Sets whether downloads wait while the battery is low.
    func setHoldOnLowBattery(_ holds: Bool, call: Call) async throws(ManagerError)

    /// How many days a completed task stays in the list; 0 means forever.
    var keepCompleted: UInt32 { get async throws(ManagerError) }

    /// Sets how many days a completed task stays in the list; 0 means forever.
    func setKeepCompleted(_ days: UInt32, call: Call) async throws(ManagerError)

    /// How many tasks are in the list.
    var taskCount: UInt32 { get async throws(ManagerError) }

    /// How many tasks are waiting.
    var waitingCount: UInt32 { get async throws(ManagerError) }

    /// How many tasks are downloading.
    var activeCount: UInt32 { get async throws(ManagerError) }

    /// The speed of all tasks together, in bytes per second.
    var speed: UInt64 { get async throws(ManagerError) }
}
