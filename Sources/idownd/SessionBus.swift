// SPDX-License-Identifier: Apache-2.0

import DBus
import Executors
import Logging
import iDownBus
import iDownData
import iDownService

/// The service's connection to the session bus, also across replacements of the bus.
actor SessionBus {
    /// The time between two attempts to reconnect.
    private static let reconnectInterval: Duration = .milliseconds(500)
    /// How long the service goes on without a bus and with nothing to do.
    ///
    /// After that the session is over, and the next session's service needs the list.
    private static let idleLimit: Duration = .seconds(60)

    private var connection: Connection
    private let log: Logger

    init(_ connection: Connection, log: Logger) {
        self.connection = connection
        self.log = log
    }

    /// Has the objects exported, then takes the bus name: a client that sees the name can use all
    /// objects.
    func publish(_ manager: ManagerService) async throws(Exit) {
        do {
            try await manager.willServe(over: connection)
            guard try await !connection.requestName(Contract.busName) else { return }
        } catch {
            throw .noBus("\(error)")
        }
        let owner = try? await connection.owner(of: Contract.busName)
        let name = owner.map { ", as \($0)" } ?? ""
        throw .alreadyRunning("the name \(Contract.busName) is already taken on this bus\(name)")
    }

    /// Reconnects each time the bus is replaced, while transfers go on.
    ///
    /// Returns when there is no bus and either nothing to do for a while, or another service that
    /// needs the list; or when the task is cancelled.
    ///
    /// - Parameters:
    ///   - manager: The object that is exported on the new bus.
    ///   - announcer: Sends its signals to the new bus.
    ///   - coordinator: Tells whether there is anything to do.
    ///   - list: The folder of the list, for which the service of another bus may wait.
    ///   - users: Take the connection to each new bus.
    func keepConnected(
        _ manager: ManagerService,
        _ announcer: BusAnnouncer,
        _ coordinator: Coordinator,
        list: String,
        users: @Sendable (Connection) async -> Void
    ) async {
        while true {
            await connection.waitUntilClosed()
            guard !Task.isCancelled else { return }
            log.warning("the session bus is gone; transfers go on")
            var deadline = ContinuousClock.now + Self.idleLimit
            while await !reconnect(manager, announcer) {
                if LockRequest.exists(folder: list) {
                    log.notice(
                        "ending: the session bus is gone, and another session's service needs the list"
                    )
                    return
                }
                if await !coordinator.isIdle { deadline = .now + Self.idleLimit }
                guard ContinuousClock.now < deadline else {
                    log.notice("ending: the session bus is gone, and there is nothing to do")
                    return
                }
                guard (try? await Task.sleep(for: Self.reconnectInterval)) != nil else { return }
            }
            log.notice("reconnected to the session bus as \(Contract.busName)")
            await users(connection)
        }
    }

    private func reconnect(_ manager: ManagerService, _ announcer: BusAnnouncer) async -> Bool {
        let bus = BusAddress.session.ofAnyRun
        // Tested first with a connection on its own thread: a bus that accepts connections but does
        // not answer must not block the service's thread.
        guard let probe = try? await Connection.open(bus) else { return false }
        await probe.close()
        guard let next = try? await Connection.open(bus, on: connection.executor) else {
            return false
        }
        let last = connection
        connection = next
        await announcer.use(next)
        do {
            try await publish(manager)
            return true
        } catch {
            log.debug("cannot reconnect to the session bus yet: \(error.message)")
            await next.close()
            connection = last
            return false
        }
    }

    /// Answers all further calls with this error, once those that are durable are answered.
    ///
    /// A call that waits for a disk which hangs has changed nothing; it waits half a second.
    func refuseCalls(with error: BusError) async {
        let connection = connection
        await connection.refuseNewCalls(with: error)
        await withTimeLimit(.milliseconds(500)) { await connection.waitUntilAnswered() }
        await connection.refuseCalls(with: error)
    }

    /// Gives the name back, and closes the connection after everything is sent, or when the bus has
    /// read nothing for a second.
    ///
    /// The bus delivers every call for the name before it answers, so that no call is still on its
    /// way when the connection is closed: each one gets the error of ``refuseCalls(with:)``.
    func disconnect() async {
        await withTimeLimit(.seconds(1)) { [connection] in
            try? await connection.releaseName(Contract.busName)
            await connection.flush()
        }
        await connection.close()
    }
}
