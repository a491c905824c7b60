// SPDX-License-Identifier: Apache-2.0

public import DBus

/// What the service does behind `org.idown.Manager1` and `org.idown.Task1`; `Connection.export` puts
/// it on the bus.
///
/// Ids come as the client meant them, an object path already reduced to its id; a text that names
/// no task is answered with `NoSuchTask`. Every method returns once the change is durable and
/// announced.
public protocol ManagerHandling: Sendable {
    /// Adds a download; AddURL comes here without options.
    ///
    /// It returns at once: calls come by the thousand, and nothing waits for each.
    ///
    /// - Parameters:
    ///   - url: As the client gave it.
    ///   - options: As the client gave them.
    ///   - call: The call.
    ///   - answer: Called once, on any thread, with the task's id.
    func addURL(
        _ url: String,
        options: AddOptions,
        call: Call,
        answer: @escaping @Sendable (Result<String, ManagerError>) -> Void
    )

    /// Adds all of the URLs or none; with more than one there is nothing among the options
    /// that is for one file.
    ///
    /// - Returns: An id a URL, in the same order.
    func addURLs(
        _ urls: [String],
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> [String]

    /// Adds what a person opened, all of it or nothing: URLs, `idown:` links, local metalinks.
    func open(_ uris: [String], call: Call) async throws(ManagerError)

    /// Does what is left to do where a person starts the program and names nothing.
    func activate(call: Call) async throws(ManagerError)

    /// Stops a task and keeps its bytes.
    func pause(_ id: String, call: Call) async throws(ManagerError)

    /// Puts a task back into the queue.
    func resume(_ id: String, call: Call) async throws(ManagerError)

    /// As resume; also ends a back-off and downloads a completed file again.
    func retry(_ id: String, call: Call) async throws(ManagerError)

    /// Stops a task and deletes its partial data.
    func cancel(_ id: String, call: Call) async throws(ManagerError)

    /// Takes a task off the list; a finished file stays.
    func remove(_ id: String, call: Call) async throws(ManagerError)

    /// Puts all that is paused or failed back into the queue, and counts it.
    func startAll(call: Call) async throws(ManagerError) -> UInt32

    /// Pauses all that waits or downloads, and counts it.
    func pauseAll(call: Call) async throws(ManagerError) -> UInt32

    /// Puts a selection back into the queue, in one commit, and counts those that it changed.
    ///
    /// - Throws: `NoSuchTask` where one is not there; nothing has changed then.
    func startTasks(_ ids: [String], call: Call) async throws(ManagerError) -> UInt32

    /// Pauses a selection, likewise.
    func pauseTasks(_ ids: [String], call: Call) async throws(ManagerError) -> UInt32

    /// Cancels a selection, likewise.
    func cancelTasks(_ ids: [String], call: Call) async throws(ManagerError) -> UInt32

    /// Takes a selection off the list, likewise; finished files stay or go to the trash.
    func removeTasks(
        _ ids: [String],
        options: RemoveOptions,
        call: Call
    ) async throws(ManagerError) -> UInt32

    /// Takes all completed tasks off the list, and counts them.
    func clearCompleted(call: Call) async throws(ManagerError) -> UInt32

    /// Gives a task a fresh link in place of one that expired; its bytes are kept where they
    /// prove to be the same file's.
    func setURL(_ id: String, to url: String, call: Call) async throws(ManagerError)

    /// Changes a task's most bytes per second; within ``Contract/speedLimit``.
    func setSpeedLimit(
        _ limit: UInt64,
        of id: String,
        call: Call
    ) async throws(ManagerError)

    /// Changes a task's most connections; within ``Contract/maxConnections``.
    func setMaxConnections(
        _ count: UInt32,
        of id: String,
        call: Call
    ) async throws(ManagerError)

    /// Gives a task another place in the queue.
    func setPriority(
        _ priority: Int32,
        of id: String,
        call: Call
    ) async throws(ManagerError)

    /// One task.
    func getTask(_ id: String, call: Call) async throws(ManagerError) -> TaskProperties

    /// All tasks in the order of adding.
    ///
    /// - Throws: `LimitExceeded` where the list would be too long for an answer.
    func listTasks(call: Call) async throws(ManagerError) -> TaskListing

    /// One page of the tasks that are looked for, and how many there are in all.
    ///
    /// - Throws: `LimitExceeded` where the page would be too long for an answer.
    func findTasks(
        _ query: TaskQuery,
        call: Call
    ) async throws(ManagerError) -> (page: TaskListing, total: UInt32)

    /// Returns once the task is completed, failed, cancelled or removed, with the word for it.
    func wait(for id: String, call: Call) async throws(ManagerError) -> String

    /// Why a task does not move, a sentence a reason; empty where it does or is completed.
    func explain(_ id: String, call: Call) async throws(ManagerError) -> [String]

    /// Whether there is a task with this id.
    func hasTask(_ id: String) async throws(ManagerError) -> Bool

    /// The ids of all tasks, in the order of adding.
    func taskIDs() async throws(ManagerError) -> [String]

    /// Saves everything and ends the service.
    func quit(call: Call) async throws(ManagerError)

    /// The service's version, for people.
    var version: String { get }

    /// How many tasks download at once.
    var maxConcurrentDownloads: UInt32 { get async throws(ManagerError) }

    /// Changes how many tasks download at once; within ``Contract/concurrentDownloads``.
    func setMaxConcurrentDownloads(_ count: UInt32, call: Call) async throws(ManagerError)

    /// How many connections a task may open that says nothing of its own.
    var maxConnectionsPerDownload: UInt32 { get async throws(ManagerError) }

    /// Changes how many connections a task may open; within ``Contract/connections``.
    func setMaxConnectionsPerDownload(_ count: UInt32, call: Call) async throws(ManagerError)

    /// The most bytes per second over all tasks; 0 for no limit.
    var speedLimit: UInt64 { get async throws(ManagerError) }

    /// Changes the most bytes per second over all tasks; within ``Contract/speedLimit``.
    func setSpeedLimit(_ limit: UInt64, call: Call) async throws(ManagerError)

    /// Where downloads go that name no folder.
    var downloadDirectory: String { get async throws(ManagerError) }

    /// Changes where downloads go that name no folder.
    ///
    /// - Throws: `InvalidArgs` for a path that is not absolute, `InvalidDestination` for a folder
    ///   that the option `directory` would not take either.
    func setDownloadDirectory(_ path: String, call: Call) async throws(ManagerError)

    /// Whether downloads wait for a network that is not metered.
    var holdOnMetered: Bool { get async throws(ManagerError) }

    /// Changes whether downloads wait for a network that is not metered.
    func setHoldOnMetered(_ holds: Bool, call: Call) async throws(ManagerError)

    /// Whether downloads wait while the battery is low.
    var holdOnLowBattery: Bool { get async throws(ManagerError) }

    /// Changes whether downloads wait while the battery is low.
    func setHoldOnLowBattery(_ holds: Bool, call: Call) async throws(ManagerError)

    /// How many days a completed task stays in the list; 0 is for ever.
    var keepCompleted: UInt32 { get async throws(ManagerError) }

    /// Changes how long completed tasks stay in the list.
    func setKeepCompleted(_ days: UInt32, call: Call) async throws(ManagerError)

    /// How many tasks are in the list.
    var taskCount: UInt32 { get async throws(ManagerError) }

    /// How many tasks wait.
    var waitingCount: UInt32 { get async throws(ManagerError) }

    /// How many tasks download.
    var activeCount: UInt32 { get async throws(ManagerError) }

    /// Bytes per second over all tasks.
    var speed: UInt64 { get async throws(ManagerError) }
}
