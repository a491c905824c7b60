// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownSettings

/// What the service does behind `org.idown.Manager1` and `org.idown.Task1`.
///
/// `Connection.export(_:)` puts it on the bus. A method takes the call and then its arguments, as a
/// row of the table does. Ids arrive as the client wrote them: an id, or the path of a task's object
/// as text. A text that means no task must be answered with `NoSuchTask`. Every method returns after
/// the change is durable and announced. It may throw any error: ``named(_:)`` says what the caller is
/// told.
package protocol ManagerHandling: Sendable {
    /// Adds a download; AddURL comes here without options.
    ///
    /// It must return at once, because calls come by the thousand and no task waits for each.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - answer: Takes the task's id or the error; called exactly once, on any thread.
    ///   - url: The URL as the client gave it.
    ///   - options: The options, decoded.
    func addURL(
        _ call: Call,
        _ answer: @escaping Answer<String>,
        _ url: String,
        _ options: AddOptions
    )

    /// Adds all URLs together or none; with more than one URL, the options hold nothing that is for
    /// one file.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - answer: Takes one id per URL, in the same order, or the error of the first bad URL or of
    ///     the options; called exactly once, on any thread.
    ///   - urls: The URLs as the client gave them.
    ///   - options: The options, decoded.
    func addURLs(
        _ call: Call,
        _ answer: @escaping Answer<[String]>,
        _ urls: [String],
        _ options: AddOptions
    )

    /// Adds all downloads, each with its own options, together or none.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - downloads: The downloads, decoded.
    /// - Returns: One id per download, in the same order.
    /// - Throws: The error of the first bad download, with its place.
    func addMany(_ call: Call, _ downloads: [NewDownload]) async throws -> [String]

    /// Adds all files that a metalink of this machine lists, or none.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - path: The path as the client gave it.
    ///   - options: The options for every file, without those for a single file.
    /// - Returns: One id per file, in the order of the metalink.
    /// - Throws: `AccessDenied` for a sandboxed caller, and what `addURLs` throws.
    func addMetalink(_ call: Call, _ path: String, _ options: AddOptions) async throws -> [String]

    /// Asks a server about a file, takes none of it and adds nothing.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - url: The URL as the client gave it.
    ///   - options: The options with which it would be added.
    /// - Returns: What the server says.
    /// - Throws: `AccessDenied` for a sandboxed caller; `RequestFailed`; `LimitExceeded`.
    func probe(_ call: Call, _ url: String, _ options: AddOptions) async throws -> ProbedFile

    /// Adds a download that a browser holds, as provisional, if the server answers idown as it has
    /// answered the browser.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - answer: Takes the task's id or the error; called exactly once, on any thread.
    ///   - url: The URL as the client gave it.
    ///   - options: The options, decoded; they have a token.
    func handOver(
        _ call: Call,
        _ answer: @escaping Answer<String>,
        _ url: String,
        _ options: HandOverOptions
    )

    /// Makes what was handed over a task like any other, and returns its id.
    ///
    /// - Throws: `NoSuchTask` for a token that is unknown, or was withdrawn.
    func confirm(_ call: Call, _ token: String) async throws -> String

    /// Takes away what was handed over, for ever.
    func withdraw(_ call: Call, _ token: String) async throws

    /// Adds what a person opened, all of it or nothing: URLs, `idown:` links and local metalinks.
    func open(_ call: Call, _ uris: [String]) async throws

    /// Shows the list to a person who started the program without naming a URL.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - token: The activation token of what was clicked, which lets a window take the focus;
    ///     empty for none.
    func activate(_ call: Call, token: String) async

    /// Carries out a method on a task.
    func carryOut(_ call: Call, _ method: TaskMethod, on id: String) async throws

    /// Carries out a method on several tasks in one commit, and returns how many changed.
    ///
    /// - Throws: `NoSuchTask` if an id is unknown; nothing may have changed then.
    func carryOut(
        _ call: Call,
        _ method: TaskMethod,
        onEach ids: [String]
    ) async throws -> UInt32

    /// Removes several tasks from the list; finished files stay or go to the trash.
    func removeTasks(
        _ call: Call,
        _ ids: [String],
        _ options: RemoveOptions
    ) async throws -> UInt32

    /// Carries out a method on all tasks that it is meant for, in one commit, and returns how many
    /// changed.
    ///
    /// Resume is meant for all paused and failed tasks, pause for all waiting and downloading ones,
    /// remove for all completed ones, and each other method for none.
    func carryOutOnAll(_ call: Call, _ method: TaskMethod) async throws -> UInt32

    /// Gives a task a fresh link; its bytes are kept if the link leads to the same file.
    func setURL(_ call: Call, of id: String, to url: String) async throws

    /// Changes options of a task, all of them or none.
    func setOptions(_ call: Call, of id: String, _ options: EditOptions) async throws

    /// Reads a finished file again, and returns the word for what is known of it then.
    func verify(_ call: Call, _ id: String) async throws -> String

    /// Opens the file of a task for reading; for a sandboxed caller, a pipe with its bytes.
    func openFile(_ call: Call, of id: String) async throws -> OpenDescriptor

    /// Sets a property of a task that can be written, to a value of its type and within its range.
    func set(
        _ call: Call,
        _ property: TaskProperty,
        of id: String,
        to value: Value
    ) async throws

    /// Changes the place of a task in the queue.
    func setPriority(_ call: Call, of id: String, to priority: Int32) async throws

    /// Returns one task.
    func getTask(_ call: Call, _ id: String) async throws -> TaskProperties

    /// Returns some tasks in the order of their ids in the call; unknown ids are left out.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - ids: The ids.
    ///   - properties: What to tell of each task; an empty array means all.
    /// - Returns: The tasks.
    /// - Throws: `LimitExceeded` if the tasks are too many for an answer.
    func getTasks(
        _ call: Call,
        _ ids: [String],
        _ properties: [TaskProperty]
    ) async throws -> TaskListing

    /// Returns all tasks in the order in which they were added.
    ///
    /// - Throws: `LimitExceeded` if the list is too long for an answer.
    func listTasks(_ call: Call) async throws -> TaskListing

    /// Returns one page of the tasks that match a query, and how many match in all.
    ///
    /// - Throws: `LimitExceeded` if the page is too long for an answer.
    func findTasks(
        _ call: Call,
        _ query: TaskQuery
    ) async throws -> (page: TaskListing, total: UInt32)

    /// Returns one page of the tasks that changed and were removed after a serial.
    ///
    /// - Throws: `LimitExceeded` for a serial whose changes are not known: the client lists anew.
    func changes(
        _ call: Call,
        since serial: UInt64,
        _ query: ChangesQuery
    ) async throws -> ChangesPage

    /// Waits until a task is completed, failed, cancelled or removed, and returns the word for it.
    func wait(_ call: Call, for id: String) async throws -> String

    /// Returns why a task makes no progress, one text per reason; empty for a task that makes
    /// progress or is completed.
    func explain(_ call: Call, _ id: String) async throws -> [String]

    /// Returns why a task makes no progress, as codes with the values of which the texts of
    /// `explain` are made.
    func explainCodes(_ call: Call, _ id: String) async throws -> [TaskReason]

    /// Returns what has happened in the attempts of a task that is not completed, the oldest first.
    func history(_ call: Call, of id: String) async throws -> [HistoryEntry]

    /// Returns the connections that a task has open, the oldest first.
    func connections(_ call: Call, of id: String) async throws -> [[String: Value]]

    /// Has a client hear of the tasks' objects, until it leaves the bus or says otherwise.
    func watchObjects(_ call: Call) async

    /// A client wants to hear of objects no more.
    func unwatchObjects(_ call: Call) async

    /// Returns whether a task has this id.
    func hasTask(_ id: String) async throws -> Bool

    /// Returns the ids of all tasks, in the order in which they were added.
    func taskIDs() async throws -> [String]

    /// Saves everything and ends the service.
    func quit(_ call: Call) async throws

    /// The version of the service, as text for people.
    var version: String { get }

    /// Returns the value of a setting, without a password.
    ///
    /// - Throws: `AccessDenied` for a sandboxed caller and a setting of `org.idown.Settings1`.
    func value(_ call: Call, of setting: Setting) async throws -> Setting.Content

    /// Changes a setting to a value that the setting allows; only settings that are not read-only
    /// come here.
    ///
    /// - Throws: `AccessDenied` for a sandboxed caller; `InvalidDestination` for a download folder
    ///   that the option `directory` would refuse; `StoreFailed`.
    func set(_ call: Call, _ setting: Setting, to content: Setting.Content) async throws

    /// How many tasks are in the list, how many are waiting, and how many are downloading.
    var counts: (all: UInt32, waiting: UInt32, active: UInt32) { get async throws }

    /// Which list this is, and the serial of its newest commit that changed tasks.
    var position: (list: String, serial: UInt64) { get async throws }

    /// The speed of all tasks together, in bytes per second.
    var speed: UInt64 { get async }

    /// Returns what a client is told of an error that a method has thrown.
    func named(_ error: any Error) -> ManagerError

    // MARK: What is at hand
    // These are asked first, on the connection's executor, because clients ask all the time and a
    // task for each call costs more than the answer. Nil means that something has to be waited for.

    /// Returns a task.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - id: The id.
    ///   - isObject: Whether the task's object is asked: its caller is to hear of objects then.
    /// - Returns: The task, or nil.
    func taskNow(_ call: Call, _ id: String, isObject: Bool) -> TaskProperties?

    /// Returns the value of a setting, without a password, or nil.
    func valueNow(of setting: Setting) -> Setting.Content?

    /// What ``counts`` tells, or nil.
    var countsNow: (all: UInt32, waiting: UInt32, active: UInt32)? { get }
}
