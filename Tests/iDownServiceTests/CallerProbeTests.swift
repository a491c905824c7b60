// SPDX-License-Identifier: Apache-2.0

import CLinux
import DBus
import Glibc
import Testing
import iDownTesting

@testable import iDownService

@Suite struct CallerProbeTests {
    /// What the kernel tells of a process 7 that started at tick 500.
    private static let stat = "7 (a ) b) S" + String(repeating: " 1", count: 18) + " 500 1\n"

    /// Looks at a process 7 whose files are given by their paths below `/proc/7`.
    private func caller(
        _ files: [String: String],
        hasRoot: Bool = true,
        link: String? = "socket:[5]",
        connectedBy: UInt64 = 500
    ) async throws -> Result<Caller, CallerDoubt> {
        try await withTemporaryFolder { proc in
            for folder in ["", "/root", "/attr", "/attr/apparmor", "/fd"] {
                guard folder != "/root" || hasRoot else { continue }
                #expect(mkdir("\(proc)/7\(folder)", 0o700) == 0)
            }
            if let link { #expect(symlink(link, "\(proc)/7/fd/3") == 0) }
            for (path, text) in ["stat": Self.stat].merging(files, uniquingKeysWith: { $1 }) {
                try TestFile.write(text, to: "\(proc)/7/\(path)")
            }
            let evidence = CallerEvidence.number(
                7,
                connectedBy: BootTime(ticks: connectedBy),
                busSocket: nil
            )
            return await CallerProbe(folder: proc).caller(evidence)
        }
    }

    @Test func `a program of the user's has none of the marks`() async throws {
        let cgroup = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/snap-store.scope\n"
        #expect(
            try await caller(["cgroup": cgroup, "attr/current": "unconfined\n"])
                == .success(.program(nil))
        )
        #expect(try await caller([:]) == .success(.program(nil)))
    }

    @Test(arguments: [
        ("app-org.kde.kate-4711.scope", "org.kde.kate"),
        ("app-gnome-org.gnome.Nautilus-4711.scope", "org.gnome.Nautilus"),
        ("app-gnome-google\\x2dchrome-4711.scope", "google-chrome"),
        ("app-firefox@0a1b2c.service", "firefox"),
        ("app-org.kde.yakuake@autostart.service", "org.kde.yakuake"),
        ("dbus-:1.2-org.gnome.Epiphany@0.service", "org.gnome.Epiphany"),
        ("my-feeds.service", "my-feeds"),
        ("my-feeds.service/worker", "my-feeds"),
        ("vte-spawn-1d0a.scope", nil),
        ("run-u17.service", nil),
        ("run-r1a2b.scope", nil),
        ("app-.scope", nil),
        ("app-a\\x1bb-1.scope", nil),
    ])
    func `a program is known by its desktop file or its unit`(
        unit: String,
        id: String?
    ) async throws {
        let group = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/\(unit)\n"
        #expect(try await caller(["cgroup": "4:memory:/x\n" + group]) == .success(.program(id)))
        #expect(
            try await caller(["cgroup": "1:name=systemd" + group.dropFirst(2)])
                == .success(.program(id))
        )
    }

    @Test func `a program of a session or a slice is not known`() async throws {
        for group in [
            "0::/user.slice/user-1000.slice/session-3.scope", "0::/", "0::/user.slice",
            "0::/user.slice/user-1000.slice/user@1000.service/init.scope", "4:memory:/a.service",
        ] {
            #expect(try await caller(["cgroup": group + "\n"]) == .success(.program(nil)))
        }
    }

    @Test func `a process that started after the connection came is another one`() async throws {
        #expect(try await caller([:], connectedBy: 499) == .failure(.isYounger))
        #expect(try await caller([:], connectedBy: 501) == .success(.program(nil)))
    }

    @Test func `a process that has ended cannot be told`() async throws {
        let ended = Self.stat.replacing(" S ", with: " Z ")
        #expect(try await caller(["stat": ended]) == .failure(.hasEnded))
        #expect(try await caller(["stat": "7 (a) S\n"]) == .failure(.hasEnded))
    }

    @Test func `a process without a socket has no connection`() async throws {
        #expect(try await caller([:], link: nil) == .failure(.hasNoConnection))
        #expect(try await caller([:], link: "/dev/null") == .failure(.hasNoConnection))
    }

    @Test func `a process has to hold a connection to this bus`() async throws {
        try await withPrivateBus { bus in
            try await withPrivateBus { other in
                let connection = try await Connection.open(.address(bus.address))
                let stranger = try await Connection.open(.address(other.address))
                let socket = try #require(await connection.busSocketName)
                @Sendable func own() async -> Result<Caller, CallerDoubt> {
                    let number = UInt32(getpid())
                    let evidence = CallerEvidence.number(
                        number,
                        connectedBy: .now,
                        busSocket: socket
                    )
                    return await CallerProbe().caller(evidence)
                }
                #expect(await own() == .success(.program(nil)))
                await connection.close()
                #expect(await connection.busSocketName == nil)
                try await soon("the connection to be gone") {
                    await own() == .failure(.hasNoConnection)
                }
                await stranger.close()
            }
        }
    }

    @Test func `a descriptor tells its own process until that has ended`() async throws {
        let child = try await ChildProcess.start("sleep", ["60"])
        let descriptor = OpenDescriptor(owning: clinux_pidfd_open(child.processIdentifier))
        #expect(descriptor.number >= 0)
        #expect(await CallerProbe().caller(.descriptor(descriptor)) == .success(.program(nil)))
        await child.stop()
        #expect(await CallerProbe().caller(.descriptor(descriptor)) == .failure(.hasEnded))
    }

    @Test(
        arguments: [
            ("[Application]\nname=org.example.App\nruntime=x\n", "org.example.App"),
            ("[Instance]\nname=no\n[Application]\n name = a.b \n", "a.b"),
            ("[Runtime]\nname=org.example.Sdk\n", "org.example.Sdk"),
        ]
    )
    func `a Flatpak is told by the file in its root`(text: String, id: String) async throws {
        let found = try await caller(["root/.flatpak-info": text])
        #expect(found == .success(.application("flatpak/" + id)))
    }

    @Test(arguments: ["", "[Application]\nname=\n", "[Application]\nruntime=x\n", "name=a.b\n"])
    func `a file that names no application tells nothing`(text: String) async throws {
        #expect(try await caller(["root/.flatpak-info": text]) == .failure(.isUnreadable))
    }

    @Test(
        arguments: [
            ("attr/apparmor/current", "snap.firefox.firefox (enforce)\n"),
            ("attr/current", "snap.firefox.hook.configure (complain)\n"),
            ("cgroup", "0::/user.slice/snap.firefox.firefox-1b2c.scope\n"),
            ("cgroup", "1:name=systemd:/a/snap.firefox.firefox.scope\n0::/\n"),
            ("cgroup", "0::/user.slice/snap.firefox.firefox-1b2c.scope/child/snap.other.x\n"),
        ]
    )
    func `a Snap is told by its label or its group`(path: String, text: String) async throws {
        #expect(try await caller([path: text]) == .success(.application("snap/firefox")))
    }

    @Test func `a process that is gone, or hides its root, cannot be told`() async throws {
        #expect(try await caller([:], hasRoot: false) == .failure(.isUnreadable))
        for folder in ["/proc", "/nonexistent"] {
            let evidence = CallerEvidence.number(0, connectedBy: .end, busSocket: nil)
            #expect(await CallerProbe(folder: folder).caller(evidence) == .failure(.hasEnded))
        }
    }
}
