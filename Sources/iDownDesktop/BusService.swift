// SPDX-License-Identifier: Apache-2.0

import DBus

/// A service of the desktop, which may be there or not, may come or go, and may never answer.
struct BusService: Sendable {
    /// Nothing here waits longer for an answer, unless it says so.
    static let patience: Duration = .seconds(5)

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

    /// Calls a method of the service, or of another object or interface of it.
    ///
    /// With `startsIt` the bus may start the service for the call.
    @discardableResult
    func call(
        _ member: MemberName,
        _ arguments: [Value] = [],
        at object: ObjectPath? = nil,
        of other: InterfaceName? = nil,
        startsIt: Bool = false,
        patience: Duration = Self.patience
    ) async throws(BusError) -> [Value] {
        try await connection.call(
            name,
            object ?? path,
            other ?? interface,
            member,
            arguments,
            timeout: patience,
            startService: startsIt
        )
    }

    /// Whether somebody serves it now.
    var isThere: Bool {
        get async { (try? await connection.owner(of: name)) != nil }
    }

    /// Whether somebody serves it now, or the bus knows how to start one who does.
    var isWithinReach: Bool {
        get async {
            if await isThere { return true }
            let names = try? await connection.call(
                .bus,
                "/org/freedesktop/DBus",
                "org.freedesktop.DBus",
                "ListActivatableNames",
                timeout: Self.patience
            )
            guard case .array(_, let activatable)? = names?.first else { return false }
            return activatable.contains(.string(name.rawValue))
        }
    }

    /// All properties.
    private var properties: Finding<[String: Value]> {
        get async {
            do throws(BusError) {
                _ = try await connection.owner(of: name)
                let answer = try await call(
                    "GetAll",
                    [.string(interface.rawValue)],
                    of: "org.freedesktop.DBus.Properties"
                )
                guard let first = answer.first,
                    let properties = try? [String: Value](busValue: first)
                else { return .nobody }
                return .said(properties)
            } catch {
                return Finding(error)
            }
        }
    }

    /// Tells whether it is there, at first and each time that it comes or goes; returns when the
    /// connection ends or the task is cancelled.
    func followOwner(_ tell: @Sendable (Bool) async -> Void) async {
        let rule = MatchRule(
            sender: .bus,
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged",
            arguments: [0: name.rawValue]
        )
        guard let changes = try? await connection.signals(rule) else { return }
        await tell(await isThere)
        do {
            for try await change in changes { await tell(change.arguments.last != .string("")) }
        } catch {
            // More changes than anybody reads: whoever comes and goes so often is no service.
        }
    }

    /// Hands over each signal of the service's interface, wherever in it it comes from.
    func followSignals(
        _ member: MemberName? = nil,
        _ tell: @Sendable (Signal) async -> Void
    ) async {
        let rule = MatchRule(sender: name, interface: interface, member: member)
        guard let signals = try? await connection.signals(rule) else { return }
        do {
            for try await signal in signals { await tell(signal) }
        } catch {
            // As above.
        }
    }

    /// Hands over all properties, at first and after each change; none where nobody serves them.
    ///
    /// As ``follow(_:grace:asking:_:)`` does it.
    func followProperties(
        grace: Duration,
        isReady: @escaping @Sendable ([String: Value]) -> Bool = { _ in true },
        _ tell: @escaping @Sendable ([String: Value]) async -> Void
    ) async {
        let rule = MatchRule(
            sender: name,
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            path: path,
            arguments: [0: interface.rawValue]
        )
        let asking: @Sendable () async -> Finding<[String: Value]> = {
            let finding = await properties
            // Who is still finding out says nothing yet.
            if case .said(let known) = finding, !isReady(known) { return .silence }
            return finding
        }
        await follow(rule, grace: grace, asking: asking) { known in
            await tell(known ?? [:])
        }
    }

    /// Hands over what the service says, at first and after each signal of a rule.
    ///
    /// Nothing of what is said in between is lost. Returns when the connection ends or the task is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - rule: tells that it may have something else to say.
    ///   - grace: what it said stands for so long after it has gone: ``LastWord``.
    ///   - asking: asks what it has to say.
    ///   - tell: hears of it; nil where nobody has anything to say.
    func follow<Word: Sendable>(
        _ rule: MatchRule,
        grace: Duration,
        asking: @escaping @Sendable () async -> Finding<Word>,
        _ tell: @escaping @Sendable (Word?) async -> Void
    ) async {
        let (pokes, poke) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        await withTaskGroup { group in
            group.addTask {
                await followOwner { _ in poke.yield() }
                poke.finish()
            }
            group.addTask {
                guard let changes = try? await connection.signals(rule) else { return }
                // What changed before the bus knew the rule is asked for once more.
                poke.yield()
                do {
                    for try await _ in changes { poke.yield() }
                } catch {
                    // As above.
                }
            }
            var last = LastWord<Word>(grace: grace)
            var alarm: Task<Void, Never>?
            for await _ in pokes {
                let finding = await asking()
                if last.take(finding, at: .now) { await tell(last.word) }
                alarm?.cancel()
                alarm = nil
                guard let moment = last.nextLook else { continue }
                alarm = Task {
                    guard (try? await Task.sleep(until: moment, clock: .continuous)) != nil else {
                        return
                    }
                    poke.yield()
                }
            }
            alarm?.cancel()
            group.cancelAll()
        }
    }
}
