// SPDX-License-Identifier: Apache-2.0

import CLinux
import Executors
import Glibc
import Synchronization

/// Keeps copies in memory of the user's files with logins, cookies, keys and known hosts.
///
/// libcurl opens these files on the transfer thread, where a file system that hangs would block all
/// transfers. So a separate thread reads the files, and libcurl gets the copies.
final class UserFiles: Sendable {
    /// A file in memory, without a name; memfd_create(2).
    final class Copy: Sendable {
        /// The path of the copy, valid as long as this object lives.
        let path: String
        private let descriptor: Int32
        /// The metadata of the file that was copied, by which a change of it is noticed; empty for
        /// bytes that are not a whole file of the user.
        fileprivate let source: [Int]

        /// Makes a file of these bytes; nil where the system makes none.
        init?(_ bytes: [UInt8], of source: [Int] = []) {
            descriptor = memfd_create("idown", CLINUX_MFD_CLOEXEC)
            path = "/proc/self/fd/\(descriptor)"
            self.source = source
            guard descriptor >= 0 else { return nil }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { return nil }
                rest = rest.dropFirst(count)
            }
        }

        var bytes: [UInt8] {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return [] }
            return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
                count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
            }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }
    }

    private struct State {
        var copies: [String: Copy] = [:]
        /// The files to look at next.
        var paths: [String] = []
        /// How many callers have asked for a look, and how many of them the last look serves.
        var asked = 0
        var served = 0
    }

    private static let longestLook: Duration = .seconds(2)
    /// The most bytes read of a file: 16 MiB.
    private static let limit = 16 << 20

    private let state = Mutex(State())
    private let thread = DiskThread(label: "org.idown.user-files")

    /// Returns the copy of a file as of the last look; nil if the file could not be read.
    func copy(of path: String) -> Copy? { state.withLock { $0.copies[path] } }

    /// Looks whether files have changed, and waits for about two seconds at most.
    ///
    /// Calls before the next look begins share that look. If the file system hangs, the earlier
    /// copies stay in use, or none.
    ///
    /// - Parameter paths: the files.
    func refresh(_ paths: [String]) async {
        guard !paths.isEmpty, !thread.hasOutlasted(Self.longestLook) else { return }
        let number = state.withLock { state in
            state.paths = paths
            state.asked += 1
            return state.asked
        }
        await withTimeLimit(Self.longestLook) { [self] in
            await thread.run { [self] in look(for: number) }
        }
    }

    // MARK: On the reading thread

    /// Looks at the files, unless a look has begun since the caller with this number asked.
    private func look(for number: Int) {
        let paths = state.withLock { state -> [String] in
            guard number > state.served else { return [] }
            state.served = state.asked
            return state.paths
        }
        guard !paths.isEmpty else { return }
        for path in paths {
            let copy = Self.copy(of: path, unlessIn: copy(of: path))
            // Store each copy immediately: reading the next file may hang.
            state.withLock { $0.copies[path] = copy }
        }
        state.withLock { state in
            state.copies = state.copies.filter { paths.contains($0.key) }
        }
    }

    private static func copy(of path: String, unlessIn old: Copy?) -> Copy? {
        // A pipe under this name would wait for who writes into it.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let source: [Int] = [
            Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino),
            status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
            status.st_ctim.tv_nsec,
        ]
        if let old, old.source == source { return old }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < limit {
            let count = read(file, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return Copy(bytes, of: source)
    }
}
