// SPDX-License-Identifier: Apache-2.0

package import DBus
import Glibc
import Synchronization

/// The real `idownd` as a process, on a private bus and with a home folder of its own.
///
/// The object outlives the process, so that a test can kill and restart the service and check what
/// is left. It records signals from before the first start.
package final class ServiceUnderTest: Sendable {
    /// Why the service did not start.
    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The service's bus name.
    package static let busName: BusName = "org.idown.Manager1"
    /// The path of the service's manager object.
    package static let managerPath: ObjectPath = "/org/idown/Manager1"

    /// The user's folders.
    package let home: ServiceHome

    private let program: BuiltProgram
    private let session: Mutex<Session>
    /// The buses that have ended; the folder of the first one holds the socket of all.
    private let earlierBuses = Mutex<[PrivateBus]>([])
    private let runs = Mutex<[ChildProcess]>([])

    /// A bus with a client's connection to it.
    private struct Session {
        let bus: PrivateBus
        let connection: Connection
        let signals: SignalLog
        /// The changes of the owner of the service's name.
        let owners: SignalLog

        /// Connects to a bus; ends the bus if that fails.
        init(_ bus: PrivateBus) async throws {
            do {
                self.bus = bus
                connection = try await Connection.open(.address(bus.address))
                signals = try await SignalLog(
                    MatchRule(sender: busName, path: managerPath),
                    on: connection
                )
                owners = try await SignalLog(.ownerChanges(of: busName), on: connection)
            } catch {
                await bus.stop()
                throw error
            }
        }
    }

    private init(home: ServiceHome, program: BuiltProgram, session: Session) {
        self.home = home
        self.program = program
        self.session = Mutex(session)
    }

    /// Starts the bus and a client and makes the home; does not start the service.
    static func prepare(in folder: String) async throws -> ServiceUnderTest {
        let program = try BuiltProgram("idownd")
        let home = ServiceHome(in: folder)
        let bus = try await PrivateBus.start(serviceFolders: [home.services])
        return ServiceUnderTest(home: home, program: program, session: try await Session(bus))
    }

    /// The session bus.
    package var bus: PrivateBus { session.withLock(\.bus) }
    /// The client's connection to the session bus.
    package var connection: Connection { session.withLock(\.connection) }
    /// All signals of the manager object, including those of `Properties`.
    package var signals: SignalLog { session.withLock(\.signals) }
    private var owners: SignalLog { session.withLock(\.owners) }

    /// The environment of every program in this session.
    package var environment: [String: String] {
        bus.environment.merging(home.variables) { $1 }
    }

    /// The interface `org.idown.Manager1` as a client sees it.
    package var manager: Proxy {
        Proxy(connection, Self.busName, Self.managerPath, "org.idown.Manager1")
    }

    /// The standard error of all runs of the service so far.
    package var log: String {
        let activated = (try? TestFile.text(of: home.activatedLog)) ?? ""
        return runs.withLock { $0.map(\.standardError).joined() } + activated
    }

    /// Returns how each finished run ended, one line per run.
    func ends() async -> String {
        var text = ""
        for child in runs.withLock({ $0 }) where child.hasExited {
            text += "a run ended: \(await child.waitForExit())\n"
        }
        return text
    }

    /// Waits until a text is in the log, which arrives through a pipe with some delay.
    ///
    /// - Parameters:
    ///   - text: The text to wait for.
    ///   - mark: The number of characters of the log to skip.
    /// - Throws: ``TimedOut``.
    package func waitForLog(_ text: String, after mark: Int = 0) async throws {
        try await soon("\"\(text)\" in the log") { self.log.dropFirst(mark).contains(text) }
    }
}

// MARK: Coming and going

extension ServiceUnderTest {
    /// Starts the service and returns once it owns its bus name.
    ///
    /// - Parameter wrapper: A program with arguments that starts the service; empty for none.
    /// - Throws: ``StartFailure`` if the service ends before that; ``TimedOut``.
    package func start(under wrapper: [String] = []) async throws {
        let mark = owners.count
        let child = try await launch(under: wrapper)
        let owners = owners
        let race = Race<Bool>()
        race.run {
            try await owners.first(after: mark, "idownd to take its name", where: Self.hasOwner)
            return true
        }
        race.run {
            await child.waitForExit()
            return false
        }
        guard try await race.result() else {
            let status = await child.waitForExit()
            throw StartFailure(description: "idownd ended: \(status)\n\(child.standardError)")
        }
    }

    /// Starts the service and returns immediately; the end of the test stops it.
    @discardableResult
    package func launch(
        under wrapper: [String] = [],
        environment changes: [String: String] = [:]
    ) async throws -> ChildProcess {
        let command = wrapper + [program.path]
        let child = try await ChildProcess.start(
            command[0],
            Array(command.dropFirst()),
            environment: environment.merging(changes) { $1 },
            workingDirectory: home.path
        )
        runs.withLock { $0.append(child) }
        return child
    }

    /// Makes the service known to the bus, which then starts it on the first call.
    package func installForActivation() throws {
        try home.install(program, as: Self.busName.rawValue)
    }

    /// Returns the process id of the running service, even if the bus started it.
    package func processID() async throws -> Int32 {
        guard let id = try await connection.processID(of: Self.busName) else {
            throw StartFailure(description: "no service runs")
        }
        return Int32(bitPattern: id)
    }

    /// Kills the service, as a crash does; returns once the bus has noticed.
    package func kill9() async throws {
        try await end { kill($0, SIGKILL) }
    }

    /// Asks the service to end, and waits until it has.
    ///
    /// - Returns: How it ended.
    package func terminate() async throws -> ChildProcess.ExitStatus {
        let child = runs.withLock { $0.last { !$0.hasExited } }
        guard let child else { throw StartFailure(description: "no service runs") }
        try await end { kill($0, SIGTERM) }
        return await child.waitForExit()
    }

    /// Waits for the end of a service that ends by itself.
    package func waitForEnd() async throws -> ChildProcess.ExitStatus {
        let child = runs.withLock { $0.last }
        guard let child else { throw StartFailure(description: "no service runs") }
        return try await within("idownd to end") { await child.waitForExit() }
    }

    /// Kills the service and starts it again.
    package func restartAfterKill() async throws {
        try await kill9()
        try await start()
    }

    /// Ends the service normally and starts it again.
    package func restart() async throws {
        _ = try await terminate()
        try await start()
    }

    /// Kills the bus, as a crash does, and starts another one with the same address.
    ///
    /// Returns once the running service owns its name there. The client gets a new ``connection``.
    package func replaceBus() async throws {
        let last = bus
        let socket = last.address.dropFirst("unix:path=".count).prefix { $0 != "," }
        await last.kill()
        await connection.close()
        let next = try await Session(
            PrivateBus.start(serviceFolders: [home.services], socket: String(socket))
        )
        earlierBuses.withLock { $0.append(last) }
        session.withLock { $0 = next }
        try await soon("the service to be on the new bus") {
            (try? await next.connection.owner(of: Self.busName)) != nil
        }
    }

    private func end(_ send: (Int32) -> Void) async throws {
        let mark = owners.count
        send(try await processID())
        try await owners.first(after: mark, "idownd to give up its name") { !Self.hasOwner($0) }
        // The lock and the files are free only after the process has ended.
        for child in runs.withLock({ $0 }) where !child.hasExited {
            try await within("idownd to be gone") { await child.waitForExit() }
        }
    }

    private static func hasOwner(_ signal: SignalMessage) -> Bool {
        signal.arguments.last != .string("")
    }

    /// Ends the service, the client and all buses.
    func tearDown() async {
        // A service that the bus started is not a child of this process, so it is ended by its id.
        if let activated = try? await processID(),
            !runs.withLock({ $0.contains { $0.processIdentifier == activated } })
        {
            kill(activated, SIGKILL)
        }
        for child in runs.withLock({ $0 }) where !child.hasExited {
            child.send(SIGKILL)
            await child.waitForExit()
        }
        await connection.close()
        await bus.stop()
        for bus in earlierBuses.withLock({ $0 }) { await bus.stop() }
    }
}

/// Runs `body` with a service of its own; ends and removes everything afterwards.
///
/// - Parameters:
///   - started: Whether the service runs when `body` begins.
///   - body: The test.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, after the service's log was written to standard error.
package func withService<Value>(
    started: Bool = true,
    _ body: (ServiceUnderTest) async throws -> Value
) async throws -> Value {
    try await withTemporaryFolder { folder in
        let service = try await ServiceUnderTest.prepare(in: folder)
        do {
            if started { try await service.start() }
            let value = try await body(service)
            await service.tearDown()
            return value
        } catch {
            let log = await service.log + service.ends()
            await service.tearDown()
            let text = Array("what idownd said before the test ended:\n\(log)\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            throw error
        }
    }
}
