// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc
import Synchronization

/// Copies in memory of the files in which the user keeps logins, cookies, keys and known hosts.
///
/// libcurl opens such files on the thread that serves all hosts, and a file system that hangs would
/// hold that up. So a thread of its own reads them, and libcurl gets the copies.
final class UserFiles: Sendable {
    /// A file without a name or a disk; memfd_create(2).
    final class Copy: Sendable {
        /// Leads to it as long as this object lives.
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

    /// What tells whether a file was changed; stat(2).
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
        /// Those to look at next.
        var paths: [String] = []
        /// The one among them that lists known SSH hosts.
        var knownHosts: String?
        /// Who waits for the look that has not begun; nil where there is none.
        var queued: [CheckedContinuation<Void, Never>]?
        /// Who waits for the look that is under way.
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// When the oldest of the two was asked for; nil where there is none.
        var askedAt: ContinuousClock.Instant?
        var hasTimer = false
        /// A look takes longer than anybody waits.
        var isLate = false
    }

    private static let longestLook: Duration = .seconds(2)
    /// No more of a file is read (16 MiB).
    private static let limit = 16 << 20

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "org.idown.user-files")

    /// The copy of a file, as it was when it was looked at last; nil where it could not be read.
    func copy(of path: String) -> Copy? { state.withLock { $0.copies[path] } }

    /// Looks whether files have changed, and waits for two seconds at most: where they hang, the
    /// copies of before are used, or none.
    ///
    /// Whoever asks before the next look has begun shares it.
    ///
    /// - Parameters:
    ///   - paths: the files.
    ///   - knownHosts: the one among them that lists known SSH hosts (``KnownHosts``).
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

    /// Looks after a while whether anybody has waited for too long.
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

    // MARK: On the thread for it

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
            // At once: the next file may be the one that hangs.
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
