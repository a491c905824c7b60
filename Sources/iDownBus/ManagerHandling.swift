// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownSettings

/// What the service does behind `org.idown.Manager1` and `org.idown.Task1`.
///
/// `Connection.export(_:)` puts it on the bus. Ids arrive as the client meant them: an object path
/// is already reduced to its id. A text that is not the id of a task must be answered with
/// `NoSuchTask`. Every method returns after the change is durable and announced.
package protocol ManagerHandling: Sendable {
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

    /// Adds all downloads, each with its own options, together or none.
    ///
    /// - Parameters:
    ///   - downloads: The downloads, decoded.
    ///   - call: The call.
    /// - Returns: One id per download, in the same order.
    /// - Throws: The error of the first bad download, with its place.
    func addMany(_ downloads: [NewDownload], call: Call) async throws(ManagerError) -> [String]

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

    /// Asks a server about a file, takes none of it and adds nothing.
    ///
    /// - Parameters:
    ///   - url: The URL as the client gave it.
    ///   - options: The options with which it would be added.
    ///   - call: The call.
    /// - Returns: What the server says.
    /// - Throws: `AccessDenied` for a sandboxed caller; `RequestFailed`; `LimitExceeded`.
    func probe(
        _ url: String,
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> ProbedFile

    /// Adds a download that a browser holds, as provisional, if the server answers idown as it has
    /// answered the browser.
    ///
    /// - Parameters:
    ///   - url: The URL as the client gave it.
    ///   - options: The options, decoded; they have a token.
    ///   - call: The call.
    ///   - answer: Takes the task's id or the error; called exactly once, on any thread.
    func handOver(
        _ url: String,
        options: HandOverOptions,
        call: Call,
        answer: @escaping @Sendable (Result<String, ManagerError>) -> Void
    )

    /// Makes what was handed over a task like any other, and returns its id.
    ///
    /// - Throws: `NoSuchTask` for a token that is unknown, or was withdrawn.
    func confirm(_ token: String, call: Call) async throws(ManagerError) -> String

    /// Takes away what was handed over, for ever.
    func withdraw(_ token: String, call: Call) async throws(ManagerError)

    /// Adds what a person opened, all of it or nothing: URLs, `idown:` links and local metalinks.
    func open(_ uris: [String], call: Call) async throws(ManagerError)

    /// Shows the list to a person who started the program without naming a URL.
    ///
    /// - Parameters:
    ///   - token: The activation token of what was clicked, which lets a window take the focus;
    ///     empty for none.
    ///   - call: The call.
    /// - Throws: nothing that callers must expect.
    func activate(token: String, call: Call) async throws(ManagerError)

    /// Carries out a method on a task.
    func carryOut(_ method: TaskMethod, on id: String, call: Call) async throws(ManagerError)

    /// Carries out a method on several tasks in one commit, and returns how many changed.
    ///
    /// - Throws: `NoSuchTask` if an id is unknown; nothing may have changed then.
    func carryOut(
        _ method: TaskMethod,
        onEach ids: [String],
        call: Call
    ) async throws(ManagerError) -> UInt32

    /// Removes several tasks from the list; finished files stay or go to the trash.
    func removeTasks(
        _ ids: [String],
        options: RemoveOptions,
        call: Call
    ) async throws(ManagerError) -> UInt32

    /// Carries out a method on all tasks that it is meant for, in one commit, and returns how many
    /// changed.
    ///
    /// Resume is meant for all paused and failed tasks, pause for all waiting and downloading ones,
    /// remove for all completed ones, and each other method for none.
    func carryOutOnAll(_ method: TaskMethod, call: Call) async throws(ManagerError) -> UInt32

    /// Gives a task a fresh link; its bytes are kept if the link leads to the same file.
    func setURL(_ id: String, to url: String, call: Call) async throws(ManagerError)

    /// Changes options of a task, all of them or none.
    func setOptions(
        _ options: EditOptions,
        of id: String,
        call: Call
    ) async throws(ManagerError)

    /// Reads a finished file again, and returns the word for what is known of it then.
    func verify(_ id: String, call: Call) async throws(ManagerError) -> String

    /// Opens the file of a task for reading; for a sandboxed caller, a pipe with its bytes.
    func openFile(_ id: String, call: Call) async throws(ManagerError) -> OpenDescriptor

    /// Sets a property of a task that can be written, to a value of its type and within its range.
    func set(
        _ property: TaskProperty,
        of id: String,
        to value: Value,
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

    /// Returns some tasks in the order of their ids in the call; unknown ids are left out.
    ///
    /// - Parameters:
    ///   - ids: The ids.
    ///   - properties: What to tell of each task; an empty array means all.
    ///   - call: The call.
    /// - Returns: The tasks.
    /// - Throws: `LimitExceeded` if the tasks are too many for an answer.
    func getTasks(
        _ ids: [String],
        of properties: [TaskProperty],
        call: Call
    ) async throws(ManagerError) -> TaskListing

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

    /// Returns one page of the tasks that changed and were removed after a serial.
    ///
    /// - Throws: `LimitExceeded` for a serial whose changes are not known: the client lists anew.
    func changes(
        since serial: UInt64,
        _ query: ChangesQuery,
        call: Call
    ) async throws(ManagerError) -> ChangesPage

    /// Waits until a task is completed, failed, cancelled or removed, and returns the word for it.
    func wait(for id: String, call: Call) async throws(ManagerError) -> String

    /// Returns why a task makes no progress, one text per reason; empty for a task that makes
    /// progress or is completed.
    func explain(_ id: String, call: Call) async throws(ManagerError) -> [String]

    /// Returns why a task makes no progress, as codes with the values of which the texts of
    /// `explain` are made.
    func explainCodes(_ id: String, call: Call) async throws(ManagerError) -> [TaskReason]

    /// Returns what has happened in the attempts of a task that is not completed, the oldest first.
    func history(of id: String, call: Call) async throws(ManagerError) -> [HistoryEntry]

    /// Returns the connections that a task has open, the oldest first.
    func connections(of id: String, call: Call) async throws(ManagerError) -> [[String: Value]]

    /// Has a client hear of the tasks' objects, until it leaves the bus or says otherwise.
    func watchObjects(call: Call) async

    /// A client wants to hear of objects no more.
    func unwatchObjects(call: Call) async

    /// Returns whether a task has this id.
    func hasTask(_ id: String) async throws(ManagerError) -> Bool

    /// Returns the ids of all tasks, in the order in which they were added.
    func taskIDs() async throws(ManagerError) -> [String]

    /// Saves everything and ends the service.
    func quit(call: Call) async throws(ManagerError)

    /// The version of the service, as text for people.
    var version: String { get }

    /// Returns the value of a setting, without a password.
    ///
    /// - Throws: `AccessDenied` for a sandboxed caller and a setting of `org.idown.Settings1`.
    func value(of setting: Setting, call: Call) async throws(ManagerError) -> Setting.Content

    /// Changes a setting to a value that the setting allows; only settings that are not read-only
    /// come here.
    ///
    /// - Throws: `AccessDenied` for a sandboxed caller; `InvalidDestination` for a download folder
    ///   that the option `directory` would refuse; `StoreFailed`.
    func set(
        _ setting: Setting,
        to content: Setting.Content,
        call: Call
    ) async throws(ManagerError)

    /// How many tasks are in the list, how many are waiting, and how many are downloading.
    var counts: (all: UInt32, waiting: UInt32, active: UInt32) {
        get async throws(ManagerError)
    }

    /// Which list this is, and the serial of its newest commit that changed tasks.
    var position: (list: String, serial: UInt64) { get async throws(ManagerError) }

    /// The speed of all tasks together, in bytes per second.
    var speed: UInt64 { get async throws(ManagerError) }
}
