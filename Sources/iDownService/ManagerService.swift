// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging
import iDownBus
package import iDownData
package import iDownSettings
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
    let folders: StandardFolders
    let log: Logger
    let callers: Callers
    let quitting: @Sendable () -> Void
    let handedOver: @Sendable (TaskSnapshot) -> Void
    let tookOver: @Sendable (TaskSnapshot, TaskSnapshot?) -> Void
    let activated: @Sendable (_ token: String) -> Void
    let control: SettingsControl
    let departures = Departures()
    let adder = Adder()
    let probes = Probes()
    let handOverCalls = HandOverCalls()
    var lastShown = LastShown()
    /// Calls for lists that are made or wait.
    var listTurns = ListTurns()

    /// - Parameters:
    ///   - coordinator: does the work.
    ///   - engine: judges folders.
    ///   - announcer: tells of changed properties.
    ///   - keeper: keeps the settings.
    ///   - folders: the user's.
    ///   - log: where trouble is told.
    ///   - callers: knows who calls; nil makes one that asks the bus.
    ///   - handedOver: called with what the desktop handed over: nobody else shows it.
    ///   - tookOver: called with what a browser has handed over for good, and with the unfinished task
    ///     to which that may be a fresh link.
    ///   - activated: called with the activation token where a person has started the program
    ///     and named nothing.
    ///   - settingsChanged: called with the settings each time that they are others.
    ///   - quitting: called by `Quit`; ends the service soon after the reply.
    package init(
        coordinator: Coordinator,
        engine: Engine,
        announcer: BusAnnouncer,
        keeper: SettingsKeeper,
        folders: StandardFolders,
        log: Logger,
        callers: Callers? = nil,
        handedOver: @escaping @Sendable (TaskSnapshot) -> Void = { _ in },
        tookOver: @escaping @Sendable (TaskSnapshot, TaskSnapshot?) -> Void = { _, _ in },
        activated: @escaping @Sendable (_ token: String) -> Void = { _ in },
        settingsChanged: @escaping @Sendable (Settings) -> Void = { _ in },
        quitting: @escaping @Sendable () -> Void
    ) {
        self.coordinator = coordinator
        self.engine = engine
        self.announcer = announcer
        control = SettingsControl(keeper, changed: settingsChanged)
        self.folders = folders
        self.log = log
        self.callers = callers ?? Callers(executor: coordinator.executor)
        self.handedOver = handedOver
        self.tookOver = tookOver
        self.activated = activated
        self.quitting = quitting
    }

    /// Runs what a call without a task begins, at once on the thread of the bus.
    nonisolated func begin(_ body: @escaping @Sendable (isolated ManagerService) -> Void) {
        coordinator.executor.run { self.assumeIsolated(body) }
    }

    var settings: Settings { control.settings }

    /// The folder for downloads that name no folder.
    package var directory: String { settings.downloadDirectory ?? folders.download }

    var rules: FolderRules {
        FolderRules(
            closedFolders: [
                folders.configHome, folders.dataHome, folders.stateHome, folders.cacheHome,
                folders.runtime,
            ].compactMap(\.self),
            allowsEverywhere: settings.allowsHiddenFolders
        )
    }

    /// Judges what a caller wants, by the rules for that caller.
    func wishes(for owner: String?) -> Wishes {
        var rules = rules
        if owner != nil { rules.enclosingFolder = directory }
        return Wishes(
            engine: engine,
            downloadDirectory: directory,
            rules: rules,
            retryFor: Int64(settings.retryFor),
            owner: owner
        )
    }

    /// The error reply for what a method has thrown; the tables' own errors are replies already.
    nonisolated var wording: Interface.Wording {
        { error, _ in error as? BusError ?? self.named(error).busError }
    }

    /// Gives any failure its contract name, and logs those that the service is to blame for.
    nonisolated func named(_ failure: any Error) -> ManagerError {
        // Nobody hears it: the caller has left, or the bus is gone.
        if failure is CancellationError { return ManagerError(.failed, "The call was given up.") }
        let error = ManagerError(failure)
        if error.code == .storeFailed || error.code == .failed { log.error("\(error)") }
        return error
    }

    func taskID(_ text: String) throws(ManagerError) -> TaskID {
        guard let id = TaskID(TaskPath.id(meantBy: text)) else {
            throw ManagerError(
                .noSuchTask,
                "That is not a task id. An id is a number such as 17; the list of tasks shows the ids."
            )
        }
        return id
    }

    /// Prepares for the clients of a bus, and exports the manager and all of its tasks, before the
    /// service takes its name there.
    ///
    /// - Parameter connection: The service's connection to the bus.
    /// - Throws: What the bus answers; `ObjectPathInUse`.
    package func willServe(over connection: Connection) async throws(BusError) {
        try await callers.listen(on: connection)
        departures.forgetAll()
        var limits = CallLimits()
        limits.error = ManagerError.Code.limitExceeded.name
        limits.parts = partsOfLimits
        await connection.limitCalls(limits)
        try await connection.export(TaskInterface.subtree(for: self), below: TaskPath.parent)
        try await connection.export(
            [
                ManagerInterface.table(for: self), ManagerInterface.settings(for: self),
                ApplicationInterface.table(for: self), ManagerInterface.objectManager(for: self),
            ],
            at: Contract.managerPath
        )
    }

    // MARK: Settings

    /// Returns the value of a setting, without a password.
    ///
    /// - Throws: `AccessDenied` for a sandboxed caller and a setting of `org.idown.Settings1`.
    func value(_ call: Call, of setting: Setting) async throws -> Setting.Content {
        if setting.place == .settings { try await permit(call) }
        return folders.shown(setting, of: settings)
    }

    /// Changes a setting to a value that the setting allows; only settings that are not read-only
    /// come here.
    ///
    /// - Throws: `AccessDenied` for a sandboxed caller; `InvalidDestination` for a download folder
    ///   that the option `directory` would refuse; `StoreFailed`.
    func set(
        _ call: Call,
        _ setting: Setting,
        to content: Setting.Content
    ) async throws {
        try await permit(call)
        try await control.change(setting, to: content, in: self)
    }

    /// Leaves downloads to the browsers from now on, as the user has asked on the desktop.
    ///
    /// - Parameter host: The host whose downloads are left; nil for all.
    package func leaveToBrowsers(_ host: String?) async {
        var (setting, content) = (Setting.browserHandOver, Setting.Content.flag(false))
        if let host {
            guard case .words(let hosts) = settings[.browserLeaveHosts], !hosts.contains(host)
            else { return }
            (setting, content) = (.browserLeaveHosts, .words(hosts + [host]))
        }
        guard setting.allows(content) else {
            return log.warning("no setting can name the site that was to be left")
        }
        do {
            try await control.change(setting, to: content, in: self)
        } catch {
            log.warning("browsers still hand downloads over: \(named(error))")
        }
    }

    /// Returns when the changes of settings under way are durable; later ones are answered `Stopping`.
    ///
    /// Called once, before the service waits for its last answers and refuses all other calls, so that no
    /// change is refused that is made.
    package func endChanges() async { await control.end() }

    /// Reads the settings file again, and does what it says as if a client had said so.
    ///
    /// If a mistake in the file hides which proxy the user wants, downloads wait.
    package func readSettings() async { await control.read(in: self) }
}
