// SPDX-License-Identifier: Apache-2.0

import CCurses
import Glibc
import iDownBus
import iDownView

extension Diagnosis {
    /// The files that tie the service into the session.
    static func ofInstallation(_ folders: DesktopFolders) -> [Finding] {
        let data = [folders.dataHome] + folders.dataFolders
        return [
            found(
                "service file",
                data.map { "\($0)/dbus-1/services/\(Contract.busName).service" },
                advice: "make install, or the package, puts it there"
            ),
            found(
                "systemd unit",
                ["\(folders.configHome)/systemd/user/idownd.service"]
                    + data.map { "\($0)/systemd/user/idownd.service" }
                    + ["/usr/local/lib", "/usr/lib", "/lib"].map {
                        "\($0)/systemd/user/idownd.service"
                    },
                advice: "without it the bus starts the service itself, with the log on its own"
            ),
            found(
                "link handler",
                data.map { "\($0)/applications/\(DesktopFolders.ownID)" },
                advice: "without it links of the form idown:?url=… open nothing"
            ),
            autostart(folders),
            stateFolder(folders),
            proxies(),
        ]
    }

    /// What whoever is asked for help wants to know; nothing that names the user or a download.
    static func ofSystem() -> [Finding] {
        var system = utsname()
        uname(&system)
        let kernel = withUnsafeBytes(of: system.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let variables = ["LANG", "LC_ALL", "TERM", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE"]
        let environment = variables.compactMap { name in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
        return [
            Finding("idown", .fine, Contract.version),
            Finding("kernel", .fine, kernel),
            Finding("C library", .fine, libraryVersion),
            Finding("terminal", .fine, String(cString: curses_version())),
            Finding("environment", .fine, environment.joined(separator: " ")),
        ]
    }

    /// The C library's own name of itself: confstr(3).
    private static var libraryVersion: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard confstr(CInt(_CS_GNU_LIBC_VERSION), buffer.baseAddress, buffer.count) > 0,
                let text = buffer.baseAddress
            else { return "" }
            return String(cString: text)
        }
    }

    /// The libraries that the service works with: what it does depends on them.
    static func ofLibraries() -> [Finding] {
        guard let answer = ServiceProgram.ask("--libraries") else {
            return [
                Finding(
                    "idownd",
                    .note,
                    "is neither beside idown nor in PATH",
                    advice: "make install, or the package, puts both into one folder"
                )
            ]
        }
        return answer.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
            return parts.count == 2 ? Finding(parts[0], .fine, parts[1]) : nil
        }
    }

    private static func found(_ what: String, _ paths: [String], advice: String) -> Finding {
        if let path = paths.first(where: { access($0, R_OK) == 0 }) {
            return Finding(what, .fine, shown(path))
        }
        return Finding(what, .note, "is not installed", advice: advice)
    }

    private static func autostart(_ folders: DesktopFolders) -> Finding {
        do {
            guard let entry = try AutostartEntry(folders).effective() else {
                return Finding(
                    "after login",
                    .note,
                    "nothing goes on by itself",
                    advice: "idown autostart enable lets unfinished downloads go on after login"
                )
            }
            return entry.isEnabled
                ? Finding("after login", .fine, "unfinished downloads go on")
                : Finding("after login", .fine, "switched off in \(shown(entry.path))")
        } catch {
            // The path comes first in it.
            return Finding(
                "after login",
                .note,
                "cannot be read",
                advice: shown(error.description)
            )
        }
    }

    /// The list holds URLs with their secrets: stat(2).
    private static func stateFolder(_ folders: DesktopFolders) -> Finding {
        let path = "\(folders.stateHome)/idown"
        var status = stat()
        guard stat(path, &status) == 0 else {
            return Finding("list's folder", .fine, "\(shown(path)), not made yet")
        }
        guard status.st_mode & 0o077 == 0 else {
            return Finding(
                "list's folder",
                .wrong,
                "\(shown(path)) is open to others",
                advice: "chmod 700 \(shown(path))"
            )
        }
        return Finding("list's folder", .fine, shown(path))
    }

    /// Only whether there are any: they may hold a password.
    private static func proxies() -> Finding {
        let known: [String] = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]
        let names = known.filter { name in
            getenv(name) != nil || getenv(name.uppercased()) != nil
        }
        return Finding(
            "proxies",
            .fine,
            names.isEmpty
                ? "none in this environment" : "set here: " + names.joined(separator: ", ")
        )
    }
}
