// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging
package import iDownBus
package import iDownData
import iDownState
package import iDownloader

/// `org.idown.Manager1`: decodes, asks the coordinator, encodes.
package actor ManagerService {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        coordinator.executor.asUnownedSerialExecutor()
    }

    let coordinator: Coordinator
    let engine: Engine
    let announcer: BusAnnouncer
    private let file: SettingsFile
    private let folders: StandardFolders
    private let log: Logger
    private let quitting: @Sendable () -> Void
    private var settings: Settings

    /// - Parameters:
    ///   - coordinator: does the work.
    ///   - engine: judges folders.
    ///   - announcer: tells of changed properties.
    ///   - settings: those in force.
    ///   - file: where they are kept.
    ///   - folders: the user's.
    ///   - log: where trouble is told.
    ///   - quitting: called by `Quit`; ends the service soon after the reply.
    package init(
        coordinator: Coordinator,
        engine: Engine,
        announcer: BusAnnouncer,
        settings: Settings,
        file: SettingsFile,
        folders: StandardFolders,
        log: Logger,
        quitting: @escaping @Sendable () -> Void
    ) {
        self.coordinator = coordinator
        self.engine = engine
        self.announcer = announcer
        self.settings = settings
        self.file = file
        self.folders = folders
        self.log = log
        self.quitting = quitting
    }

    private var directory: String { settings.downloadDirectory ?? folders.download }

    private var rules: FolderRules {
        FolderRules(
            closedFolders: [
                folders.configHome, folders.dataHome, folders.stateHome, folders.cacheHome,
                folders.runtime,
            ].compactMap(\.self),
            allowsEverywhere: settings.allowsHiddenFolders
        )
    }

    private func add(_ urls: [String], _ options: AddOptions) async throws -> [String] {
        // A blind repeat is answered as the first call was, whatever has changed since.
        if let token = options.token, let ids = try await coordinator.ids(forToken: token) {
            return ids.map(\.description)
        }
        let wishes = Wishes(engine: engine, downloadDirectory: directory, rules: rules)
        let tasks = try await wishes.judge(urls, options)
        return try await coordinator.add(tasks, token: options.token).map(\.description)
    }

    private func change(_ change: (inout Settings) -> Void) throws {
        var changed = settings
        change(&changed)
        guard changed != settings else { return }
        try file.write(changed, now: WallTime.now)
        settings = changed
    }

    /// Runs what may fail in any way, and gives the failure its contract name.
    private func named<Value>(
        _ body: () async throws -> Value
    ) async throws(ManagerError) -> Value {
        do {
            return try await body()
        } catch {
            let error = ManagerError(error)
            if error.code == .storeFailed || error.code == .failed { log.error("\(error)") }
            throw error
        }
    }

    private func carryOut(_ command: Command, _ id: String) async throws(ManagerError) {
        try await named {
            let id = try taskID(id)
            try await coordinator.carryOut(command, on: id)
        }
    }

    private func carryOut(
        _ command: Command,
        _ states: Set<TaskState.Kind>
    ) async throws(ManagerError) -> UInt32 {
        try await named {
            UInt32(clamping: try await coordinator.carryOut(command, onAllIn: states))
        }
    }

    private func taskID(_ text: String) throws(ManagerError) -> TaskID {
        guard let id = TaskID(text) else {
            throw ManagerError(
                .noSuchTask,
                "that is no task's id; an id is a number such as 17, and ListTasks tells them"
            )
        }
        return id
    }
}

extension ManagerService: ManagerHandling {
    package nonisolated var version: String { Contract.version }

    // MARK: Adding

    package func addURL(
        _ url: String,
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> String {
        let ids = try await named { try await add([url], options) }
        guard let id = ids.first else { throw ManagerError(.failed, "no task was made") }
        return id
    }

    package func addURLs(
        _ urls: [String],
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> [String] {
        try await named { try await add(urls, options) }
    }

    // MARK: Verbs

    package func pause(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.pause, id)
    }

    package func resume(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.resume, id)
    }

    package func retry(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.retry, id)
    }

    package func cancel(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.cancel, id)
    }

    package func remove(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.remove, id)
    }

    package func startAll(call: Call) async throws(ManagerError) -> UInt32 {
        try await carryOut(.resume, [.paused, .failed])
    }

    package func pauseAll(call: Call) async throws(ManagerError) -> UInt32 {
        try await carryOut(.pause, [.waiting, .downloading])
    }

    package func clearCompleted(call: Call) async throws(ManagerError) -> UInt32 {
        try await carryOut(.remove, [.completed])
    }

    package func setURL(
        _ id: String,
        to url: String,
        call: Call
    ) async throws(ManagerError) {
        try await named {
            let id = try taskID(id)
            try await coordinator.setURL(of: id, to: Wishes.reference(url))
        }
    }

    package func quit(call: Call) async throws(ManagerError) {
        quitting()
    }

    // MARK: Looking

    package func getTask(_ id: String, call: Call) async throws(ManagerError) -> TaskProperties {
        try await named {
            let id = try taskID(id)
            return TaskProperties(try await coordinator.task(id))
        }
    }

    package func listTasks(call: Call) async throws(ManagerError) -> [TaskProperties] {
        try await named { try await coordinator.tasks().map { TaskProperties($0) } }
    }

    // MARK: Properties

    package var maxConcurrentDownloads: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: settings.maxConcurrentDownloads) }
    }

    package func setMaxConcurrentDownloads(
        _ count: UInt32,
        call: Call
    ) async throws(ManagerError) {
        try await named { try change { $0.maxConcurrentDownloads = Int(count) } }
        await announcer.propertiesChanged(
            [Contract.Property.maxConcurrentDownloads.rawValue: .uint32(count)])
        await coordinator.setSlots(Int(count))
    }

    package var maxConnectionsPerDownload: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: settings.maxConnectionsPerDownload) }
    }

    package func setMaxConnectionsPerDownload(
        _ count: UInt32,
        call: Call
    ) async throws(ManagerError) {
        try await named { try change { $0.maxConnectionsPerDownload = Int(count) } }
        engine.connectionsPerDownload = Int(count)
        await announcer.propertiesChanged(
            [Contract.Property.maxConnectionsPerDownload.rawValue: .uint32(count)])
    }

    package var speedLimit: UInt64 {
        get async throws(ManagerError) { UInt64(clamping: settings.speedLimit) }
    }

    package func setSpeedLimit(_ limit: UInt64, call: Call) async throws(ManagerError) {
        try await named { try change { $0.speedLimit = Int64(clamping: limit) } }
        await announcer.propertiesChanged(
            [Contract.Property.speedLimit.rawValue: .uint64(limit)])
    }

    package var downloadDirectory: String {
        get async throws(ManagerError) { directory }
    }

    package func setDownloadDirectory(_ path: String, call: Call) async throws(ManagerError) {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw ManagerError(
                .invalidArguments,
                "DownloadDirectory is an absolute path; it starts with /"
            )
        }
        try await named {
            let folder = try await engine.prepareFolder(path, rules: rules)
            try change { $0.downloadDirectory = folder }
        }
        await announcer.propertiesChanged(
            [Contract.Property.downloadDirectory.rawValue: .string(directory)])
    }

    package var taskCount: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: try await counts().total) }
    }

    package var waitingCount: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: try await counts()[.waiting]) }
    }

    package var activeCount: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: try await counts()[.downloading]) }
    }

    package var speed: UInt64 {
        get async throws(ManagerError) { await coordinator.speed }
    }

    private func counts() async throws(ManagerError) -> TaskCounts {
        try await named { try await coordinator.counts() }
    }
}
