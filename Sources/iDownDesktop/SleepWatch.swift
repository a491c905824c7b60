// SPDX-License-Identifier: Apache-2.0

import DBus

/// Delays sleep until downloads are safe on the disk: logind announces sleep and waits.
///
/// It holds a *delay* inhibitor, which logind ends by itself after a few seconds, so that it never
/// prevents sleep (`org.freedesktop.login1`, systemd's "Inhibitor Locks").
struct SleepWatch: Sendable {
    private enum Event: Sendable {
        case ownerChanged(isRunning: Bool)
        case sleepChanged(isNear: Bool)
    }

    let host: any DesktopHost
    private let logind: BusService

    init(_ connection: Connection, host: any DesktopHost) {
        self.host = host
        logind = .logind(on: connection)
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        let (events, post) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: .bufferingNewest(64)
        )
        await withTaskGroup { group in
            group.addTask {
                await logind.followSignals("PrepareForSleep") { signal in
                    guard case .boolean(let isNear) = signal.arguments.first else { return }
                    post.yield(.sleepChanged(isNear: isNear))
                }
            }
            group.addTask {
                await logind.followOwner { post.yield(.ownerChanged(isRunning: $0)) }
                post.finish()
            }
            var lock: OpenDescriptor?
            for await event in events {
                switch event {
                case .ownerChanged(isRunning: true), .sleepChanged(isNear: false):
                    await host.didWake()
                    lock = await delaySleep()
                case .ownerChanged(isRunning: false):
                    lock = nil
                    await host.didWake()
                case .sleepChanged(isNear: true):
                    await host.willSleep()
                    lock = nil
                }
            }
            withExtendedLifetime(lock) {}
            group.cancelAll()
        }
        await host.didWake()
    }

    /// Takes the lock; logind delays sleep for as long as the descriptor is open.
    private func delaySleep() async -> OpenDescriptor? {
        await logind.inhibit("sleep", why: "Saving the state of downloads", mode: "delay")
    }
}

extension BusService {
    /// systemd-logind, the service for sessions and sleep.
    static func logind(on connection: Connection) -> BusService {
        BusService(
            connection,
            "org.freedesktop.login1",
            "/org/freedesktop/login1",
            "org.freedesktop.login1.Manager"
        )
    }

    /// Takes one of logind's inhibitor locks, which lasts until its descriptor is closed; nil where
    /// logind gives none.
    func inhibit(_ what: String, why: String, mode: String) async -> OpenDescriptor? {
        let arguments = [what, "idown", why, mode].map { Value.string($0) }
        guard case .descriptor(let lock)? = try? await call("Inhibit", arguments).first else {
            return nil
        }
        return lock
    }
}
