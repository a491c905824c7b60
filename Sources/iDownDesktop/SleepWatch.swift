// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownView

/// Delays sleep until downloads are safe on the disk: logind announces sleep and waits.
///
/// It holds a *delay* inhibitor, which logind ends by itself after a few seconds, so that it never
/// prevents sleep (`org.freedesktop.login1`, systemd's "Inhibitor Locks").
struct SleepWatch: Sendable {
    let host: any DesktopHost
    private let logind: Proxy

    init(_ connection: Connection, host: any DesktopHost) {
        self.host = host
        logind = .logind(on: connection)
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        var lock: OpenDescriptor?
        do {
            for try await event in try await logind.events("PrepareForSleep") {
                switch event {
                case .owner(let owner):
                    lock = nil
                    await host.didWake()
                    if owner != nil { lock = await delaySleep() }
                case .signal(let signal) where signal.arguments == [.boolean(true)]:
                    await host.willSleep()
                    lock = nil
                case .signal(let signal) where signal.arguments == [.boolean(false)]:
                    await host.didWake()
                    lock = await delaySleep()
                case .signal:
                    break
                }
            }
        } catch {
            // The signal queue overflowed: a service that sends this much is of no use.
        }
        withExtendedLifetime(lock) {}
        await host.didWake()
    }

    /// Takes the lock; logind delays sleep for as long as the descriptor is open.
    private func delaySleep() async -> OpenDescriptor? {
        await logind.inhibit(
            "sleep",
            why: translated("Saving the state of downloads"),
            mode: "delay"
        )
    }
}

extension Proxy {
    /// systemd-logind, the service for sessions and sleep.
    static func logind(on connection: Connection) -> Proxy {
        Proxy(
            optional: connection,
            "org.freedesktop.login1",
            "/org/freedesktop/login1",
            "org.freedesktop.login1.Manager"
        )
    }

    /// Takes one of logind's inhibitor locks, which lasts until its descriptor is closed; nil where
    /// logind gives none.
    func inhibit(_ what: String, why: String, mode: String) async -> OpenDescriptor? {
        let answer = try? await call(
            "Inhibit",
            values: [what, "idown", why, mode].map(Value.string)
        )
        guard case .descriptor(let lock)? = answer?.first else { return nil }
        return lock
    }
}
