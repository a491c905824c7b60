// SPDX-License-Identifier: Apache-2.0

import CCurses
import FoundationEssentials
import Glibc
import iDownBus
import iDownView

extension Diagnosis {
    /// Checks the files that make the service part of the session.
    static func ofInstallation(_ folders: DesktopFolders) -> [Finding] {
        let data = [folders.dataHome] + folders.dataFolders
        return [
            serviceFile(folders),
            found(
                "systemd unit",
                ["\(folders.configHome)/systemd/user/idownd.service"]
                    + data.map { "\($0)/systemd/user/idownd.service" }
                    + ["/usr/local/lib", "/usr/lib", "/lib"].map {
                        "\($0)/systemd/user/idownd.service"
                    },
                otherwise: "is not installed: the service writes no log into the journal"
            ),
            found(
                "link handler",
                data.map { "\($0)/applications/\(DesktopFolders.ownID)" },
                otherwise: "is not installed: links of the form idown:?url=… open nothing"
            ),
            autostart(folders),
            stateFolder(folders),
            settingsFolder(folders),
            proxies(),
        ] + BrowserSetup(folders).reports().map(browser)
    }

    private static func browser(_ report: BrowserReport) -> Finding {
        let isWanted = report.kind == .system && !report.isReady
        return Finding(
            "browser",
            isWanted ? .note : .fine,
            report.text,
            advice: isWanted ? "see: idown browser --help" : ""
        )
    }

    /// Checks that the settings file can be used; empty where `idownd`, which reads it, is missing.
    static func ofSettings() -> [Finding] {
        let report = ServiceProgram.ask("--settings").flatMap(SettingsFileReport.init)
        guard let report else { return [] }
        let path = shown(report.path)
        let meanwhile =
            report.holdsDownloads ? "downloads wait" : "the last good settings are used"
        let mistakes =
            report.mistakes.map { ($0, meanwhile) } + report.failures.map { ($0, "downloads fail") }
        let wrong = mistakes.map { mistake, meanwhile in
            Finding(
                "settings",
                .wrong,
                mistake.replacing(report.path, with: path),
                advice: "\(meanwhile) until you mend it: \(remedy(for: report.path))"
            )
        }
        let notes = report.notes.map { note in
            Finding(
                "settings",
                .note,
                "\(path): \(note); it has no effect",
                advice: "idown config edit"
            )
        }
        let findings = wrong + notes
        return findings.isEmpty ? [Finding("settings", .fine, path)] : findings
    }

    /// Returns the command that mends a settings file: access(2).
    private static func remedy(for path: String) -> String {
        guard access(path, R_OK) != 0, errno == EACCES else { return "idown config edit" }
        return "chmod u+r \(quoted(path))"
    }

    /// Returns a path for the shell.
    ///
    /// By scalars: a combining mark would make another character of the quotation mark.
    private static func quoted(_ path: String) -> String {
        "'" + path.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }

    /// Returns the versions and variables that a bug report needs; nothing in them names the user or
    /// a download.
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

    /// Returns the name and version of the C library: confstr(3).
    private static var libraryVersion: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard confstr(CInt(_CS_GNU_LIBC_VERSION), buffer.baseAddress, buffer.count) > 0,
                let text = buffer.baseAddress
            else { return "" }
            return String(cString: text)
        }
    }

    /// Returns the versions of the libraries that the service uses.
    static func ofLibraries() -> [Finding] {
        guard let answer = ServiceProgram.ask("--libraries") else {
            return [
                Finding(
                    "idownd",
                    .note,
                    "is neither next to idown nor in PATH",
                    advice: "install the package, or run make install"
                )
            ]
        }
        return answer.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
            return parts.count == 2 ? Finding(parts[0], .fine, parts[1]) : nil
        }
    }

    /// Checks that the D-Bus service file names a program that can be run: access(2).
    private static func serviceFile(_ folders: DesktopFolders) -> Finding {
        guard let (file, program) = ServiceProgram.activation(folders) else {
            return Finding(
                "service file",
                .note,
                "is not installed: the bus cannot start the service",
                advice: "install the package, or run make install"
            )
        }
        guard access(program, X_OK) == 0 else {
            return Finding(
                "service file",
                .wrong,
                "\(shown(file)) names \(shown(program)): \(String(cString: strerror(errno)))",
                advice: "install the package, or run make install"
            )
        }
        return Finding("service file", .fine, shown(file))
    }

    /// Checks that one of several files can be read.
    private static func found(_ what: String, _ paths: [String], otherwise: String) -> Finding {
        if let path = paths.first(where: { access($0, R_OK) == 0 }) {
            return Finding(what, .fine, shown(path))
        }
        return Finding(what, .note, otherwise, advice: "install the package, or run make install")
    }

    private static func autostart(_ folders: DesktopFolders) -> Finding {
        do {
            guard let entry = try AutostartEntry(folders).effective() else {
                return Finding(
                    "after login",
                    .note,
                    "unfinished downloads wait until idown is used",
                    advice: "to continue them after login: idown autostart enable"
                )
            }
            return entry.isEnabled
                ? Finding("after login", .fine, "unfinished downloads continue")
                : Finding("after login", .fine, "turned off in \(shown(entry.path))")
        } catch {
            // The description begins with the path.
            return Finding(
                "after login",
                .note,
                shown(error.description),
                advice: "remove it, then run: idown autostart enable"
            )
        }
    }

    /// Returns how to let the user write to a folder: stat(2).
    private static func advice(for path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "make the folder" }
        let name = quoted(path)
        if status.st_mode & S_IFMT != S_IFDIR {
            return "move the file away: mv \(name) \(name).old"
        }
        if status.st_uid != geteuid() {
            return "make it yours: sudo chown -R \"$(id -u)\" \(name)"
        }
        return status.st_mode & S_IRWXU == S_IRWXU
            ? "mount its disk for writing" : "let your user write there: chmod u+rwx \(name)"
    }

    /// Checks that the service can write its list, and that no other user can read it, because it
    /// holds URLs with secrets: stat(2).
    private static func stateFolder(_ folders: DesktopFolders) -> Finding {
        let path = "\(folders.stateHome)/idown"
        let (existing, obstacle) = writing(to: path)
        if let obstacle {
            return Finding(
                "list's folder",
                .wrong,
                "the service cannot keep its list in \(shown(path)): \(obstacle)",
                advice: advice(for: existing)
            )
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            return Finding("list's folder", .fine, "\(shown(path)), created at the first start")
        }
        guard status.st_mode & 0o077 == 0 else {
            return Finding(
                "list's folder",
                .wrong,
                "other users may look into \(shown(path))",
                advice: "chmod 700 \(shown(path))"
            )
        }
        let files = ["tasks.sqlite", "tasks.sqlite-wal", "lock", "next-id"].map { "\(path)/\($0)" }
        if let file = files.first(where: { access($0, R_OK | W_OK) != 0 && errno != ENOENT }) {
            return Finding(
                "list's folder",
                .wrong,
                "the service cannot read and write \(shown(file)): \(String(cString: strerror(errno)))",
                advice: "chown and chmod u+rw \(shown(file))"
            )
        }
        if let broken = damagedLists(in: path).last {
            return Finding(
                "list's folder",
                .note,
                "a list was damaged, and what could be read of it was taken over; the rest is in "
                    + shown("\(path)/\(broken)"),
                advice: "remove that file once you miss nothing"
            )
        }
        return Finding("list's folder", .fine, shown(path))
    }

    /// Checks that the service can write its settings.
    private static func settingsFolder(_ folders: DesktopFolders) -> Finding {
        let path = "\(folders.configHome)/idown"
        let (existing, obstacle) = writing(to: path)
        guard let obstacle else { return Finding("settings' folder", .fine, shown(path)) }
        return Finding(
            "settings' folder",
            .note,
            "the service cannot change the settings in \(shown(path)): \(obstacle)",
            advice: advice(for: existing)
        )
    }

    /// The lists that were moved aside, the newest last.
    private static func damagedLists(in folder: String) -> [String] {
        let names = DesktopFolders.names(in: folder)
        return names.filter { name in
            name.hasPrefix("tasks.sqlite.broken-") && !name.hasSuffix("-wal")
                && !name.hasSuffix("-shm")
        }.sorted()
    }

    /// Returns which proxy variables are set; their values may hold a password.
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
