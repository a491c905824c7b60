// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging
import iDownBus
import iDownService

/// The service's place on the session bus, also when that bus is replaced by a new one.
actor SessionBus {
    /// How often a bus that went away is looked for.
    private static let pace: Duration = .milliseconds(500)
    /// Without a bus and with nothing to do the service ends after this: the session is over, and
    /// the next one wants the list.
    private static let patience: Duration = .seconds(60)

    private var connection: Connection
    private let log: Logger

    init(_ connection: Connection, log: Logger) {
        self.connection = connection
        self.log = log
    }

    /// Puts the objects on the bus and takes the name, which comes last: whoever sees it can use
    /// all of it.
    func publish(_ manager: ManagerService) async throws(Exit) {
        do {
            try await connection.export(manager)
            guard try await connection.requestName(Contract.busName) == .exists else { return }
        } catch {
            throw .noBus("\(error)")
        }
        let owner = try? await connection.owner(of: Contract.busName)
        let name = owner.map { ", as \($0)" } ?? ""
        throw .alreadyRunning("the name \(Contract.busName) is taken on this bus\(name)")
    }

    /// Comes back each time that the bus does, while transfers go on.
    ///
    /// Returns when there is no bus and nothing to do for a while, or somebody else to go on with
    /// it, or when the task is cancelled.
    ///
    /// - Parameters:
    ///   - manager: What goes back to the bus.
    ///   - announcer: What speaks there.
    ///   - coordinator: Knows whether there is something to do.
    ///   - isWanted: Whether the service of another bus waits for the list. As long as this one has
    ///     a bus of its own it is not heeded.
    func stay(
        with manager: ManagerService,
        _ announcer: BusAnnouncer,
        _ coordinator: Coordinator,
        isWanted: @Sendable () -> Bool
    ) async {
        while true {
            await connection.waitUntilClosed()
            guard !Task.isCancelled else { return }
            log.warning("the session bus went away; transfers go on")
            var deadline = ContinuousClock.now + Self.patience
            while await !comeBack(with: manager, announcer) {
                if isWanted() {
                    log.notice("the session is over, and the service of another one goes on")
                    return
                }
                if await !coordinator.isIdle { deadline = .now + Self.patience }
                guard ContinuousClock.now < deadline else {
                    log.notice("there is no session bus and nothing to do")
                    return
                }
                guard (try? await Task.sleep(for: Self.pace)) != nil else { return }
            }
            log.notice("the session bus is back, and so is \(Contract.busName)")
        }
    }

    private func comeBack(
        with manager: ManagerService,
        _ announcer: BusAnnouncer
    ) async -> Bool {
        let bus = BusAddress.session.ofAnyRun
        // First by a connection with a thread of its own: a bus that takes connections and does
        // not answer must not stop the service's.
        guard let probe = try? await Connection.open(bus) else { return false }
        await probe.close()
        guard let next = try? await Connection.open(bus, on: connection.executor) else {
            return false
        }
        let last = connection
        connection = next
        await announcer.use(next)
        await manager.busDidChange()
        do {
            try await publish(manager)
            return true
        } catch {
            log.debug("not back on the bus yet: \(error.message)")
            await next.close()
            connection = last
            return false
        }
    }

    /// Answers all calls with this error from now on.
    func refuseCalls(with error: BusError) async {
        await connection.refuseCalls(with: error)
    }

    /// Leaves once everything is sent.
    func leave() async {
        await connection.flush()
        await connection.close()
    }
}
