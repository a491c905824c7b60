// SPDX-License-Identifier: Apache-2.0

import DBus

/// Keeps an idle computer from falling asleep while something downloads; only if the user wants it.
///
/// It asks logind, and those of the session's services that decide for the desktops that do not
/// heed logind; nobody is kept from sending the computer to sleep by hand.
actor StayAwake {
    private static let reason = "Downloading"

    private var system: Connection?
    private var session: Connection?
    private var lock: OpenDescriptor?
    /// What to give back, and to whom.
    private var cookies: [(service: BusService, member: MemberName, cookie: UInt32)] = []
    private var isWanted = false
    private var isBusy = false
    private var isHeld = false
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
        cookies = []
        isHeld = false
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

    private func work() {
        guard worker == nil else { return }
        worker = Task {
            while isHeld != (isBusy && isWanted) {
                isHeld.toggle()
                if isHeld { await hold() } else { await release() }
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
        guard let session else { return }
        let gnome = BusService(
            session,
            "org.gnome.SessionManager",
            "/org/gnome/SessionManager",
            "org.gnome.SessionManager"
        )
        // Without a window; 4: automatic suspension.
        await inhibit(
            gnome,
            [.string("idown"), .uint32(0), .string(Self.reason), .uint32(4)],
            undo: "Uninhibit"
        )
        let others = BusService(
            session,
            "org.freedesktop.PowerManagement",
            "/org/freedesktop/PowerManagement/Inhibit",
            "org.freedesktop.PowerManagement.Inhibit"
        )
        await inhibit(others, [.string("idown"), .string(Self.reason)], undo: "UnInhibit")
    }

    private func inhibit(
        _ service: BusService,
        _ arguments: [Value],
        undo: MemberName
    ) async {
        guard await service.isThere,
            case .uint32(let cookie)? = try? await service.call("Inhibit", arguments).first
        else { return }
        cookies.append((service, undo, cookie))
    }

    private func release() async {
        lock = nil
        let given = cookies
        cookies = []
        for (service, member, cookie) in given {
            _ = try? await service.call(member, [.uint32(cookie)])
        }
    }
}
