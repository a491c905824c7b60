// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownBus
import iDownSettings
import iDownView

/// The checks of `idown doctor`.
enum Diagnosis {
    /// Checks the session bus, the service on it, and the download folder.
    static func ofService() async -> [Finding] {
        let client: ManagerClient
        do {
            client = try await ManagerClient.connect(patience: Service.patience)
        } catch {
            return [
                Finding(
                    "session bus",
                    .wrong,
                    error.code == .noReply ? "does not answer" : "cannot be reached",
                    advice: "log in to a desktop session, or start a bus of your own:"
                        + " dbus-run-session -- bash"
                )
            ]
        }
        var findings = [Finding("session bus", .fine, "can be reached")]
        findings.append(await activation(client))
        do {
            findings.append(version(try await client.version()))
            if case .text(let path?) = try await client.value(of: .downloadDirectory) {
                findings += taken([("download folder", { folder(path) })])
            }
            if case .text(let path?) = try await client.value(of: .cookieFile) {
                findings += taken([("cookies", { cookies(path) })])
            }
            var counts: [String] = []
            for state in TaskProperties.State.known {
                let count = try await client.taskCount(in: state)
                if count > 0 { counts.append("\(count) \(state)") }
            }
            findings.append(
                Finding("list", .fine, counts.isEmpty ? "empty" : counts.joined(separator: ", "))
            )
        } catch  where error.code == .serviceUnknown {
            // The check of the activation has already told what to do.
        } catch {
            let obstacle = ServiceProgram.ask("--check-list") ?? ""
            findings.append(
                obstacle.isEmpty
                    ? Finding(
                        "service",
                        .wrong,
                        error.description,
                        advice: "read its log: idown service logs"
                    )
                    : Finding(
                        "list",
                        .wrong,
                        "the service cannot open it: \(obstacle)",
                        advice: "see to it that the folder is yours, install the newest idown,"
                            + " or read the log: idown service logs"
                    )
            )
        }
        await client.close()
        return findings
    }

    private static func activation(_ client: ManagerClient) async -> Finding {
        let isActivatable = (try? await client.isActivatable()) ?? false
        let isRunning = (try? await client.isRunning()) ?? false
        if isActivatable {
            if isRunning, let other = await otherProgram(client) { return other }
            return Finding(
                "activation",
                .fine,
                isRunning ? "the service is running" : "the bus starts the service when needed"
            )
        }
        return Finding(
            "activation",
            isRunning ? .note : .wrong,
            "the bus does not know how to start the service",
            advice: "install the package or run make install, then log in again"
        )
    }

    /// Returns a finding if the D-Bus service file names another program than the one that runs; nil
    /// if not, and for a script, which may start that one: proc_pid_exe(5).
    private static func otherProgram(_ client: ManagerClient) async -> Finding? {
        guard let (file, named) = ServiceProgram.activation(DesktopFolders()),
            let process = try? await client.processID(),
            let program = Disk.resolved(named),
            let running = Disk.resolved("/proc/\(process)/exe"), program != running,
            !isScript(program)
        else { return nil }
        return Finding(
            "activation",
            .note,
            "\(shown(file)) names \(shown(program)), but \(shown(running)) is running",
            advice: "install the package or run make install, then: idown service restart"
        )
    }

    private static func isScript(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var start: [UInt8] = [0, 0]
        return read(file, &start, start.count) == start.count && start.elementsEqual("#!".utf8)
    }

    /// Checks that the service can read the file of the cookies: access(2).
    private static func cookies(_ path: String) -> [Finding] {
        let mistake: String
        if access(path, R_OK) != 0 {
            mistake = String(cString: strerror(errno))
        } else if let text = (try? TextFile.read(path)) ?? nil, (try? CookieFile(text)) != nil {
            return [Finding("cookies", .fine, "the file can be read")]
        } else {
            mistake = "no cookie file in Netscape's format"
        }
        return [
            Finding(
                "cookies",
                .wrong,
                "\(shown(path)): \(mistake)",
                advice: "export the cookies again, or use none: idown config cookie-file none"
            )
        ]
    }

    private static func version(_ version: String) -> Finding {
        guard version != Contract.version else {
            return Finding("service", .fine, "idownd \(version)")
        }
        return Finding(
            "service",
            .note,
            "idownd \(version) is running, but this is idown \(Contract.version)",
            advice: "idown service restart"
        )
    }

    /// Takes all looks at once; one that takes longer than ten seconds is a finding, too.
    static func taken(_ looks: [(what: String, look: @Sendable () -> [Finding])]) -> [Finding] {
        zip(looks, TimeLimit.run(looks.map(\.look))).flatMap { look, findings in
            findings ?? [
                Finding(
                    look.what,
                    .wrong,
                    "no answer within 10 s: a disk does not answer, or the computer is busy",
                    advice: "connect the disk or its server again, or wait; then: idown doctor"
                )
            ]
        }
    }

    /// Checks whether downloads can be written to a folder, and its free space: statvfs(3).
    static func folder(_ path: String) -> [Finding] {
        let name = shown(path)
        let (existing, obstacle) = writing(to: path)
        if let obstacle {
            return [
                Finding(
                    "download folder",
                    .wrong,
                    "\(name): \(obstacle)",
                    advice: "choose another folder: idown config download-directory FOLDER"
                )
            ]
        }
        var findings = [Finding("download folder", .fine, name)]
        var status = statvfs()
        if statvfs(existing, &status) == 0 {
            let free = UInt64(status.f_bavail) &* UInt64(status.f_frsize)
            let text = "\(ByteCount(free)) free"
            findings.append(
                free < leastRoom
                    ? Finding(
                        "room",
                        .note,
                        text,
                        advice: "free some space, or choose another folder:"
                            + " idown config download-directory FOLDER"
                    )
                    : Finding("room", .fine, text)
            )
        }
        return findings
    }

    /// Returns the folder itself, or the nearest parent that exists, in which the service makes what is
    /// missing; and why nothing can be written there, nil if it can: access(2).
    static func writing(to path: String) -> (existing: String, obstacle: String?) {
        var existing = path
        while access(existing, F_OK) != 0, let slash = existing.lastIndex(of: "/") {
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
            if existing == "/" { break }
        }
        var status = stat()
        if stat(existing, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            return (existing, "\(shown(existing)) is not a folder")
        }
        guard access(existing, W_OK | X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            return (existing, existing == path ? reason : "\(shown(existing)): \(reason)")
        }
        return (existing, nil)
    }

    /// The free space, in bytes, below which the disk will soon be full: 1 GiB.
    private static let leastRoom: UInt64 = 1 << 30

    /// Returns a path with `~` for the home folder, which may hold the user's name.
    static func shown(_ path: String) -> String {
        guard let home = getenv("HOME").map({ String(cString: $0) }), !home.isEmpty,
            path == home || path.hasPrefix(home + "/")
        else { return path }
        return "~" + path.dropFirst(home.count)
    }
}
