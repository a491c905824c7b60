// SPDX-License-Identifier: Apache-2.0

internal import DBus

extension ManagerClient {
    private typealias Name = Contract.Method

    /// Adds a download.
    ///
    /// - Returns: The task's id.
    public func addURL(
        _ url: String,
        options: AddOptions = AddOptions()
    ) async throws(ManagerError) -> String {
        try await call(
            Name.addURLWithOptions,
            url,
            options.dictionary,
            returning: String.self
        )
    }

    /// Adds all of the URLs or none.
    ///
    /// - Returns: An id a URL, in the same order.
    public func addURLs(
        _ urls: [String],
        options: AddOptions = AddOptions()
    ) async throws(ManagerError) -> [String] {
        try await call(Name.addURLs, urls, options.dictionary, returning: [String].self)
    }

    /// Stops a task and keeps its bytes.
    public func pause(_ id: String) async throws(ManagerError) {
        try await call(Name.pause, id)
    }

    /// Puts a task back into the queue.
    public func resume(_ id: String) async throws(ManagerError) {
        try await call(Name.resume, id)
    }

    /// As ``resume(_:)``; also ends a back-off and downloads a completed file again.
    public func retry(_ id: String) async throws(ManagerError) {
        try await call(Name.retry, id)
    }

    /// Stops a task and deletes its partial data.
    public func cancel(_ id: String) async throws(ManagerError) {
        try await call(Name.cancel, id)
    }

    /// Takes a task off the list; a finished file stays.
    public func remove(_ id: String) async throws(ManagerError) {
        try await call(Name.remove, id)
    }

    /// Puts all that is paused or failed back into the queue, and counts it.
    public func startAll() async throws(ManagerError) -> UInt32 {
        try await call(Name.startAll, returning: UInt32.self)
    }

    /// Pauses all that waits or downloads, and counts it.
    public func pauseAll() async throws(ManagerError) -> UInt32 {
        try await call(Name.pauseAll, returning: UInt32.self)
    }

    /// Puts a selection back into the queue, and counts those that it changed.
    public func startTasks(_ ids: [String]) async throws(ManagerError) -> UInt32 {
        try await call(Name.startTasks, ids, returning: UInt32.self)
    }

    /// Pauses a selection, and counts those that it changed.
    public func pauseTasks(_ ids: [String]) async throws(ManagerError) -> UInt32 {
        try await call(Name.pauseTasks, ids, returning: UInt32.self)
    }

    /// Cancels a selection, and counts those that it changed.
    public func cancelTasks(_ ids: [String]) async throws(ManagerError) -> UInt32 {
        try await call(Name.cancelTasks, ids, returning: UInt32.self)
    }

    /// Takes a selection off the list, and counts those that it changed.
    public func removeTasks(
        _ ids: [String],
        options: RemoveOptions = RemoveOptions()
    ) async throws(ManagerError) -> UInt32 {
        try await call(Name.removeTasks, ids, options.dictionary, returning: UInt32.self)
    }

    /// Gives a task another place in the queue; higher first.
    public func setPriority(_ priority: Int32, of id: String) async throws(ManagerError) {
        try await call(Name.setPriority, id, priority)
    }

    /// Changes the most bytes a second of a task; 0 for no limit.
    public func setSpeedLimit(_ limit: UInt64, of id: String) async throws(ManagerError) {
        try await set(.speedLimit, to: limit, of: id)
    }

    /// Changes the most connections of a task, within ``Contract/maxConnections``; 0 takes
    /// MaxConnectionsPerDownload.
    public func setMaxConnections(_ count: UInt32, of id: String) async throws(ManagerError) {
        try await set(.maxConnections, to: count, of: id)
    }

    private func set(
        _ property: TaskProperty,
        to value: some BusType,
        of id: String
    ) async throws(ManagerError) {
        guard let path = TaskPath(id: TaskPath.id(meantBy: id)) else {
            throw ManagerError(.noSuchTask, "there is no task \(QuotedText(id))")
        }
        let task = Proxy(
            manager.connection,
            Contract.busName,
            path.objectPath,
            Contract.taskInterface
        )
        do {
            try await asking { () throws(BusError) in
                try await task.set(property.memberName, to: value, timeout: patience)
            }
        } catch  where error.code == .unknownObject {
            throw ManagerError(.noSuchTask, "there is no task \(path.id)")
        }
    }

    /// Takes all completed tasks off the list, and counts them.
    public func clearCompleted() async throws(ManagerError) -> UInt32 {
        try await call(Name.clearCompleted, returning: UInt32.self)
    }

    /// Gives a task a fresh link in place of one that expired; its bytes are kept where they
    /// prove to be the same file's.
    public func setURL(_ id: String, to url: String) async throws(ManagerError) {
        try await call(Name.setURL, id, url)
    }

    /// One task.
    public func getTask(_ id: String) async throws(ManagerError) -> TaskProperties {
        try await call(Name.getTask, id, returning: TaskProperties.self)
    }

    /// All tasks in the order of adding.
    public func listTasks() async throws(ManagerError) -> [TaskProperties] {
        try await read(Name.listTasks, [], as: "aa{sv}") { reader throws(DecodingFailure) in
            try [TaskProperties](reading: &reader)
        }
    }

    /// One page of the tasks that are looked for, and how many there are in all.
    public func findTasks(
        _ query: TaskQuery = TaskQuery()
    ) async throws(ManagerError) -> (page: [TaskProperties], total: UInt32) {
        let query = [query.dictionary.busValue]
        return try await read(Name.findTasks, query, as: "aa{sv}u") {
            reader throws(DecodingFailure) in
            (try [TaskProperties](reading: &reader), try reader.uint32())
        }
    }

    /// Returns once a task is completed, failed, cancelled or removed.
    ///
    /// There is no limit of time; cancelling the Swift task gives the call up. The service's end is
    /// told as ``ManagerError/Code/stopping``: whether to start it again is the caller's to know.
    ///
    /// - Returns: The state; nil once the task was removed.
    public func wait(for id: String) async throws(ManagerError) -> TaskProperties.State? {
        let word = try await call(
            Name.wait,
            id,
            returning: String.self,
            patience: .seconds(1 << 32),
            outlivesService: false
        )
        return word == Contract.removed ? nil : TaskProperties.State(rawValue: word)
    }

    /// Why a task does not move; empty where it does or is completed.
    public func explain(_ id: String) async throws(ManagerError) -> [String] {
        try await call(Name.explain, id, returning: [String].self)
    }

    /// Saves everything and ends the service.
    public func quit() async throws(ManagerError) {
        // Who wants its end does not want the next one.
        try await call(Name.quit, outlivesService: false)
    }
}
