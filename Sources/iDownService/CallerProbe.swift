// SPDX-License-Identifier: Apache-2.0

import DBus
import Executors
import Glibc

/// What the bus says about the process of a connection.
enum CallerEvidence: Sendable {
    /// A descriptor of the process that connected, which no other process can take over.
    case descriptor(OpenDescriptor)
    /// The number of the process that connected; another process may have it by now.
    ///
    /// - Parameters:
    ///   - connectedBy: A time at which the connection existed.
    ///   - busSocket: The name of the bus's socket; nil where the bus has none.
    case number(UInt32, connectedBy: BootTime, busSocket: [UInt8]?)
}

/// A time since the machine started, in the kernel's unit for the start of processes.
struct BootTime: Comparable, Sendable {
    let ticks: UInt64

    /// A time after every other.
    static let end = BootTime(ticks: .max)

    /// The present time.
    static var now: BootTime { ago(.zero) }

    /// Returns the time some while ago, by `CLOCK_BOOTTIME`.
    static func ago(_ time: Duration) -> BootTime {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        let tick = Duration.seconds(1) / sysconf(Int32(_SC_CLK_TCK))
        let sinceBoot = .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) - time
        return BootTime(ticks: UInt64(max(0, sinceBoot / tick)))
    }

    static func < (left: BootTime, right: BootTime) -> Bool { left.ticks < right.ticks }
}

/// Why the process of a connection could not be identified.
enum CallerDoubt: String, Error {
    case hasEnded = "its process has ended"
    case isYounger = "its process began after it connected, so the number was used again"
    case hasNoConnection = "its process holds no connection to this bus"
    case isUnreadable = "its process cannot be looked at"
}

/// Finds out which sandbox a process is in, like xdg-desktop-portal does (xdp-app-info.c).
struct CallerProbe: Sendable {
    /// The threads that look at processes.
    ///
    /// The root of a process may lie on a file system that hangs. So the bus's thread never looks,
    /// and one client does not hold up the others.
    private static let lanes = Lanes<@Sendable () -> Void>(count: 64, label: "org.idown.callers") {
        $0()
    }

    /// The most bytes that are read from a file; the files are far smaller.
    private static let maximumFileSize = 64 << 10

    /// The most file descriptors of a process that are looked at.
    private static let maximumDescriptors = 65_536

    /// `/proc`, or a test's stand-in.
    let folder: String

    init(folder: String = "/proc") { self.folder = folder }

    /// Returns what the process of a connection is, or why that cannot be found out.
    func caller(_ evidence: CallerEvidence) async -> Result<Caller, CallerDoubt> {
        await withCheckedContinuation { continuation in
            Self.lanes.submit {
                continuation.resume(
                    returning: Result { () throws(CallerDoubt) in try look(at: evidence) }
                )
            }
        }
    }

    private func look(at evidence: CallerEvidence) throws(CallerDoubt) -> Caller {
        let caller: Caller?
        let hasEnded: Bool
        switch evidence {
        case .descriptor(let descriptor):
            guard let process = Self.process(of: descriptor), let entry = openFolder(of: process)
            else { throw .hasEnded }
            defer { close(entry) }
            caller = look(in: entry)
            // While the process runs, no other process can have its number.
            hasEnded = Self.hasEnded(descriptor)
        case .number(let process, let connectedBy, let busSocket):
            guard let entry = openFolder(of: process) else { throw .hasEnded }
            defer { close(entry) }
            guard let start = startTime(entry) else { throw .hasEnded }
            // If the process is younger than the connection, it has only inherited the number.
            guard start <= connectedBy else { throw .isYounger }
            guard holdsConnection(entry, to: busSocket) else { throw .hasNoConnection }
            caller = look(in: entry)
            // If the process has ended meanwhile, the last files read may not be its own.
            hasEnded = startTime(entry) == nil
        }
        guard !hasEnded else { throw .hasEnded }
        guard let caller else { throw .isUnreadable }
        return caller
    }

    /// Opens the folder of a process.
    ///
    /// Like a pidfd, an open folder belongs to this process alone: once the process has ended,
    /// nothing can be read in the folder, even if another process got the number.
    private func openFolder(of process: UInt32) -> Int32? {
        guard process > 0 else { return nil }
        let entry = open("\(folder)/\(process)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return entry >= 0 ? entry : nil
    }

    /// Returns the application or program whose folder in `/proc` is open.
    private func look(in entry: Int32) -> Caller? {
        if let name = snap(entry) { return .application("snap/" + name) }
        let root = openat(entry, "root", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC)
        // If the root cannot be opened, the process may be anything.
        guard root >= 0 else { return nil }
        defer { close(root) }
        switch Self.read(".flatpak-info", in: root) {
        case .absent: return .program(program(entry))
        case .unreadable: return nil
        case .text(let text): return Self.flatpak(text).map { .application("flatpak/" + $0) }
        }
    }

    // MARK: The process behind a connection

    /// Returns the number of a process in this namespace; nil once it has ended: pidfd_open(2).
    private static func process(of descriptor: OpenDescriptor) -> UInt32? {
        let path = "/proc/self/fdinfo/\(descriptor.number)"
        guard case .text(let text) = read(path, in: AT_FDCWD) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("Pid:") {
            // −1 for a process that has ended, 0 for one of another namespace.
            return UInt32(trimmed(line.dropFirst("Pid:".count)))
        }
        return nil
    }

    /// Whether a process has ended, even if its parent has not yet waited for it.
    private static func hasEnded(_ descriptor: OpenDescriptor) -> Bool {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }

    /// Returns when a process started; nil once it has ended: proc_pid_stat(5), `starttime`.
    private func startTime(_ entry: Int32) -> BootTime? {
        guard case .text(let text) = Self.read("stat", in: entry),
            // The program's name stands in parentheses and may hold any character.
            let name = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[name...].split(separator: " ")
        // The fields are counted from 1, and the name is the second.
        guard fields.count > 20, fields[1] != "Z", fields[1] != "X" else { return nil }
        return UInt64(fields[20]).map { BootTime(ticks: $0) }
    }

    /// Whether a process holds a connection to the bus.
    private func holdsConnection(_ entry: Int32, to bus: [UInt8]?) -> Bool {
        let folder = openat(entry, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        guard let stream = fdopendir(folder) else {
            close(folder)
            return false
        }
        // closedir closes the descriptor too.
        defer { closedir(stream) }
        // The kernel lists the sockets of one network namespace.
        let sockets = BusSockets(bus: isInOwnNetwork(entry) ? bus : nil)
        var link = [UInt8](repeating: 0, count: 64)
        for _ in 0..<Self.maximumDescriptors {
            guard let file = readdir(stream) else { return false }
            let count = withUnsafeBytes(of: &file.pointee.d_name) { name in
                let name = name.assumingMemoryBound(to: CChar.self)
                return name.baseAddress.map { readlinkat(folder, $0, &link, link.count) } ?? -1
            }
            guard count > 0 else { continue }
            if sockets.includes(String(decoding: link.prefix(count), as: UTF8.self)) { return true }
        }
        return false
    }

    /// Whether a process has the service's network namespace: namespaces(7).
    private func isInOwnNetwork(_ entry: Int32) -> Bool {
        var (its, own) = (stat(), stat())
        guard fstatat(entry, "ns/net", &its, 0) == 0, stat("/proc/self/ns/net", &own) == 0
        else { return true }
        return its.st_dev == own.st_dev && its.st_ino == own.st_ino
    }

    // MARK: Flatpak

    /// Returns the application in a `.flatpak-info`, or the runtime that runs without one; the file
    /// is a key file.
    private static func flatpak(_ text: String) -> String? {
        var group = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                group = String(line.dropFirst().prefix { $0 != "]" })
            } else if group == "Application" || group == "Runtime" {
                let parts = line.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, trimmed(parts[0]) == "name" else { continue }
                let name = trimmed(parts[1])
                return name.isEmpty ? nil : name
            }
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return String(text)
    }

    // MARK: Snap

    /// Returns the snap of a process, by its AppArmor label `snap.NAME.APP (mode)`, else by its
    /// cgroup: the path has an element `snap.NAME.APP…`, below which the snap may have made others.
    private func snap(_ entry: Int32) -> String? {
        for path in ["attr/apparmor/current", "attr/current"] {
            guard case .text(let label) = Self.read(path, in: entry),
                let name = Self.snap(label: label)
            else { continue }
            return name
        }
        guard case .text(let groups) = Self.read("cgroup", in: entry) else { return nil }
        for line in groups.split(separator: "\n") {
            let element = line.split(separator: "/").first { $0.hasPrefix("snap.") }
            if let name = element.flatMap(Self.secondPart) { return name }
        }
        return nil
    }

    /// Returns the snap that an AppArmor label names, `snap.NAME.APP (mode)`.
    static func snap(label: String) -> String? {
        label.hasPrefix("snap.") ? secondPart(label[...]) : nil
    }

    private static func secondPart(_ text: Substring) -> String? {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count > 1 && !parts[1].isEmpty ? String(parts[1]) : nil
    }

    // MARK: The user's own programs

    /// Returns the id of a program of the user's: `idown` for the command, else the id of the
    /// desktop file or systemd unit by which it was started; nil where neither is known.
    ///
    /// Any program can give itself such a name. The id is only shown, and gives no rights.
    private func program(_ entry: Int32) -> String? {
        var link = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(entry, "exe", &link, link.count)
        if count > 0 {
            let path = String(decoding: link.prefix(count), as: UTF8.self)
            // The kernel appends this to the path of a program that was replaced since its start.
            let name = path.split(separator: "/").last
            if name == "idown" || name == "idown (deleted)" { return "idown" }
        }
        guard case .text(let groups) = Self.read("cgroup", in: entry) else { return nil }
        for line in groups.split(separator: "\n")
        where line.hasPrefix("0::") || line.contains(":name=systemd:") {
            return Self.application(ofGroup: line)
        }
        return nil
    }

    /// Returns the application that a systemd cgroup is named after.
    ///
    /// Desktops start an application in `app-LAUNCHER-ID-RANDOM.scope` or
    /// `app-LAUNCHER-ID@RANDOM.service`, where the launcher may be missing and a dash in an id is
    /// `\x2d` (systemd.io/DESKTOP_ENVIRONMENTS). Any other service is known by its unit.
    static func application(ofGroup path: Substring) -> String? {
        let elements = path.split(separator: "/").reversed()
        let isUnit = { (name: Substring) in name.hasSuffix(".scope") || name.hasSuffix(".service") }
        guard let unit = elements.first(where: isUnit) else { return nil }
        let isScope = unit.hasSuffix(".scope")
        var name = unit.dropLast(isScope ? ".scope".count : ".service".count)
        // These are the user's systemd manager, and services without a name of their own.
        guard !name.hasPrefix("user@"), !name.hasPrefix("run-") else { return nil }
        var parts = name.split(separator: "-", omittingEmptySubsequences: false)
        let isOfDesktop = parts.count > 1 && (parts[0] == "app" || parts[0] == "dbus")
        // Scopes of sessions and terminals do not tell what runs in them.
        guard isOfDesktop || !isScope else { return nil }
        if isOfDesktop {
            if isScope, parts.count > 2 { parts.removeLast() }
            name = parts.last?.prefix { $0 != "@" } ?? ""
        }
        return unescaped(name)
    }

    /// Undoes the escapes of a unit's name; nil where the result cannot be shown.
    private static func unescaped(_ name: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = name.utf8
        while let byte = rest.popFirst() {
            let escape = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), escape.first == UInt8(ascii: "x"), escape.count == 3,
                let value = UInt8(String(Substring(escape.dropFirst())), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return text
    }

    // MARK: Files

    private enum Content {
        case text(String)
        case absent
        case unreadable
    }

    private static func read(_ path: String, in folder: Int32) -> Content {
        let file = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { return errno == ENOENT ? .absent : .unreadable }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return .unreadable
        }
        // One read brings the whole of so short a file, and of a file in `/proc`.
        var bytes = [UInt8](repeating: 0, count: maximumFileSize)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { return .unreadable }
        return .text(String(decoding: bytes.prefix(count), as: UTF8.self))
    }
}
