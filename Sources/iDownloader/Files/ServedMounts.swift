// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Which folders are on file systems that another computer or a program serves: a call into one whose
/// server has gone may never return.
package final class ServedMounts: Sendable {
    private struct Mount {
        let point: String
        let isServed: Bool
    }

    private struct Table {
        var mounts: [Mount] = []
        var readAt: ContinuousClock.Instant?
    }

    /// What is mounted is read anew after this time.
    private static let freshness: Duration = .seconds(5)
    private static let path = "/proc/self/mountinfo"

    private let table = Mutex(Table())
    private let text: (@Sendable () -> [UInt8])?

    /// - Parameter text: what stands in place of the kernel's list, for tests.
    package init(text: (@Sendable () -> [UInt8])? = nil) { self.text = text }

    /// Where the file system of a folder is mounted; nil where this computer serves it itself.
    ///
    /// By the path's text alone, without a look at what might hang.
    package func mount(of path: String) -> String? {
        table.withLock { table in
            let now = ContinuousClock.now
            if table.readAt.map({ now - $0 > Self.freshness }) ?? true {
                table.mounts = Self.mounts(in: text?() ?? Self.read())
                table.readAt = now
            }
            // The last of those that are mounted at one place covers the others.
            let over = table.mounts.reversed().filter { Self.isBelow(path, $0.point) }
            let nearest = over.max { $0.point.utf8.count < $1.point.utf8.count }
            guard let nearest, nearest.isServed else { return nil }
            return nearest.point
        }
    }

    private static func isBelow(_ path: String, _ point: String) -> Bool {
        point == "/" || path == point || path.hasPrefix(point + "/")
    }

    /// Reads lines of proc_pid_mountinfo(5); without any served one the rest is of no interest.
    private static func mounts(in text: [UInt8]) -> [Mount] {
        let mounts = text.split(separator: UInt8(ascii: "\n")).compactMap { line -> Mount? in
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count > 6,
                let dash = fields.dropFirst(6).firstIndex(where: { $0.elementsEqual("-".utf8) }),
                dash + 1 < fields.count
            else { return nil }
            let kind = String(decoding: fields[dash + 1], as: UTF8.self)
            return Mount(point: unescaped(fields[4]), isServed: isServed(kind))
        }
        return mounts.contains(where: \.isServed) ? mounts : []
    }

    private static func isServed(_ kind: String) -> Bool {
        kind.hasPrefix("fuse") || kind.hasPrefix("nfs") || served.contains(kind)
    }

    private static let served: Set<String> = [
        "9p", "afs", "autofs", "ceph", "cifs", "coda", "glusterfs", "ncpfs", "smb3", "smbfs",
        "virtiofs",
    ]

    /// Space, tab, newline and backslash are written as three octal digits.
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
