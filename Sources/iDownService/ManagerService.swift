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
    /// What is wrong in the settings file while that hides which proxy the user wants.
    var unknownProxy: SettingsFailure?
    /// For each client with a pending call of Wait: what drops it when the client leaves.
    var departures: [String: Task<Void, Never>] = [:]
    let adder = Adder()
    /// Calls for lists that are made or wait.
    var listTurns = ListTurns()

    /// - Parameters:
    ///   - coordinator: does the work.
    ///   - engine: judges folders.
    ///   - announcer: tells of changed properties.
    ///   - settings: those in force.
    ///   - unknownProxy: why nobody knows which proxy the user wants; nil where it is known.
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
        unknownProxy: SettingsFailure? = nil,
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
        self.unknownProxy = unknownProxy
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

    /// Keeps a changed setting, and tells of it; nothing happens where it is the same as before.
    ///
    /// - Parameters:
    ///   - property: The one that shows the setting.
    ///   - value: As the property tells it.
    ///   - change: Makes the change.
    /// - Returns: Whether there was one.
    /// - Throws: `StoreFailed`; also while the file hides which proxy the user wants, because the
    ///   new file would be without that proxy.
    @discardableResult
    func change(
        _ property: MemberName,
        _ value: Value,
        _ change: (inout Settings) -> Void
    ) async throws(ManagerError) -> Bool {
        // All settings are written: what somebody has put into the file, and nobody has told of
        // yet, is to stay.
        await readSettings()
        if let unknownProxy {
            throw ManagerError(
                .storeFailed,
                "Nothing was changed: the settings file has a mistake (\(unknownProxy)). Mend it first."
            )
        }
        var changed = settings
        change(&changed)
        // Two spellings of one text are two folders.
        let isSameFolder = (changed.downloadDirectory ?? "").utf8.elementsEqual(
            (settings.downloadDirectory ?? "").utf8
        )
        guard changed != settings || !isSameFolder else { return false }
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
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        return try named(result).get()
    }

    /// Gives any failure its contract name.
    nonisolated func named<Value>(
        _ result: Result<Value, any Error>
    ) -> Result<Value, ManagerError> {
        result.mapError { failure in
            let error = ManagerError(failure)
            if error.code == .storeFailed || error.code == .failed { log.error("\(error)") }
            return error
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
                "That is not a task id. An id is a number such as 17; the list of tasks shows the ids."
            )
        }
        return id
    }
}
