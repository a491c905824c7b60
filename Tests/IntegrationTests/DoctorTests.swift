// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// The real `idown doctor`.
@Suite(.timeLimit(.minutes(5)))
struct DoctorTests {
    @Test func `doctor passes a working session, and reports a missing bus`() async throws {
        try await withService(started: false) { service in
            try service.installForActivation()
            let fine = try await idown("doctor", in: service)
            #expect(fine.status == .exited(0), "\(fine)")
            #expect(fine.standardOutput.contains("idownd \(Contract.version)"), "\(fine)")
            #expect(fine.standardOutput.contains("~/Downloads"), "\(fine)")
            // A working session needs a few lines, and a report lists every check.
            let lines = fine.standardOutput.split(separator: "\n")
            #expect(lines.first?.hasPrefix("ok ") == true, "\(fine)")
            #expect(lines.count { $0.hasPrefix("ok ") } == 1, "\(fine)")
            let report = try await idown("doctor", "--report", in: service)
            #expect(report.standardOutput.contains("session bus"), "\(report)")
            let alone = try await idown(
                ["doctor"],
                in: service,
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"]
            )
            #expect(alone.status == .exited(1), "\(alone)")
            #expect(alone.standardOutput.contains("dbus-run-session"), "\(alone)")
        }
        try await withService(started: false) { service in
            let missing = try await idown("doctor", in: service)
            #expect(missing.status == .exited(1), "\(missing)")
            #expect(missing.standardOutput.contains("make install"), "\(missing)")
        }
    }

    @Test func `doctor tells of each browser what it lacks to hand downloads over`() async throws {
        try await withService { service in
            func told() async throws -> String? {
                let report = try await idown("doctor", "--json", in: service)
                return try await evaluate(
                    "[(f['Grade'], f['Text']) for f in x if 'LibreWolf' in f['Text']]",
                    of: report.standardOutput
                )
            }
            #expect(try await told() == "[]")
            mkdir(service.home.path + "/.librewolf", 0o700)
            #expect(try await told()?.contains("not set up; the package idown-browser") == true)
            _ = try await idown("browser", "enable", in: service)
            #expect(try await told()?.contains("the extension is missing") == true)
        }
    }

    @Test func `doctor tells where the service cannot keep its list`() async throws {
        try await withService(started: false) { service in
            try service.installForActivation()
            let place = service.home.path + "/none"
            // A file where a folder is needed stops root, too.
            try TestFile.write("", to: place)
            let told = try await idown(
                ["doctor"],
                in: service,
                environment: ["XDG_STATE_HOME": place]
            )
            #expect(told.status == .exited(1), "\(told)")
            let text = "cannot keep its list in ~/none/idown: ~/none is not a folder"
            #expect(told.standardOutput.contains(text), "\(told)")
        }
    }

    @Test func `doctor tells where the service cannot change its settings`() async throws {
        try await withService(started: false) { service in
            try service.installForActivation()
            let place = service.home.path + "/none"
            // A file where a folder is needed stops root, too.
            try TestFile.write("", to: place)
            let told = try await idown(
                ["doctor"],
                in: service,
                environment: ["XDG_CONFIG_HOME": place]
            )
            let text = "cannot change the settings in ~/none/idown: ~/none is not a folder"
            #expect(told.standardOutput.contains(text), "\(told)")
        }
    }

    @Test func `doctor tells of a proxy that no download can use`() async throws {
        try await withService(started: false) { service in
            try service.installForActivation()
            let folder = service.home.config + "/idown"
            mkdir(folder, 0o700)
            try TestFile.write(#"{"Proxy": "ftp://me:secret@host"}"#, to: folder + "/settings.json")
            let told = try await idown("doctor", in: service)
            #expect(told.status == .exited(1), "\(told)")
            let text = "Proxy must be the URL of a proxy"
            #expect(told.standardOutput.contains(text), "\(told)")
            #expect(told.standardOutput.contains("downloads fail until you mend it"), "\(told)")
            #expect(!told.standardOutput.contains("secret"), "\(told)")
        }
    }

    @Test func `doctor tells of a list that was damaged`() async throws {
        try await withService { service in
            let name = "tasks.sqlite.broken-20260101-000000"
            let before = try await idown("doctor", in: service)
            #expect(!before.standardOutput.contains("damaged"), "\(before)")
            try TestFile.write("", to: service.home.state + "/" + name)
            let told = try await idown("doctor", in: service)
            #expect(told.standardOutput.contains(name), "\(told)")
        }
    }

    @Test func `doctor tells that the D-Bus service file names a missing program, or another one`()
        async throws
    {
        try await withService { service in
            try service.installForActivation()
            let folder = service.home.path + "/.local/share/dbus-1/services"
            _ = try await ChildProcess.run("mkdir", ["-p", folder])
            func told(_ program: String) async throws -> ChildProcess.Completed {
                try TestFile.write(
                    "[D-BUS Service]\nName=\(Contract.busName)\nExec=\(program)\n",
                    to: "\(folder)/\(Contract.busName).service"
                )
                return try await idown("doctor", in: service)
            }
            let right = try await told(try BuiltProgram("idownd").path)
            #expect(!right.standardOutput.contains("names"), "\(right)")
            let missing = try await told("/nowhere/idownd")
            #expect(missing.status == .exited(1), "\(missing)")
            let text = "names /nowhere/idownd: No such file or directory"
            #expect(missing.standardOutput.contains(text), "\(missing)")
            let other = try await told("/usr/bin/env")
            #expect(other.standardOutput.contains("names /usr/bin/env, but "), "\(other)")
        }
    }

    @Test func `doctor tells that a newer version wrote the list`() async throws {
        try await withService { service in
            try service.installForActivation()
            _ = try await service.terminate()
            let added = try await ChildProcess.run(
                "/usr/bin/python3",
                [
                    "-c",
                    """
                    import sqlite3, sys
                    with sqlite3.connect(sys.argv[1]) as list:
                        list.execute("INSERT INTO grdb_migrations VALUES ('99')")
                    """, service.home.store,
                ]
            )
            #expect(added.succeeded, "\(added)")
            let told = try await idown("doctor", in: service)
            #expect(told.status == .exited(1), "\(told)")
            #expect(told.standardOutput.contains("written by a newer version"), "\(told)")
            #expect(!told.standardOutput.contains("see `idown doctor`"), "\(told)")
        }
    }

    @Test func `doctor tells that the file of the cookies is gone`() async throws {
        try await withService { service in
            let file = service.home.path + "/cookies.txt"
            try TestFile.write("", to: file)
            try await service.client.set(.cookieFile, to: .text(file))
            let before = try await idown("doctor", in: service)
            #expect(!before.standardOutput.contains("cookies"), "\(before)")
            try TestFile.write("[]", to: file)
            let wrong = try await idown("doctor", in: service)
            let format = "no cookie file in Netscape's format"
            #expect(wrong.standardOutput.contains(format), "\(wrong)")
            unlink(file)
            let told = try await idown("doctor", in: service)
            #expect(told.status == .exited(1), "\(told)")
            let text = "~/cookies.txt: No such file or directory"
            #expect(told.standardOutput.contains(text), "\(told)")
        }
    }

    @Test(.enabled("root gives up its right to read every file") { geteuid() == 0 })
    func `doctor tells how to let the user read the settings`() async throws {
        try await withService { service in
            let file = service.home.config + "/idown/settings.json"
            try TestFile.write("{}", to: file)
            chmod(file, 0)
            let told = try await ChildProcess.run(
                "setpriv",
                [
                    "--bounding-set", "-dac_override,-dac_read_search",
                    try BuiltProgram("idown").path, "doctor",
                ],
                environment: service.environment
            )
            #expect(told.status == .exited(1), "\(told)")
            #expect(told.standardOutput.contains("chmod u+r '\(file)'"), "\(told)")
        }
    }

    @Test func `doctor reports a folder without write permission`() async throws {
        try await withService { service in
            try await service.client.set(.downloadDirectory, to: .text("\(service.home.path)/x"))
            chmod(service.home.state, 0o755)
            defer { chmod(service.home.state, 0o700) }
            let ended = try await idown("doctor", "--json", in: service)
            #expect(ended.status == .exited(1), "\(ended)")
            let wrong = try await evaluate(
                "[f['What'] for f in x if f['Grade'] == 'wrong']",
                of: ended.standardOutput
            )
            #expect(wrong == "[\"list's folder\"]")
        }
    }

    @Test
    func `an unreadable autostart entry is reported in a sentence that hides the home folder`()
        async throws
    {
        try await withService { service in
            let folder = service.home.config + "/autostart"
            mkdir(folder, 0o700)
            mkdir(folder + "/org.idown.Manager1.desktop", 0o700)
            let report = try await idown("doctor", "--json", in: service)
            let told = try await evaluate(
                "[f['Text'] for f in x if f['What'] == 'after login'][0].split(': ')[0]",
                of: report.standardOutput
            )
            let path = "~/.config/autostart/org.idown.Manager1.desktop"
            #expect(told == path, "\(report)")
        }
    }

    @Test func `a report contains no secrets and no names`() async throws {
        try await withService { service in
            _ = try await service.add("http://user:geheim@127.0.0.1:9/private?token=abc123") {
                $0.paused = true
                $0.headers = [.init(name: "X-Key", value: "abc123")]
            }
            let report = try await idown(
                ["doctor", "--report"],
                in: service,
                environment: ["https_proxy": "http://me:geheim@proxy:1"]
            )
            let text = report.standardOutput
            #expect(text.contains("1 paused") && text.contains("kernel"), "\(report)")
            for secret in ["geheim", "abc123", "private", "127.0.0.1", service.home.path] {
                #expect(!text.contains(secret), "\(secret): \(text)")
            }
        }
    }
}
