// SPDX-License-Identifier: Apache-2.0

package import DBus
package import Logging
import iDownBus
package import iDownData
package import iDownSettings
import iDownState
package import iDownloader

/// Serves `org.idown.Manager1`: decodes calls, passes them to the coordinator, encodes the answers.
package actor ManagerService {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        coordinator.executor.asUnownedSerialExecutor()
    }

    let coordinator: Coordinator
    let engine: Engine
    let announcer: BusAnnouncer
    var folders: StandardFolders
    let log: Logger
    let callers: Callers
    let quitting: @Sendable () -> Void
    let handedOver: @Sendable (TaskSnapshot) -> Void
    let tookOver: @Sendable (TaskSnapshot, TaskSnapshot?) -> Void
    let activated: @Sendable (_ token: String) -> Void
    let control: SettingsControl
    let adder = Adder()
    let probes = Probes()
    /// The changes that wait for an earlier one of the same task, oldest first; empty while only
    /// one is under way.
    var changes: [TaskID: [CheckedContinuation<Void, Never>]] = [:]
    let handOverCalls = HandOverCalls()
    var lastShown = LastShown()
    /// The long answers that are being made, and the calls that wait for one.
    var answerTurns = AnswerTurns()

    /// - Parameters:
    ///   - coordinator: does the work.
    ///   - engine: judges folders.
    ///   - announcer: announces changed properties.
    ///   - keeper: keeps the settings.
    ///   - folders: the user's folders.
    ///   - log: where problems are logged.
    ///   - handedOver: called with each task that the desktop added by Open, because no other
    ///     program shows it.
    ///   - tookOver: called with the task of a confirmed hand-over, and with the unfinished task
    ///     for which it may be a fresh link.
    ///   - activated: called with the activation token when a person starts the program without
    ///     naming a URL.
    ///   - settingsChanged: called with the settings each time that they change.
    ///   - quitting: called by `Quit`; ends the service soon after the reply.
    package init(
        coordinator: Coordinator,
        engine: Engine,
        announcer: BusAnnouncer,
        keeper: SettingsKeeper,
        folders: StandardFolders,
        log: Logger,
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
        callers = Callers(executor: coordinator.executor, log: log)
        self.handedOver = handedOver
        self.tookOver = tookOver
        self.activated = activated
        self.quitting = quitting
    }

    /// Runs the start of a call that has no Swift task; at once on the thread of the bus.
    nonisolated func begin(_ body: @escaping @Sendable (isolated ManagerService) -> Void) {
        coordinator.executor.run { self.assumeIsolated(body) }
    }

    var settings: Settings { control.settings }

    /// The folder for downloads whose options name none.
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

    /// Returns the checks of what a caller asks for, with the folder rules for that caller.
    ///
    /// With `isEnclosed`, the user's own programs have to stay in the download folder as well.
    func optionChecker(for owner: String?, isEnclosed: Bool = false) -> OptionChecker {
        var rules = rules
        if owner != nil || isEnclosed { rules.enclosingFolder = directory }
        return OptionChecker(
            engine: engine,
            downloadDirectory: directory,
            rules: rules,
            retryFor: Int64(settings.retryFor),
            owner: owner
        )
    }

    /// Turns an error that a method has thrown into its error reply; a `BusError` is one already.
    nonisolated var wording: Interface.Wording {
        { error, _ in error as? BusError ?? self.named(error).busError }
    }

    /// Gives any error its name in the contract, and logs the errors that are the service's fault.
    nonisolated func named(_ failure: any Error) -> ManagerError {
        // No client reads this reply: the caller has left, or the bus is gone.
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
    /// - Throws: The bus's error; `ObjectPathInUse`.
    package func willServe(over connection: Connection) async throws(BusError) {
        try await callers.listen(on: connection)
        var limits = CallLimits()
        limits.error = ManagerError.Code.limitExceeded.name
        limits.parts = { [callers] in callers.partsOfLimits(for: $0) }
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

    /// Changes a writable setting.
    ///
    /// - Throws: `InvalidArguments` for a value that the setting does not allow; `AccessDenied` for
    ///   a sandboxed caller; `InvalidDestination` for a download folder that the option `directory`
    ///   would refuse; `StoreFailed`.
    func set(_ call: Call, _ setting: Setting, to value: Value) async throws {
        let given = setting.content(value)
        guard let content = given, setting.allows(content) else {
            let form = given.map(setting.formMissed(by:)) ?? setting.form
            throw ManagerError(.invalidArguments, "\(setting.rawValue) must be \(form).")
        }
        try await permit(call)
        try await control.change(setting, to: content, in: self)
    }

    /// Changes the settings so that browsers keep their downloads, as the user asked on the
    /// desktop.
    ///
    /// - Parameter host: The host whose downloads browsers keep; nil for all hosts.
    package func leaveToBrowsers(_ host: String?) async {
        var (setting, content) = (Setting.browserHandOver, Setting.Content.flag(false))
        if let host {
            guard case .words(let hosts) = settings[.browserLeaveHosts], !hosts.contains(host)
            else { return }
            (setting, content) = (.browserLeaveHosts, .words(hosts + [host]))
        }
        guard setting.allows(content) else {
            let form = setting.formMissed(by: content)
            return log.warning("no site was left: \(setting.rawValue) must be \(form)")
        }
        do {
            try await control.change(setting, to: content, in: self)
        } catch {
            log.warning("browsers still hand downloads over: \(named(error))")
        }
    }

    /// Waits until the changes of settings under way are durable; later ones are answered
    /// `Stopping`.
    ///
    /// Called once, before the service waits for its last answers and refuses all other calls.
    /// Otherwise a change could be made although its call was refused.
    package func endChanges() async { await control.end() }

    /// Reads the settings file again, and applies it like changes by a client.
    ///
    /// If a mistake in the file hides which proxy the user wants, downloads wait.
    ///
    /// - Parameter ifUnread: reads it only if an error that may pass kept it from being read.
    package func readSettings(ifUnread: Bool = false) async {
        guard !ifUnread || control.isUnread else { return }
        await control.read(in: self)
    }

    /// Follows the download folder that the user has chosen for all programs.
    package func readFolders() async { await control.readFolders(in: self) }
}
