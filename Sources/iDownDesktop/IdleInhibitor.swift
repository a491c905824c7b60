// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownView

/// Keeps an idle computer from going to sleep while something downloads, if the user has set
/// `StayAwake`.
///
/// It takes a lock from logind. Some desktops ignore that lock: there it also asks the session's
/// own services, including those that start later. The user can still send the computer to sleep by
/// hand.
actor IdleInhibitor {
    /// A service of the session bus that decides whether an idle computer sleeps.
    private struct SessionService: Sendable {
        let name: BusName
        let path: ObjectPath
        let interface: InterfaceName
        /// The arguments of its method `Inhibit`.
        let arguments: [Value]
        /// The method that ends an inhibition.
        let release: MemberName
    }

    /// An inhibition that a session service has granted.
    private struct Inhibition {
        /// The granting service by its unique name: a process that takes over its well-known name
        /// does not know the inhibition.
        let service: Proxy
        let release: MemberName
        let cookie: UInt32
    }

    private static var reason: String { translated("Downloading") }

    private static var sessionServices: [SessionService] {
        [
            SessionService(
                name: "org.gnome.SessionManager",
                path: "/org/gnome/SessionManager",
                interface: "org.gnome.SessionManager",
                // No window (0); flag 4 inhibits automatic suspend.
                arguments: [.string("idown"), .uint32(0), .string(reason), .uint32(4)],
                release: "Uninhibit"
            ),
            SessionService(
                name: "org.freedesktop.PowerManagement",
                path: "/org/freedesktop/PowerManagement/Inhibit",
                interface: "org.freedesktop.PowerManagement.Inhibit",
                arguments: [.string("idown"), .string(reason)],
                release: "UnInhibit"
            ),
        ]
    }

    private var system: Connection?
    private var session: Connection?
    private var logindLock: OpenDescriptor?
    /// The granted inhibitions, by the services' well-known names.
    private var inhibitions: [BusName: Inhibition] = [:]
    private var isEnabled = false
    private var isDownloading = false
    private var isInhibiting = false
    /// Whether a session service has started or stopped since all were asked.
    private var servicesHaveChanged = false
    private var follower: Task<Void, Never>?
    private var worker: Task<Void, Never>?

    /// Replaces the system bus; the lock taken there before is gone.
    func setSystemBus(_ connection: Connection?) {
        system = connection
        logindLock = nil
        isInhibiting = false
        startWorker()
    }

    /// Replaces the session bus; the inhibitions granted there before are gone.
    func setSessionBus(_ connection: Connection?) {
        session = connection
        inhibitions = [:]
        isInhibiting = false
        follower?.cancel()
        follower = nil
        if let connection { follower = Task { await follow(connection) } }
        startWorker()
    }

    /// Turns the inhibitor on or off, as the setting `StayAwake` says.
    func setEnabled(_ isEnabled: Bool) {
        self.isEnabled = isEnabled
        startWorker()
    }

    /// Tells the inhibitor whether anything is downloading now.
    func setDownloading(_ isDownloading: Bool) {
        guard isDownloading != self.isDownloading else { return }
        self.isDownloading = isDownloading
        startWorker()
    }

    private func follow(_ session: Connection) async {
        await withTaskGroup { group in
            for known in Self.sessionServices {
                let service = Proxy(optional: session, known.name, known.path, known.interface)
                group.addTask { [self] in
                    guard let owners = try? await service.owners() else { return }
                    do {
                        for try await _ in owners { await servicesChanged() }
                    } catch {
                        // The signal queue overflowed: a service that restarts this often is of no
                        // use.
                    }
                }
            }
        }
    }

    private func servicesChanged() {
        servicesHaveChanged = true
        startWorker()
    }

    private func startWorker() {
        guard worker == nil else { return }
        worker = Task {
            while true {
                if isInhibiting != (isDownloading && isEnabled) {
                    isInhibiting.toggle()
                    if isInhibiting { await inhibit() } else { await release() }
                } else if servicesHaveChanged {
                    servicesHaveChanged = false
                    if isInhibiting { await askSessionServices() }
                } else {
                    break
                }
            }
            worker = nil
        }
    }

    private func inhibit() async {
        await release()
        if let system {
            logindLock = await Proxy.logind(on: system)
                .inhibit("idle", why: Self.reason, mode: "block")
        }
        await askSessionServices()
    }

    /// Inhibits idle sleep at each running session service where it is not inhibited yet.
    private func askSessionServices() async {
        guard let session else { return }
        for known in Self.sessionServices {
            let owner = try? await session.owner(of: known.name)
            guard inhibitions[known.name]?.service.destination != owner else { continue }
            // The process that granted the inhibition is gone, and the inhibition with it.
            inhibitions[known.name] = nil
            guard let owner else { continue }
            let service = Proxy(optional: session, owner, known.path, known.interface)
            let answer = try? await service.call("Inhibit", values: known.arguments)
            // If the session bus was replaced during the call, its inhibitions are gone.
            guard self.session === session else { return }
            guard case .uint32(let cookie)? = answer?.first else { continue }
            inhibitions[known.name] = Inhibition(
                service: service,
                release: known.release,
                cookie: cookie
            )
        }
    }

    private func release() async {
        logindLock = nil
        let granted = inhibitions.values
        inhibitions = [:]
        for inhibition in granted {
            try? await inhibition.service.call(inhibition.release, inhibition.cookie)
        }
    }
}
