// SPDX-License-Identifier: Apache-2.0

import DBus
package import Logging
import iDownBus
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
    let file: SettingsFile
    let folders: StandardFolders
    let log: Logger
    let callers: Callers
    let quitting: @Sendable () -> Void
    let handedOver: @Sendable (TaskSnapshot) -> Void
    let activated: @Sendable () -> Void
    let settingsChanged: @Sendable (Settings) -> Void
    var settings: Settings
    /// For each client with a pending call of Wait: what drops it when the client leaves.
    var departures: [String: Task<Void, Never>] = [:]
    var turns = Turns()

    /// - Parameters:
    ///   - coordinator: does the work.
    ///   - engine: judges folders.
    ///   - announcer: tells of changed properties.
    ///   - settings: those in force.
    ///   - file: where they are kept.
    ///   - folders: the user's.
    ///   - log: where trouble is told.
    ///   - callers: knows who calls; nil makes one that asks the bus.
    ///   - handedOver: called with what the desktop handed over: nobody else shows it.
    ///   - activated: called where a person has started the program and named nothing.
    ///   - settingsChanged: called with the settings each time that they are others.
    ///   - quitting: called by `Quit`; ends the service soon after the reply.
    package init(
        coordinator: Coordinator,
        engine: Engine,
        announcer: BusAnnouncer,
        settings: Settings,
        file: SettingsFile,
        folders: StandardFolders,
        log: Logger,
        callers: Callers? = nil,
        handedOver: @escaping @Sendable (TaskSnapshot) -> Void = { _ in },
        activated: @escaping @Sendable () -> Void = {},
        settingsChanged: @escaping @Sendable (Settings) -> Void = { _ in },
        quitting: @escaping @Sendable () -> Void
    ) {
        self.coordinator = coordinator
        self.engine = engine
        self.announcer = announcer
        self.settings = settings
        self.file = file
        self.folders = folders
        self.log = log
        self.callers = callers ?? Callers(executor: coordinator.executor)
        self.handedOver = handedOver
        self.activated = activated
        self.settingsChanged = settingsChanged
        self.quitting = quitting
    }

    var directory: String { settings.downloadDirectory ?? folders.download }

    var rules: FolderRules {
        FolderRules(
            closedFolders: [
                folders.configHome, folders.dataHome, folders.stateHome, folders.cacheHome,
                folders.runtime,
            ].compactMap(\.self),
            allowsEverywhere: settings.allowsHiddenFolders
        )
    }

    func add(
        _ urls: [String],
        _ options: AddOptions,
        _ call: Call
    ) async throws -> [String] {
        try await inTurn(call) {
            let owner = await callers.caller(of: call).owner
            // A token means one thing to one application.
            let token = options.token.map { token in owner.map { "\($0) \(token)" } ?? token }
            // A blind repeat is answered as the first call was, whatever has changed since.
            if let token, let ids = try await coordinator.ids(forToken: token) {
                return Handed.ids(ids)
            }
            return .tasks(try await wishes(for: owner).judge(urls, options), token: token)
        } handIn: { handed in
            switch handed {
            case .ids(let ids): ids.map(\.description)
            case .tasks(let tasks, let token):
                try await coordinator.add(tasks, token: token).map(\.description)
            }
        }
    }

    /// What a call to add comes to, once it is judged.
    private enum Handed {
        /// It was answered before.
        case ids([TaskID])
        case tasks([NewTask], token: String?)
    }

    /// Judges a call while others are judged, and hands it in when those before it have been.
    ///
    /// - Parameters:
    ///   - call: Its sender's calls are handed in in the order of their arrival.
    ///   - judge: Does what may take its time.
    ///   - handIn: Puts it into the queue of commits before it first suspends.
    /// - Returns: What `handIn` returns.
    /// - Throws: What either throws.
    func inTurn<Judged, Value>(
        _ call: Call,
        judge: () async throws -> Judged,
        handIn: (Judged) async throws -> Value
    ) async throws -> Value {
        let turn = turns.begin(call.sender?.rawValue ?? "")
        let judged: Judged
        do {
            judged = try await judge()
        } catch {
            turns.end(turn)
            throw error
        }
        if !turns.hasCome(turn) {
            await withCheckedContinuation { turns.wait(for: turn, $0) }
        }
        // Whoever comes next is resumed behind this job, and so behind the handing in.
        turns.end(turn)
        return try await handIn(judged)
    }

    /// Keeps a changed setting, and tells of it; nothing happens where it is the same as before.
    ///
    /// - Parameters:
    ///   - property: The one that shows the setting.
    ///   - value: As the property tells it.
    ///   - change: Makes the change.
    /// - Returns: Whether there was one.
    /// - Throws: `StoreFailed`.
    @discardableResult
    func change(
        _ property: MemberName,
        _ value: Value,
        _ change: (inout Settings) -> Void
    ) async throws(ManagerError) -> Bool {
        var changed = settings
        change(&changed)
        guard changed != settings else { return false }
        try await named {
            try file.write(changed, now: WallTime.now)
            settings = changed
        }
        settingsChanged(changed)
        await announcer.propertiesChanged([property.rawValue: value])
        return true
    }

    /// Runs what may fail in any way, and gives the failure its contract name.
    func named<Value>(
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

    func carryOut(
        _ command: Command,
        _ id: String,
        _ call: Call
    ) async throws(ManagerError) {
        try await named {
            let id = try taskID(id)
            try await permit(call, on: [id])
            try await coordinator.carryOut(command, on: id)
        }
    }

    func carryOut(
        _ command: Command,
        _ states: Set<TaskState.Kind>,
        _ call: Call
    ) async throws(ManagerError) -> UInt32 {
        try await named {
            try await permit(call)
            return UInt32(clamping: try await coordinator.carryOut(command, onAllIn: states))
        }
    }

    func taskID(_ text: String) throws(ManagerError) -> TaskID {
        guard let id = TaskID(text) else {
            throw ManagerError(
                .noSuchTask,
                "that is no task's id; an id is a number such as 17, and ListTasks tells them"
            )
        }
        return id
    }
}
