// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownBus
import iDownView

/// Looks at what this program needs to work.
enum Diagnosis {
    /// The bus, the service on it, and what the service says of its folders.
    static func ofService() async -> [Finding] {
        let client: ManagerClient
        do {
            client = try await ManagerClient.connect(patience: Service.patience)
        } catch {
            return [
                Finding(
                    "session bus",
                    .wrong,
                    "cannot be reached",
                    advice: "log in to a desktop session, or start one: dbus-run-session -- bash;"
                        + " DBUS_SESSION_BUS_ADDRESS has to name it"
                )
            ]
        }
        var findings = [Finding("session bus", .fine, "there")]
        findings.append(await activation(client))
        do {
            findings.append(version(try await client.version()))
            for (setting, content) in try await client.settings() {
                guard setting == .downloadDirectory, case .path(let path) = content else {
                    continue
                }
                findings += folder(path)
            }
            var counts: [String] = []
            for state in TaskProperties.State.known {
                var query = TaskQuery()
                query.states = [state]
                query.limit = 1
                let count = try await client.findTasks(query).total
                if count > 0 { counts.append("\(count) \(state)") }
            }
            findings.append(
                Finding("list", .fine, counts.isEmpty ? "empty" : counts.joined(separator: ", "))
            )
        } catch {
            findings.append(
                Finding(
                    "service",
                    .wrong,
                    error.description,
                    advice: "look at its log: journalctl --user -u idownd, or start idownd by hand"
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
            return Finding("activation", .fine, isRunning ? "runs" : "is started when needed")
        }
        return Finding(
            "activation",
            isRunning ? .note : .wrong,
            "the bus does not know how to start the service",
            advice: "make install puts \(Contract.busName).service below share/dbus-1/services;"
                + " XDG_DATA_DIRS has to hold that share folder when the session starts"
        )
    }

    private static func version(_ version: String) -> Finding {
        guard version != Contract.version else {
            return Finding("service", .fine, "idownd \(version)")
        }
        return Finding(
            "service",
            .note,
            "idownd \(version) runs, and this is idown \(Contract.version)",
            advice: "end the old one, the new one starts by itself: busctl --user call"
                + " \(Contract.busName) \(Contract.managerPath) \(Contract.managerInterface) Quit"
        )
    }

    /// Whether downloads can go into a folder: access(2), statvfs(3).
    static func folder(_ path: String) -> [Finding] {
        let name = shown(path)
        // The service makes it, where it can.
        var existing = path
        while access(existing, F_OK) != 0, let slash = existing.lastIndex(of: "/") {
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
            if existing == "/" { break }
        }
        guard access(existing, W_OK | X_OK) == 0 else {
            return [
                Finding(
                    "download folder",
                    .wrong,
                    "\(name): \(String(cString: strerror(errno)))",
                    advice: "choose another: idown config download-directory FOLDER"
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
                        advice: "downloads that do not fit wait until there is room"
                    )
                    : Finding("room", .fine, text)
            )
        }
        return findings
    }

    /// Less is soon full.
    private static let leastRoom: UInt64 = 1 << 30

    /// A path without the user's name.
    static func shown(_ path: String) -> String {
        guard let home = getenv("HOME").map({ String(cString: $0) }), !home.isEmpty,
            path == home || path.hasPrefix(home + "/")
        else { return path }
        return "~" + path.dropFirst(home.count)
    }
}
