// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownSettings
import iDownState
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(2))) struct SleepWatchTests {
    /// The locks that are held now, as `what/mode`.
    private func locks(of mock: MockService) async throws -> [String] {
        let answer = try await mock.connection.call(
            mock.name,
            mock.path,
            mock.interface,
            "ListInhibitors"
        )
        guard case .array(_, let list) = answer.first else { return [] }
        return list.compactMap { entry in
            guard case .structure(let parts) = entry, parts.count >= 4,
                case .string(let what) = parts[0], case .string(let mode) = parts[3]
            else { return nil }
            return "\(what)/\(mode)"
        }
    }

    @Test func `sleep is delayed only until the downloads are saved`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withLogind(scene.connection) { mock in
                try await soon("the lock") { try await self.locks(of: mock) == ["sleep/delay"] }
                let mark = scene.host.all.count
                try await mock.emit("PrepareForSleep", "b", [.boolean(true)])
                try await scene.host.wait(for: "sleep", after: mark)
                try await soon("the lock to be gone") { try await self.locks(of: mock).isEmpty }
                try await mock.emit("PrepareForSleep", "b", [.boolean(false)])
                try await scene.host.wait(for: "wake", after: mark)
                try await soon("the lock") { try await self.locks(of: mock) == ["sleep/delay"] }
            }
        }
    }

    @Test func `the host is woken when logind stops during sleep`() async throws {
        try await withDesktop { scene in
            try await scene.bus.withLogind(scene.connection) { mock in
                try await soon("the lock") { try await !self.locks(of: mock).isEmpty }
                try await mock.emit("PrepareForSleep", "b", [.boolean(true)])
                try await scene.host.wait(for: "sleep")
            }
            try await soon("the host to be woken") { scene.host.all.last == "wake" }
        }
    }

    /// Plays GNOME's session manager, in place of the one that runs.
    private func serveSession(_ connection: Connection) async throws -> CallLog {
        let log = CallLog()
        try await connection.export(
            [
                Interface(
                    "org.gnome.SessionManager",
                    [
                        .method(
                            "Inhibit",
                            in: ["app", "window", "reason", "flags"],
                            out: ["cookie"]
                        ) {
                            (_: Call, app: String, _: UInt32, _: String, flags: UInt32) -> UInt32 in
                            log.keep("inhibit \(app) \(flags)")
                            return UInt32(77)
                        },
                        .method("Uninhibit", in: ["cookie"]) { (_: Call, cookie: UInt32) in
                            log.keep("give back \(cookie)")
                        },
                    ]
                )
            ],
            at: "/org/gnome/SessionManager"
        )
        _ = try await connection.requestName(
            "org.gnome.SessionManager",
            replaceExisting: true,
            allowReplacement: true
        )
        return log
    }

    @Test func `idle sleep is inhibited only while something downloads`() async throws {
        var settings = Settings.watchingPower
        settings.staysAwake = true
        try await withDesktop(settings: settings) { scene in
            let log = try await serveSession(scene.connection)
            try await scene.bus.withLogind(scene.connection) { mock in
                try await soon("the lock") { try await self.locks(of: mock) == ["sleep/delay"] }
                scene.feed.changed(.sample("1", .downloading))
                try await soon("both locks") {
                    try await Set(self.locks(of: mock)) == ["sleep/delay", "idle/block"]
                }
                try await log.wait(for: "inhibit idown 4")
                scene.feed.changed(.sample("1", .completed))
                try await soon("one lock") { try await self.locks(of: mock) == ["sleep/delay"] }
                try await log.wait(for: "give back 77")
            }
        }
    }

    @Test
    func `a session service that starts later or replaces another one is asked to inhibit sleep`()
        async throws
    {
        var settings = Settings.watchingPower
        settings.staysAwake = true
        try await withDesktop(settings: settings) { scene in
            try await scene.bus.withLogind(scene.connection) { mock in
                scene.feed.changed(.sample("1", .downloading))
                try await soon("the lock") {
                    try await self.locks(of: mock).contains("idle/block")
                }
                let first = try await serveSession(scene.connection)
                try await first.wait(for: "inhibit idown 4")
                let other = try await Connection.open(.address(scene.bus.address))
                let next = try await serveSession(other)
                try await next.wait(for: "inhibit idown 4")
                scene.feed.changed(.sample("1", .completed))
                try await next.wait(for: "give back 77")
                // Each was asked once, and the one that is gone is not called to release.
                #expect(first.all == ["inhibit idown 4"])
                #expect(next.all == ["inhibit idown 4", "give back 77"])
                await other.close()
            }
        }
    }
}
