// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging
import ServiceLifecycle
import iDownBus
import iDownData
import iDownService
import iDownState

/// The session service: has a bus, the list for itself, and one ``RunningService``.
struct Daemon: Service {
    let log: Logger
    let folders: StandardFolders

    /// Runs until the service is asked to end.
    func run() async throws(Exit) {
        let connection = try await connect()
        let lock = try await acquireLock(connection)
        // Held until the store is closed: only then may another service open it.
        defer { withExtendedLifetime(lock) {} }
        let store = try openStore()
        let bus = SessionBus(connection, log: log)
        do {
            try await RunningService(store, connection, folders, log: log).run(on: bus)
        } catch {
            await connection.close()
            close(store)
            throw error
        }
        close(store)
        await bus.disconnect()
    }

    // MARK: Starting

    private func connect() async throws(Exit) -> Connection {
        do {
            // A bus that is silent must not keep SIGTERM from ending the service.
            return try await cancelWhenGracefulShutdown { try await Connection.open(.session) }
        } catch {
            throw .noBus("\(error)")
        }
    }

    /// Takes the state lock, before the store is opened, so that two services never share a store.
    private func acquireLock(_ connection: Connection) async throws(Exit) -> StateLock {
        // A service that has lost its bus ends when its lock is requested.
        var request: LockRequest?
        defer { withExtendedLifetime(request) {} }
        // Waits ten seconds for an older service that is ending or reconnecting to a new bus.
        for _ in 0..<100 {
            do {
                if let lock = try StateLock.tryAcquire(folder: folders.state) { return lock }
            } catch {
                throw .storeFailed("\(error)")
            }
            if let owner = try? await connection.owner(of: Contract.busName) {
                throw .alreadyRunning("idownd is already running on this bus, as \(owner)")
            }
            if request == nil { request = try? LockRequest.tryMake(folder: folders.state) }
            try? await Task.sleep(for: .milliseconds(100))
        }
        throw .locked(
            "another idownd holds \(folders.state)/lock and did not end within 10 seconds"
        )
    }

    private func openStore() throws(Exit) -> Store {
        do {
            let (store, report) = try Store.open(folder: folders.state, now: WallTime.now)
            if let recovery = report.recovery {
                log.error(
                    """
                    the list of tasks was damaged (\(recovery.reason)); \
                    \(recovery.recoveredTasks) tasks were recovered, and the damaged file is kept as \
                    \(recovery.brokenPath)
                    """
                )
            }
            return store
        } catch {
            throw .storeFailed("the list of tasks in \(folders.state) cannot be opened: \(error)")
        }
    }

    // MARK: Ending

    private func close(_ store: Store) {
        do { try store.close() } catch { log.error("cannot close the list of tasks: \(error)") }
    }
}
