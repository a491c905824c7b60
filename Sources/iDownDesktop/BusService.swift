// SPDX-License-Identifier: Apache-2.0

import DBus

/// A D-Bus service of the desktop that is optional: it may be missing, start or stop at any time,
/// or never answer.
struct BusService: Sendable {
    /// How long a call waits for its answer, unless the caller gives another limit.
    static let timeout: Duration = .seconds(5)

    let connection: Connection
    let name: BusName
    let path: ObjectPath
    let interface: InterfaceName

    init(
        _ connection: Connection,
        _ name: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName
    ) {
        self.connection = connection
        self.name = name
        self.path = path
        self.interface = interface
    }

    /// Calls a method of the service and returns its results.
    ///
    /// - Parameters:
    ///   - member: the method's name.
    ///   - arguments: the method's arguments.
    ///   - object: another object of the service; nil calls ``path``.
    ///   - other: another interface of the object; nil calls ``interface``.
    ///   - startsService: whether the bus may start the service for the call.
    ///   - timeout: how long to wait for the answer.
    /// - Returns: the results.
    /// - Throws: the service's error, or that of the bus.
    @discardableResult
    func call(
        _ member: MemberName,
        _ arguments: [Value] = [],
        at object: ObjectPath? = nil,
        of other: InterfaceName? = nil,
        startsService: Bool = false,
        timeout: Duration = Self.timeout
    ) async throws(BusError) -> [Value] {
        try await connection.call(
            name,
            object ?? path,
            other ?? interface,
            member,
            arguments,
            timeout: timeout,
            startService: startsService
        )
    }

    /// Whether the service is running: its bus name has an owner.
    var isRunning: Bool {
        get async { (try? await connection.owner(of: name)) != nil }
    }

    /// Whether the service is running, or the bus can start it.
    var isAvailable: Bool {
        get async {
            if await isRunning { return true }
            let names = try? await connection.call(
                .bus,
                "/org/freedesktop/DBus",
                "org.freedesktop.DBus",
                "ListActivatableNames",
                timeout: Self.timeout
            )
            guard case .array(_, let activatable)? = names?.first else { return false }
            return activatable.contains(.string(name.rawValue))
        }
    }

    /// All properties of the interface; `unavailable` where the service does not run or has none.
    private var properties: ServiceAnswer<[String: Value]> {
        get async {
            do throws(BusError) {
                _ = try await connection.owner(of: name)
                let results = try await call(
                    "GetAll",
                    [.string(interface.rawValue)],
                    of: "org.freedesktop.DBus.Properties"
                )
                guard let first = results.first,
                    let properties = try? [String: Value](busValue: first)
                else { return .unavailable }
                return .value(properties)
            } catch {
                return ServiceAnswer(error)
            }
        }
    }

    /// Reports whether the service runs: once at the start, then each time it starts or stops.
    ///
    /// Returns when the connection ends or the task is cancelled.
    func followOwner(_ report: @Sendable (Bool) async -> Void) async {
        let rule = MatchRule(
            sender: .bus,
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged",
            arguments: [0: name.rawValue]
        )
        guard let changes = try? await connection.signals(rule) else { return }
        await report(await isRunning)
        do {
            for try await change in changes { await report(change.arguments.last != .string("")) }
        } catch {
            // The signal queue overflowed: a service that starts and stops this often is of no use.
        }
    }

    /// Reports each signal of the service's interface, from any of its objects.
    func followSignals(
        _ member: MemberName? = nil,
        _ report: @Sendable (Signal) async -> Void
    ) async {
        let rule = MatchRule(sender: name, interface: interface, member: member)
        guard let signals = try? await connection.signals(rule) else { return }
        do {
            for try await signal in signals { await report(signal) }
        } catch {
            // The signal queue overflowed, as in `followOwner`.
        }
    }

    /// Reports all properties, at the start and after each change; none while the service does not
    /// run.
    ///
    /// - Parameters:
    ///   - grace: how long the last properties stay valid after the service has stopped.
    ///   - isReady: whether these properties may be used yet; those that may not are not reported.
    ///   - report: receives the properties.
    func followProperties(
        grace: Duration,
        isReady: @escaping @Sendable ([String: Value]) -> Bool = { _ in true },
        _ report: @escaping @Sendable ([String: Value]) async -> Void
    ) async {
        let rule = MatchRule(
            sender: name,
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            path: path,
            arguments: [0: interface.rawValue]
        )
        let query: @Sendable () async -> ServiceAnswer<[String: Value]> = {
            let answer = await properties
            // A service that is still starting up counts as one that has not answered.
            if case .value(let known) = answer, !isReady(known) { return .noReply }
            return answer
        }
        await follow(rule, grace: grace, query: query) { known in
            await report(known ?? [:])
        }
    }

    /// Reports what `query` finds, at the start and after each signal that matches `rule`.
    ///
    /// A signal that arrives while a query runs leads to one more query, so that no change is
    /// missed. Returns when the connection ends or the task is cancelled.
    ///
    /// - Parameters:
    ///   - rule: matches the signals after which the answer may be another.
    ///   - grace: how long the last answer stays valid after the service has stopped; see
    ///     ``LastKnownValue``.
    ///   - query: asks the service.
    ///   - report: receives the answer; nil where the service is not available.
    func follow<Content: Sendable>(
        _ rule: MatchRule,
        grace: Duration,
        query: @escaping @Sendable () async -> ServiceAnswer<Content>,
        _ report: @escaping @Sendable (Content?) async -> Void
    ) async {
        let (wakeUps, wakeUp) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        await withTaskGroup { group in
            group.addTask {
                await followOwner { _ in wakeUp.yield() }
                wakeUp.finish()
            }
            group.addTask {
                guard let changes = try? await connection.signals(rule) else { return }
                // A change before the match rule was in force sent no signal here: query once more.
                wakeUp.yield()
                do {
                    for try await _ in changes { wakeUp.yield() }
                } catch {
                    // The signal queue overflowed, as in `followOwner`.
                }
            }
            var lastKnown = LastKnownValue<Content>(grace: grace)
            var timer: Task<Void, Never>?
            for await _ in wakeUps {
                let answer = await query()
                if lastKnown.update(with: answer, at: .now) { await report(lastKnown.value) }
                timer?.cancel()
                timer = nil
                guard let nextQuery = lastKnown.nextQuery else { continue }
                timer = Task {
                    guard (try? await Task.sleep(until: nextQuery, clock: .continuous)) != nil
                    else {
                        return
                    }
                    wakeUp.yield()
                }
            }
            timer?.cancel()
            group.cancelAll()
        }
    }
}
