// SPDX-License-Identifier: Apache-2.0

import DBus

/// Hears of sleep from logind, and has it wait until everything is safe on the disk.
///
/// A *delay* inhibitor, which logind ends by itself after a few seconds; nobody is kept from
/// sending the computer to sleep (`org.freedesktop.login1`, systemd's "Inhibitor Locks").
struct SleepWatch: Sendable {
    private enum Happening: Sendable {
        case isThere(Bool)
        case sleeps(Bool)
    }

    let host: any DesktopHost
    private let logind: BusService

    init(_ connection: Connection, host: any DesktopHost) {
        self.host = host
        logind = .logind(on: connection)
    }

    /// Returns when the connection ends or the task is cancelled.
    func follow() async {
        let (happenings, post) = AsyncStream.makeStream(
            of: Happening.self,
            bufferingPolicy: .bufferingNewest(64)
        )
        await withTaskGroup { group in
            group.addTask {
                await logind.followSignals("PrepareForSleep") { signal in
                    guard case .boolean(let sleeps) = signal.arguments.first else { return }
                    post.yield(.sleeps(sleeps))
                }
            }
            group.addTask {
                await logind.followOwner { post.yield(.isThere($0)) }
                post.finish()
            }
            var lock: OpenDescriptor?
            for await happening in happenings {
                switch happening {
                case .isThere(true), .sleeps(false):
                    await host.didWake()
                    lock = await delaySleep()
                case .isThere(false):
                    lock = nil
                    await host.didWake()
                case .sleeps(true):
                    await host.willSleep()
                    lock = nil
                }
            }
            withExtendedLifetime(lock) {}
            group.cancelAll()
        }
        await host.didWake()
    }

    /// Sleep waits for as long as the descriptor is open.
    private func delaySleep() async -> OpenDescriptor? {
        await logind.inhibit("sleep", why: "Saving what was downloaded", mode: "delay")
    }
}

extension BusService {
    /// The service of sessions and sleep.
    static func logind(on connection: Connection) -> BusService {
        BusService(
            connection,
            "org.freedesktop.login1",
            "/org/freedesktop/login1",
            "org.freedesktop.login1.Manager"
        )
    }

    /// Takes one of logind's locks, which ends with the descriptor; nil where it gives none.
    func inhibit(_ what: String, why: String, mode: String) async -> OpenDescriptor? {
        let arguments = [what, "idown", why, mode].map { Value.string($0) }
        guard case .descriptor(let lock)? = try? await call("Inhibit", arguments).first else {
            return nil
        }
        return lock
    }
}
