// SPDX-License-Identifier: Apache-2.0

import DBus

/// Keeps an idle computer from falling asleep while something downloads; only if the user wants it.
///
/// It asks logind, and those of the session's services that decide for the desktops that do not
/// heed logind, also where they come later than the downloads; nobody is kept from sending the
/// computer to sleep by hand.
actor StayAwake {
    /// A service of the session that decides.
    private struct Decider: Sendable {
        let name: BusName
        let path: ObjectPath
        let interface: InterfaceName
        /// Those of its method `Inhibit`.
        let arguments: [Value]
        /// The method that gives back.
        let undo: MemberName
    }

    /// What to give back, and to whom.
    private struct Hold {
        /// By its unique name: whoever takes its place knows nothing of it.
        let holder: BusService
        let undo: MemberName
        let cookie: UInt32
    }

    private static let reason = "Downloading"

    private static let deciders = [
        Decider(
            name: "org.gnome.SessionManager",
            path: "/org/gnome/SessionManager",
            interface: "org.gnome.SessionManager",
            // Without a window; 4: automatic suspension.
            arguments: [.string("idown"), .uint32(0), .string(reason), .uint32(4)],
            undo: "Uninhibit"
        ),
        Decider(
            name: "org.freedesktop.PowerManagement",
            path: "/org/freedesktop/PowerManagement/Inhibit",
            interface: "org.freedesktop.PowerManagement.Inhibit",
            arguments: [.string("idown"), .string(reason)],
            undo: "UnInhibit"
        ),
    ]

    private var system: Connection?
    private var session: Connection?
    private var lock: OpenDescriptor?
    /// By the name that the service has for all.
    private var holds: [BusName: Hold] = [:]
    private var isWanted = false
    private var isBusy = false
    private var isHeld = false
    /// Whether one of those who decide has come or gone since they were asked.
    private var isOutdated = false
    private var follower: Task<Void, Never>?
    private var worker: Task<Void, Never>?

    /// A bus has come or gone, and with it all that was held there.
    func use(system connection: Connection?) {
        system = connection
        lock = nil
        isHeld = false
        work()
    }

    /// As for the system's bus.
    func use(session connection: Connection?) {
        session = connection
        holds = [:]
        isHeld = false
        follower?.cancel()
        follower = nil
        if let connection { follower = Task { await follow(connection) } }
        work()
    }

    /// Whether the user wants it.
    func setWanted(_ isWanted: Bool) {
        self.isWanted = isWanted
        work()
    }

    /// Whether anything downloads now.
    func setBusy(_ isBusy: Bool) {
        guard isBusy != self.isBusy else { return }
        self.isBusy = isBusy
        work()
    }

    private func follow(_ session: Connection) async {
        await withTaskGroup { group in
            for decider in Self.deciders {
                let service = BusService(session, decider.name, decider.path, decider.interface)
                group.addTask { [self] in await service.followOwner { _ in await self.renew() } }
            }
        }
    }

    private func renew() {
        isOutdated = true
        work()
    }

    private func work() {
        guard worker == nil else { return }
        worker = Task {
            while true {
                if isHeld != (isBusy && isWanted) {
                    isHeld.toggle()
                    if isHeld { await hold() } else { await release() }
                } else if isOutdated {
                    isOutdated = false
                    if isHeld { await askDeciders() }
                } else {
                    break
                }
            }
            worker = nil
        }
    }

    private func hold() async {
        await release()
        if let system {
            lock = await BusService.logind(on: system)
                .inhibit("idle", why: Self.reason, mode: "block")
        }
        await askDeciders()
    }

    /// Asks those of the session's services that have not been asked.
    private func askDeciders() async {
        guard let session else { return }
        for decider in Self.deciders {
            let owner = try? await session.owner(of: decider.name)
            guard holds[decider.name]?.holder.name != owner else { continue }
            // Who gave it is gone.
            holds[decider.name] = nil
            guard let owner else { continue }
            let holder = BusService(session, owner, decider.path, decider.interface)
            let answer = try? await holder.call("Inhibit", decider.arguments)
            // Another bus meanwhile: all that was held on this one is gone.
            guard self.session === session else { return }
            guard case .uint32(let cookie)? = answer?.first else { continue }
            holds[decider.name] = Hold(holder: holder, undo: decider.undo, cookie: cookie)
        }
    }

    private func release() async {
        lock = nil
        let given = holds.values
        holds = [:]
        for hold in given {
            _ = try? await hold.holder.call(hold.undo, [.uint32(hold.cookie)])
        }
    }
}
