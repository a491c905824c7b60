// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
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
        fileprivate let source: Source

        fileprivate init?(_ bytes: [UInt8], of source: Source) {
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

        deinit { if descriptor >= 0 { close(descriptor) } }
    }

    /// The metadata by which a change of the file is noticed; stat(2).
    fileprivate struct Source: Equatable, Sendable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let changed: [Int]

        init(_ status: stat) {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            changed = [
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                status.st_ctim.tv_nsec,
            ]
        }
    }

    private struct State {
        var copies: [String: Copy] = [:]
        /// The files to look at next.
        var paths: [String] = []
        /// The file among them that lists known SSH hosts.
        var knownHosts: String?
        /// The callers that wait for the next look; nil if none is queued.
        var queued: [CheckedContinuation<Void, Never>]?
        /// The callers that wait for the present look.
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// When the oldest unfinished look was asked for; nil if there is none.
        var askedAt: ContinuousClock.Instant?
        var hasTimer = false
        /// Whether the present look takes longer than callers wait.
        var isLate = false
    }

    private static let longestLook: Duration = .seconds(2)
    /// The most bytes read of a file: 16 MiB.
    private static let limit = 16 << 20

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "org.idown.user-files")

    /// Returns the copy of a file as of the last look; nil if the file could not be read.
    func copy(of path: String) -> Copy? { state.withLock { $0.copies[path] } }

    /// Looks whether files have changed, and waits two seconds at most.
    ///
    /// Calls before the next look begins share that look. If the file system hangs, the earlier
    /// copies stay in use, or none.
    ///
    /// - Parameters:
    ///   - paths: the files.
    ///   - knownHosts: the file among them that lists known SSH hosts (``KnownHosts``).
    func refresh(_ paths: [String], knownHosts: String? = nil) async {
        guard !paths.isEmpty else { return }
        await withCheckedContinuation { waiter in
            let (isToWait, isToLook, isToTime) = state.withLock { state in
                (state.paths, state.knownHosts) = (paths, knownHosts)
                guard !state.isLate else { return (false, false, false) }
                let isNew = state.queued == nil
                state.queued = (state.queued ?? []) + [waiter]
                state.askedAt = state.askedAt ?? .now
                defer { state.hasTimer = true }
                return (true, isNew, !state.hasTimer)
            }
            if !isToWait { waiter.resume() }
            if isToLook { queue.async { [self] in look() } }
            if isToTime { watch(for: Self.longestLook) }
        }
    }

    /// Resumes callers that have waited too long, after `time`.
    private func watch(for time: Duration) {
        Task { [self] in
            try? await Task.sleep(for: time, clock: .continuous)
            let (rest, late) = state.withLock { state in
                let rest = state.askedAt.map { Self.longestLook - (.now - $0) }
                state.hasTimer = (rest ?? .zero) > .zero
                guard let rest, rest <= .zero else {
                    return (rest, [CheckedContinuation<Void, Never>]())
                }
                state.isLate = true
                defer { (state.waiters, state.queued) = ([], state.queued.map { _ in [] }) }
                return (nil, state.waiters + (state.queued ?? []))
            }
            for waiter in late { waiter.resume() }
            if let rest { watch(for: rest) }
        }
    }

    // MARK: On the reading thread

    private func look() {
        let (paths, knownHosts) = state.withLock { state in
            state.waiters = state.queued ?? []
            state.queued = nil
            return (state.paths, state.knownHosts)
        }
        for path in paths {
            let copy = Self.copy(of: path, unlessIn: copy(of: path)) { bytes in
                path == knownHosts ? KnownHosts.readable(bytes) : bytes
            }
            // Store each copy immediately: reading the next file may hang.
            state.withLock { $0.copies[path] = copy }
        }
        let waiters = state.withLock { state in
            state.copies = state.copies.filter { paths.contains($0.key) }
            state.askedAt = state.queued == nil ? nil : .now
            state.isLate = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private static func copy(
        of path: String,
        unlessIn old: Copy?,
        as change: ([UInt8]) -> [UInt8]
    ) -> Copy? {
        // A pipe under this name would wait for who writes into it.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let source = Source(status)
        if let old, old.source == source { return old }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < limit {
            let count = read(file, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return Copy(change(bytes), of: source)
    }
}
