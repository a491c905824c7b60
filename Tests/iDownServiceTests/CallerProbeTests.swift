// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import iDownService

@Suite struct CallerProbeTests {
    /// Looks at a process 7 whose files are given by their paths below `/proc/7`.
    private func caller(_ files: [String: String], _ root: Bool = true) async throws -> Caller? {
        try await withTemporaryFolder { proc in
            for folder in ["", "/root", "/attr", "/attr/apparmor"] {
                guard folder != "/root" || root else { continue }
                #expect(mkdir("\(proc)/7\(folder)", 0o700) == 0)
            }
            for (path, text) in files { try TestFile.write(text, to: "\(proc)/7/\(path)") }
            return await CallerProbe(folder: proc).caller(process: 7)
        }
    }

    @Test func `a program of the user's has none of the marks`() async throws {
        let cgroup = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/snap-store.scope\n"
        #expect(
            try await caller(["cgroup": cgroup, "attr/current": "unconfined\n"]) == .program
        )
        #expect(try await caller([:]) == .program)
        #expect(await CallerProbe().caller(process: UInt32(getpid())) == .program)
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
        #expect(found == .application("flatpak/" + id))
    }

    @Test(arguments: ["", "[Application]\nname=\n", "[Application]\nruntime=x\n", "name=a.b\n"])
    func `a file that names no application tells nothing`(text: String) async throws {
        #expect(try await caller(["root/.flatpak-info": text]) == nil)
    }

    @Test(
        arguments: [
            ("attr/apparmor/current", "snap.firefox.firefox (enforce)\n"),
            ("attr/current", "snap.firefox.hook.configure (complain)\n"),
            ("cgroup", "0::/user.slice/snap.firefox.firefox-1b2c.scope\n"),
            ("cgroup", "1:name=systemd:/a/snap.firefox.firefox.scope\n0::/\n"),
        ]
    )
    func `a Snap is told by its label or its group`(path: String, text: String) async throws {
        #expect(try await caller([path: text]) == .application("snap/firefox"))
    }

    @Test func `a process that is gone, or hides its root, cannot be told`() async throws {
        #expect(try await caller([:], false) == nil)
        #expect(await CallerProbe().caller(process: 0) == nil)
        #expect(await CallerProbe(folder: "/nonexistent").caller(process: 7) == nil)
    }
}
