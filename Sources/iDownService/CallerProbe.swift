// SPDX-License-Identifier: Apache-2.0

import Executors
import Glibc

/// Tells from a process which sandbox it is in, the way xdg-desktop-portal does (xdp-app-info.c).
struct CallerProbe: Sendable {
    /// A client's root may lie on a file system that hangs: not on the thread of the bus,
    /// and not before all others.
    private static let lanes = Lanes<@Sendable () -> Void>(count: 64, label: "org.idown.callers") {
        $0()
    }

    /// Far more than any of these files has.
    private static let largest = 64 << 10

    /// `/proc`, or a test's stand-in.
    let folder: String

    init(folder: String = "/proc") { self.folder = folder }

    /// What a process is; nil where that cannot be told.
    func caller(process: UInt32) async -> Caller? {
        await withCheckedContinuation { continuation in
            Self.lanes.submit { continuation.resume(returning: look(at: process)) }
        }
    }

    private func look(at process: UInt32) -> Caller? {
        // Held open, the folder stays the one of this process, whoever gets its number next.
        let entry = open("\(folder)/\(process)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard process > 0, entry >= 0 else { return nil }
        defer { close(entry) }
        if let name = snap(entry) { return .application("snap/" + name) }
        let root = openat(entry, "root", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC)
        // A process whose root cannot be looked at may be anything.
        guard root >= 0 else { return nil }
        defer { close(root) }
        switch read(".flatpak-info", in: root) {
        case .absent: return .program
        case .unreadable: return nil
        case .text(let text): return Self.flatpak(text).map { .application("flatpak/" + $0) }
        }
    }

    // MARK: Flatpak

    /// The application in a `.flatpak-info`, or the runtime that runs by itself; it is a key file.
    private static func flatpak(_ text: String) -> String? {
        var group = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                group = String(line.dropFirst().prefix { $0 != "]" })
            } else if group == "Application" || group == "Runtime" {
                let parts = line.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, Self.trimmed(parts[0]) == "name" else { continue }
                let name = Self.trimmed(parts[1])
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

    /// The snap of a process, by its AppArmor label `snap.NAME.APP (mode)`, else by its cgroup,
    /// whose last element is `snap.NAME.APP…`.
    private func snap(_ entry: Int32) -> String? {
        for path in ["attr/apparmor/current", "attr/current"] {
            guard case .text(let label) = read(path, in: entry), label.hasPrefix("snap.") else {
                continue
            }
            return Self.secondPart(label[...])
        }
        guard case .text(let groups) = read("cgroup", in: entry) else { return nil }
        for line in groups.split(separator: "\n") {
            guard let element = line.split(separator: "/").last, element.hasPrefix("snap.") else {
                continue
            }
            return Self.secondPart(element)
        }
        return nil
    }

    private static func secondPart(_ text: Substring) -> String? {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count > 1 && !parts[1].isEmpty ? String(parts[1]) : nil
    }

    // MARK: Files

    private enum Content {
        case text(String)
        case absent
        case unreadable
    }

    private func read(_ path: String, in folder: Int32) -> Content {
        let file = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { return errno == ENOENT ? .absent : .unreadable }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return .unreadable
        }
        var bytes = [UInt8](repeating: 0, count: Self.largest)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(file, buffer.baseAddress.map { $0 + length }, buffer.count - length)
            }
            guard count >= 0 else { return .unreadable }
            guard count > 0 else { break }
            length += count
        }
        return .text(String(decoding: bytes.prefix(length), as: UTF8.self))
    }
}
