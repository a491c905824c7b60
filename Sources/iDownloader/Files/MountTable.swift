// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Tells which file system a path is on, by the kernel's list of mounts.
///
/// No file system is asked, so none can make the caller wait.
package final class MountTable: Sendable {
    private struct Mount {
        let point: String
        let device: UInt64
    }

    private struct Table {
        /// The mounts in the order of the kernel, newest last; nil before the list was read.
        var mounts: [Mount]?
        /// The device numbers of paths that were looked up since the list was read.
        var known: [String: UInt64] = [:]
        /// The open list, for poll(2) to report mounts and unmounts; −1 if the kernel has no list.
        var descriptor: Int32 = -1
    }

    private static let path = "/proc/self/mountinfo"
    /// The most paths in `known`, which is emptied when it is full.
    private static let mostKnown = 4096

    private let table = Mutex(Table())
    private let text: (@Sendable () -> [UInt8])?

    /// - Parameter text: replaces the kernel's list, for tests.
    package init(text: (@Sendable () -> [UInt8])? = nil) { self.text = text }

    deinit {
        let descriptor = table.withLock { $0.descriptor }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns the device number of the file system that a path is on.
    ///
    /// - Parameter path: an absolute path; links in it are treated as folders.
    /// - Returns: the number that stat(2) gives, except that all subvolumes of one btrfs have one
    ///   number; 0 if the kernel does not tell.
    package func device(of path: String) -> UInt64 {
        table.withLock { table in
            if hasChanged(&table) {
                table.mounts = Self.mounts(in: text?() ?? Self.read())
                table.known = [:]
            }
            if let known = table.known[path] { return known }
            // Of several mounts at one place, the last covers the others.
            var (nearest, length) = (UInt64(0), -1)
            for mount in table.mounts ?? []
            where mount.point.utf8.count >= length && Self.isBelow(path, mount.point) {
                (nearest, length) = (mount.device, mount.point.utf8.count)
            }
            if table.known.count >= Self.mostKnown { table.known = [:] }
            table.known[path] = nearest
            return nearest
        }
    }

    /// Whether the list has changed since it was last read; poll(2), proc_pid_mountinfo(5).
    private func hasChanged(_ table: inout Table) -> Bool {
        guard table.mounts != nil else {
            if text == nil { table.descriptor = open(Self.path, O_RDONLY | O_CLOEXEC) }
            return true
        }
        guard table.descriptor >= 0 else { return false }
        var entry = pollfd(fd: table.descriptor, events: Int16(POLLPRI), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    private static func isBelow(_ path: String, _ point: String) -> Bool {
        point == "/" || path == point || path.hasPrefix(point + "/")
    }

    /// Returns the mounts in a text of proc_pid_mountinfo(5); other lines are left out.
    private static func mounts(in text: [UInt8]) -> [Mount] {
        text.split(separator: UInt8(ascii: "\n")).compactMap { line -> Mount? in
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count > 4 else { return nil }
            let numbers = fields[2].split(separator: UInt8(ascii: ":")).map {
                UInt32(String(decoding: $0, as: UTF8.self))
            }
            guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else {
                return nil
            }
            return Mount(point: unescaped(fields[4]), device: UInt64(major) << 32 | UInt64(minor))
        }
    }

    /// Decodes space, tab, newline and backslash, which the kernel writes as `\` and three octal
    /// digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func read() -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(file, &piece, piece.count)
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }
}
