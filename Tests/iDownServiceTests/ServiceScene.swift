// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Logging
import iDownBus
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// The service on a bus of its own, and a client of it.
struct ServiceScene {
    let client: ManagerClient
    let proxy: Proxy
    let signals: SignalLog
    let manager: ManagerService
    let coordinator: Coordinator
    let engine: Engine
    let faults: CallFaults
    let home: ServiceHome
    let quit: FaultServer.Gate
    /// The activation tokens of those who started the program and named nothing.
    let activations: AsyncStream<String>

    /// Returns once a task was told to be in a state.
    func wait(for id: String, _ state: TaskProperties.State) async throws {
        try await signals.first("task \(id) to be \(state)") { signal in
            guard case .changed([id], state, _) = ListNews(signal)
            else { return false }
            return true
        }
    }
}

/// Runs `body` with the whole service in this process, and ends it afterwards in the order of the
/// daemon.
///
/// - Parameters:
///   - busFaults: makes the service's calls into libdbus fail.
///   - faults: makes commits fail or hang.
///   - settingsFaults: makes calls on the settings file fail.
///   - time: the clocks.
///   - body: what is tried with it.
/// - Throws: what `body` throws, and what keeps the service from starting.
func withService(
    busFaults: CallFaults? = nil,
    faults: CallFaults = CallFaults(),
    settingsFaults: CallFaults? = nil,
    time: TimeAndChance = .system,
    _ body: (ServiceScene) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        try await withPrivateBus { bus in
            let home = ServiceHome(in: folder)
            let folders = StandardFolders(environment: home.variables, home: home.path)
            let store = try Store.open(
                folder: folders.state,
                now: .someTime,
                commitFaults: faults.strikes
            ).store
            let connection = try await Connection.open(
                .address(bus.address),
                faults: busFaults?.strikes
            )
            let pool = try TransferPool()
            let engine = Engine(drivers: TransferDrivers(pool), userAgent: "test", time: time)
            let settings = SettingsFile(
                folder: folders.config,
                copyFolder: folders.state,
                faults: settingsFaults?.next
            )
            let coordinator = Coordinator(
                store: store,
                engine: engine,
                slots: 3,
                executor: connection.executor,
                log: .quiet
            )
            try await coordinator.restore()
            let announcer = BusAnnouncer(connection: connection, log: .quiet)
            let quit = FaultServer.Gate()
            let (activations, activator) = AsyncStream.makeStream(of: String.self)
            let manager = ManagerService(
                coordinator: coordinator,
                engine: engine,
                announcer: announcer,
                keeper: SettingsKeeper(settings, log: .quiet),
                folders: folders,
                log: .quiet,
                activated: { activator.yield($0) },
                quitting: { quit.open() }
            )
            try await manager.willServe(over: connection)
            _ = try await connection.requestName(Contract.busName)
            await coordinator.announce(to: announcer)
            await coordinator.begin()

            let caller = try await Connection.open(.address(bus.address))
            let name = await connection.uniqueName
            let scene = ServiceScene(
                client: ManagerClient(caller),
                proxy: Proxy(
                    caller,
                    Contract.busName,
                    Contract.managerPath,
                    Contract.managerInterface
                ),
                signals: try await SignalLog(MatchRule(sender: name), on: caller),
                manager: manager,
                coordinator: coordinator,
                engine: engine,
                faults: faults,
                home: home,
                quit: quit,
                activations: activations
            )
            let result: Result<Void, any Error>
            do { result = .success(try await body(scene)) } catch { result = .failure(error) }
            await coordinator.stop()
            await pool.shutDown()
            try store.close()
            await caller.close()
            await connection.close()
            try result.get()
        }
    }
}

/// The contract's name for what a call ends with; nil where it succeeds.
func code(_ body: () async throws -> Void) async -> ManagerError.Code? {
    do {
        try await body()
        return nil
    } catch let error as ManagerError {
        return error.code
    } catch let error as BusError {
        return ManagerError(error).code
    } catch {
        return nil
    }
}
