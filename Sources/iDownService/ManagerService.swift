// SPDX-License-Identifier: Apache-2.0

import DBus
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
    let keeper: SettingsKeeper
    let folders: StandardFolders
    let log: Logger
    let callers: Callers
    let quitting: @Sendable () -> Void
    let handedOver: @Sendable (TaskSnapshot) -> Void
    let tookOver: @Sendable (TaskSnapshot, TaskSnapshot?) -> Void
    let activated: @Sendable (_ token: String) -> Void
    let settingsChanged: @Sendable (Settings) -> Void
    /// The settings as they were last taken into force.
    var inForce: SettingsKeeper.InForce
    /// How many changes of settings are under way, and who waits for the last one.
    var changes = 0
    var changesEnded: CheckedContinuation<Void, Never>?
    /// For each client with a pending call of Wait: what drops it when the client leaves.
    var departures: [String: Departure] = [:]
    let adder = Adder()
    let probes = Probes()
    let handOverCalls = HandOverCalls()
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
        self.keeper = keeper
        inForce = keeper.now
        self.folders = folders
        self.log = log
        self.callers = callers ?? Callers(executor: coordinator.executor)
        self.handedOver = handedOver
        self.tookOver = tookOver
        self.activated = activated
        self.settingsChanged = settingsChanged
        self.quitting = quitting
    }

    var settings: Settings { inForce.settings }

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

/// The watch for the departure of a client, for as long as it has calls of Wait pending.
final class Departure {
    let watch: Task<Void, Never>
    /// How many calls there are, also those that do not wait yet.
    var calls = 1

    init(_ watch: Task<Void, Never>) { self.watch = watch }
}
