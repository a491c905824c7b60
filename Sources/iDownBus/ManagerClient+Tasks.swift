// SPDX-License-Identifier: Apache-2.0

public import DBus

extension ManagerClient {
    private typealias Name = Contract.Method

    /// Adds a download and starts it, unless `options` say otherwise.
    ///
    /// If an unfinished task has the same URL, the same folder and, if given, the same file name,
    /// that task is resumed instead; the other options are then ignored.
    ///
    /// - Parameters:
    ///   - url: An http, https, ftp, ftps or sftp URL of at most ``Contract/maximumURLBytes``
    ///     bytes.
    ///   - options: The options; the service decides about those that are not set.
    /// - Returns: The task's id.
    /// - Throws: `InvalidURL`, `UnsupportedScheme`, `InvalidOption`, `InvalidDestination`,
    ///   `FileExists`, `StoreFailed`, `LimitExceeded`.
    public func addURL(
        _ url: String,
        options: AddOptions = AddOptions()
    ) async throws(ManagerError) -> String {
        try await call(Name.addURLWithOptions, url, options.dictionary, returning: String.self)
    }

    /// Adds all URLs or none, in one durable commit.
    ///
    /// - Parameters:
    ///   - urls: At most ``Contract/maximumURLs`` URLs.
    ///   - options: The options for every URL; ``AddOptions/token`` applies to the whole call. With
    ///     more than one URL, `filename`, `checksum`, `mirrors` and `expectedSize` are refused.
    /// - Returns: One id per URL, in the same order.
    /// - Throws: The errors of ``addURL(_:options:)``; the text names a bad URL by its position,
    ///   counted from 1.
    public func addURLs(
        _ urls: [String],
        options: AddOptions = AddOptions()
    ) async throws(ManagerError) -> [String] {
        try await call(Name.addURLs, urls, options.dictionary, returning: [String].self)
    }

    /// Adds all downloads, each with its own options, or none, in one durable commit.
    ///
    /// - Parameter downloads: At most ``Contract/maximumURLs``. Each may have a token of its own.
    /// - Returns: One id per download, in the same order.
    /// - Throws: The errors of ``addURL(_:options:)``; the text names a bad download by its position,
    ///   counted from 1. `UnknownMethod` from a service without ``Capability/addMany``.
    public func addMany(_ downloads: [NewDownload]) async throws(ManagerError) -> [String] {
        try await call(Name.addMany, downloads.map(\.dictionary), returning: [String].self)
    }

    /// Adds all files that a local metalink lists, or none.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the metalink, whose name ends in `.meta4` or `.metalink`.
    ///   - options: The options for every file. `filename`, `checksum`, `mirrors` and
    ///     `expected-size` are refused, because the metalink has its own.
    /// - Returns: One id per file, in the order of the metalink.
    /// - Throws: `InvalidURL` if the file cannot be read or is not a metalink; `AccessDenied` from
    ///   a sandbox; otherwise the errors of ``addURLs(_:options:)``.
    public func addMetalink(
        at path: String,
        options: AddOptions = AddOptions()
    ) async throws(ManagerError) -> [String] {
        try await call(Name.addMetalink, path, options.dictionary, returning: [String].self)
    }

    /// Asks a server about a file without adding it, with one request and its redirects.
    ///
    /// - Parameters:
    ///   - url: The URL, as for ``addURL(_:options:)``.
    ///   - options: The options of a download; only `headers`, `cookies`, `referrer`, `userAgent`
    ///     and `filename` matter here.
    /// - Returns: The server's description of the file.
    /// - Throws: `RequestFailed`, whose text begins with an ErrorCode such as `Server.NotFound`;
    ///   `AccessDenied` from a sandbox; `InvalidURL`, `UnsupportedScheme`, `InvalidOption`,
    ///   `LimitExceeded`.
    public func probe(
        _ url: String,
        options: AddOptions = AddOptions()
    ) async throws(ManagerError) -> ProbedFile {
        ProbedFile(
            try await call(
                Name.probe,
                url,
                options.dictionary,
                returning: [String: Value].self,
                // The service itself waits up to a minute.
                patience: .seconds(90)
            )
        )
    }

    /// Stops a waiting or downloading task; the bytes on disk are kept.
    ///
    /// - Throws: `NoSuchTask`; `InvalidState` for a failed, completed or cancelled task.
    public func pause(_ id: String) async throws(ManagerError) {
        try await call(TaskMethod.pause.memberName, id)
    }

    /// Puts a paused, failed or cancelled task back into the queue.
    ///
    /// - Throws: `NoSuchTask`; `InvalidState` for a completed task.
    public func resume(_ id: String) async throws(ManagerError) {
        try await call(TaskMethod.resume.memberName, id)
    }

    /// Does what ``resume(_:)`` does; also ends a back-off, and downloads a completed file again.
    ///
    /// - Throws: `NoSuchTask`.
    public func retry(_ id: String) async throws(ManagerError) {
        try await call(TaskMethod.retry.memberName, id)
    }

    /// Stops a task and deletes its partial file; the task stays in the list.
    ///
    /// - Throws: `NoSuchTask`; `InvalidState` for a completed task.
    public func cancel(_ id: String) async throws(ManagerError) {
        try await call(TaskMethod.cancel.memberName, id)
    }

    /// Removes a task from the list and deletes its partial file; a finished file stays.
    ///
    /// - Throws: `NoSuchTask`.
    public func remove(_ id: String) async throws(ManagerError) {
        try await call(TaskMethod.remove.memberName, id)
    }

    /// Puts every paused or failed task back into the queue.
    ///
    /// - Returns: How many tasks changed.
    public func startAll() async throws(ManagerError) -> UInt32 {
        try await call(Name.startAll, returning: UInt32.self)
    }

    /// Pauses every waiting or downloading task.
    ///
    /// - Returns: How many tasks changed.
    public func pauseAll() async throws(ManagerError) -> UInt32 {
        try await call(Name.pauseAll, returning: UInt32.self)
    }

    /// Resumes several tasks in one commit; skips tasks whose state does not allow it.
    ///
    /// - Returns: How many tasks changed.
    /// - Throws: `NoSuchTask` if an id is unknown; nothing changed then.
    public func startTasks(_ ids: [String]) async throws(ManagerError) -> UInt32 {
        try await call(Name.startTasks, ids, returning: UInt32.self)
    }

    /// Pauses several tasks in one commit; skips tasks whose state does not allow it.
    ///
    /// - Returns: How many tasks changed.
    /// - Throws: `NoSuchTask` if an id is unknown; nothing changed then.
    public func pauseTasks(_ ids: [String]) async throws(ManagerError) -> UInt32 {
        try await call(Name.pauseTasks, ids, returning: UInt32.self)
    }

    /// Cancels several tasks in one commit; skips tasks whose state does not allow it.
    ///
    /// - Returns: How many tasks changed.
    /// - Throws: `NoSuchTask` if an id is unknown; nothing changed then.
    public func cancelTasks(_ ids: [String]) async throws(ManagerError) -> UInt32 {
        try await call(Name.cancelTasks, ids, returning: UInt32.self)
    }

    /// Removes several tasks from the list in one commit.
    ///
    /// - Parameters:
    ///   - ids: The tasks.
    ///   - options: Whether finished files go to the trash; by default they stay.
    /// - Returns: How many tasks were removed. A task stays if its file cannot be moved to the
    ///   trash.
    /// - Throws: `NoSuchTask` if an id is unknown; nothing changed then.
    public func removeTasks(
        _ ids: [String],
        options: RemoveOptions = RemoveOptions()
    ) async throws(ManagerError) -> UInt32 {
        try await call(
            Name.removeTasks,
            ids,
            options.dictionary,
            returning: UInt32.self,
            // The files are moved before the answer, each on its disk.
            patience: options.trashFiles == true ? Self.noLimit : nil
        )
    }

    /// Changes the place of a task in the queue; tasks of higher priority start first.
    ///
    /// - Throws: `NoSuchTask`.
    public func setPriority(_ priority: Int32, of id: String) async throws(ManagerError) {
        try await call(Name.setPriority, id, priority)
    }

    /// Sets the speed limit of a task, in bytes per second; 0 removes the limit.
    ///
    /// - Throws: `NoSuchTask`; `InvalidArgs` outside ``Contract/speedLimit``.
    public func setSpeedLimit(_ limit: UInt64, of id: String) async throws(ManagerError) {
        try await set(.speedLimit, to: limit, of: id)
    }

    /// Sets how many connections a task may open at once; 0 means MaxConnectionsPerDownload.
    ///
    /// - Throws: `NoSuchTask`; `InvalidArgs` outside ``Contract/maxConnections``.
    public func setMaxConnections(_ count: UInt32, of id: String) async throws(ManagerError) {
        try await set(.maxConnections, to: count, of: id)
    }

    private func set(
        _ property: TaskProperty,
        to value: some BusType,
        of id: String
    ) async throws(ManagerError) {
        guard let path = TaskPath(id: TaskPath.id(meantBy: id)) else {
            throw ManagerError(.noSuchTask, "There is no task \(QuotedText(id)).")
        }
        let task = manager.at(path.objectPath, Contract.taskInterface)
        do {
            try await asking { () throws(BusError) in
                try await task.set(property.memberName, to: value)
            }
        } catch  where error.code == .unknownObject {
            throw ManagerError(.noSuchTask, "There is no task \(path.id).")
        }
    }

    /// Removes all completed tasks from the list; their files stay.
    ///
    /// - Returns: How many tasks were removed.
    public func clearCompleted() async throws(ManagerError) -> UInt32 {
        try await call(Name.clearCompleted, returning: UInt32.self)
    }

    /// Replaces a task's URL, for example because the old one has expired.
    ///
    /// The bytes on disk are kept if the new URL leads to the same file; otherwise the task starts
    /// from zero.
    ///
    /// - Throws: `NoSuchTask`; `InvalidURL`; `UnsupportedScheme`; `InvalidState` for a completed or
    ///   cancelled task.
    public func setURL(_ id: String, to url: String) async throws(ManagerError) {
        try await call(Name.setURL, id, url)
    }

    /// Changes options of a task, all or none.
    ///
    /// A running transfer applies new limits immediately, and reconnects for other options; the
    /// bytes on disk are kept.
    ///
    /// - Throws: `NoSuchTask`; `InvalidState` if the task's state does not allow one of the
    ///   options; otherwise the errors of ``addURL(_:options:)``.
    public func setOptions(_ options: EditOptions, of id: String) async throws(ManagerError) {
        try await call(Name.setOptions, id, options.dictionary)
    }

    /// Reads a finished file again and compares it with its known digest or, without one, its
    /// length.
    ///
    /// The call has no time limit. The service stops reading when all callers that wait for the
    /// result have left the bus.
    ///
    /// - Returns: How the file was checked. ``TaskProperties/Integrity/none`` means that the file
    ///   differs from what it should be; the task's error code and error message say why.
    /// - Throws: `NoSuchTask`; `InvalidState` for a task that is not completed; `LimitExceeded`.
    public func verify(_ id: String) async throws(ManagerError) -> TaskProperties.Integrity {
        let word = try await call(
            Name.verify,
            id,
            returning: String.self,
            patience: Self.noLimit
        )
        return TaskProperties.Integrity(rawValue: word)
    }

    /// Returns one task.
    ///
    /// - Throws: `NoSuchTask`.
    public func getTask(_ id: String) async throws(ManagerError) -> TaskProperties {
        try await call(Name.getTask, id, returning: TaskProperties.self)
    }

    /// Returns several tasks in the order of their ids; unknown ids are left out.
    ///
    /// - Parameters:
    ///   - ids: The tasks.
    ///   - properties: The properties to return of each task, in addition to the id; an empty array
    ///     means all. Other properties keep the defaults of ``TaskProperties``.
    /// - Returns: The tasks.
    /// - Throws: `LimitExceeded` if the answer would be longer than ``Contract/maximumListBytes``;
    ///   `UnknownMethod` from a service without ``Capability/addMany``.
    public func getTasks(
        _ ids: [String],
        of properties: [TaskProperty] = []
    ) async throws(ManagerError) -> [TaskProperties] {
        try await call(
            Name.getTasks,
            ids,
            properties.map(\.rawValue),
            returning: [TaskProperties].self
        )
    }

    /// Returns all tasks in the order in which they were added.
    ///
    /// - Throws: `LimitExceeded` if the answer would be longer than ``Contract/maximumListBytes``;
    ///   ``allTasks(_:)`` has no such limit.
    public func listTasks() async throws(ManagerError) -> [TaskProperties] {
        try await call(Name.listTasks, returning: [TaskProperties].self)
    }

    /// Returns one page of the tasks that match a query, and how many match in all.
    ///
    /// - Throws: `LimitExceeded` if the page would be longer than ``Contract/maximumListBytes``.
    public func findTasks(
        _ query: TaskQuery = TaskQuery()
    ) async throws(ManagerError) -> (page: [TaskProperties], total: UInt32) {
        try await call(
            Name.findTasks,
            query.dictionary,
            returning: [TaskProperties].self,
            UInt32.self
        )
    }

    /// Waits until a task is completed, failed, cancelled or removed.
    ///
    /// The call has no time limit; cancelling the Swift task ends it. If the service ends, the call
    /// throws ``ManagerError/Code/stopping`` and does not start the service again: the caller
    /// decides that.
    ///
    /// - Returns: The state of the task; nil if it was removed.
    public func wait(for id: String) async throws(ManagerError) -> TaskProperties.State? {
        let word = try await call(
            Name.wait,
            id,
            returning: String.self,
            patience: Self.noLimit,
            outlivesService: false
        )
        return word == Contract.removed ? nil : TaskProperties.State(rawValue: word)
    }

    /// Returns why a task makes no progress, as texts for people.
    ///
    /// - Returns: The reasons, such as `queue: 3 of 3 running`; empty for a task that makes
    ///   progress or is completed. For a failed task, its error message.
    /// - Throws: `NoSuchTask`.
    public func explain(_ id: String) async throws(ManagerError) -> [String] {
        try await call(Name.explain, id, returning: [String].self)
    }

    /// Returns why a task makes no progress, as codes with values.
    ///
    /// - Returns: The reasons of ``explain(_:)``, in the same order.
    /// - Throws: `NoSuchTask`; `UnknownMethod` from a service without ``Capability/reasons``.
    public func explainCodes(_ id: String) async throws(ManagerError) -> [TaskReason] {
        try await call(Name.explainCodes, id, returning: [TaskReason].self)
    }

    /// Returns what has happened in the attempts of a task that is not completed.
    ///
    /// - Returns: The last 200 entries, the oldest first, without those from before the service's
    ///   start.
    /// - Throws: `NoSuchTask`.
    public func history(of id: String) async throws(ManagerError) -> [HistoryEntry] {
        try await call(Name.getHistory, id, returning: [HistoryEntry].self)
    }

    /// Saves everything and ends the service.
    public func quit() async throws(ManagerError) {
        // No second try, which would start the next service.
        try await call(Name.quit, outlivesService: false)
    }

    /// Returns the file of a task, open for reading.
    ///
    /// A partial file has valid bytes only in its ``TaskProperties/segments``. A sandboxed caller
    /// gets a pipe with the bytes of the finished file of its own task.
    ///
    /// - Throws: `NoSuchTask`; `InvalidState` if nothing of the file is on disk; `LimitExceeded`.
    public func openFile(_ id: String) async throws(ManagerError) -> OpenDescriptor {
        try await call(Name.openFile, id, returning: OpenDescriptor.self)
    }
}
