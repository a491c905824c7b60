// SPDX-License-Identifier: Apache-2.0

import DBus

/// A service of the desktop, which may be there or not, may come or go, and may never answer.
struct BusService: Sendable {
    /// Nothing here waits longer for an answer.
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
        startsIt: Bool = false
    ) async throws(BusError) -> [Value] {
        try await connection.call(
            name,
            object ?? path,
            other ?? interface,
            member,
            arguments,
            timeout: Self.patience,
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

    /// All properties; empty where nobody serves them or nobody answers.
    var properties: [String: Value] {
        get async {
            guard await isThere,
                let answer = try? await call(
                    "GetAll",
                    [.string(interface.rawValue)],
                    of: "org.freedesktop.DBus.Properties"
                ),
                let first = answer.first,
                let properties = try? [String: Value](busValue: first)
            else { return [:] }
            return properties
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

    /// Hands over all properties, at first and after each change.
    ///
    /// Nothing of what is said in between is lost. Returns when the connection ends or the task is
    /// cancelled.
    func followProperties(_ tell: @escaping @Sendable ([String: Value]) async -> Void) async {
        let (pokes, poke) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let rule = MatchRule(
            sender: name,
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            path: path,
            arguments: [0: interface.rawValue]
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
            for await _ in pokes { await tell(await properties) }
            group.cancelAll()
        }
    }
}
