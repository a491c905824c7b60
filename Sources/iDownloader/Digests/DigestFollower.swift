// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownState

/// Computes a digest of a file while the file grows, on a thread of its own.
///
/// The digest is computed from the file, mostly from the page cache, up to the end of the gapless
/// bytes at its start. So the transfer thread never waits for a digest, bytes of earlier attempts
/// and of many connections are covered alike, and the digest is that of the bytes on disk.
final class DigestFollower: Sendable {
    /// Bytes read in one go.
    ///
    /// Between two slices other files are read, and the reading can be stopped.
    static let slice: Int64 = 8 << 20

    private struct State: Sendable {
        var digest: DigestState
        /// The offset up to which the digest covers the file.
        var position: Int64 = 0
        /// The offset up to which the file is known to be complete.
        var target: Int64 = 0
        /// Increases when the digest starts again, so that the result of a slice of an earlier
        /// digest is discarded.
        var generation = 0
        /// Whether the thread follows, or is about to.
        var isWorking = false
    }

    let part: PartFile
    let algorithm: Checksum.Algorithm
    private let thread: DiskThread
    private let state: Mutex<State>

    /// - Parameters:
    ///   - part: the file, open for reading.
    ///   - algorithm: the digest to compute.
    ///   - thread: reads the file.
    init(_ part: PartFile, _ algorithm: Checksum.Algorithm, on thread: DiskThread) {
        self.part = part
        self.algorithm = algorithm
        self.thread = thread
        state = Mutex(State(digest: DigestState(algorithm)))
    }

    /// Tells that the file holds all bytes up to `end`; returns immediately.
    func follow(upTo end: Int64) {
        state.withLock { state in
            state.target = max(state.target, end)
            goOn(&state)
        }
    }

    /// Starts the digest again, because bytes that it covers may have changed.
    func restart() {
        state.withLock { state in
            state.digest = DigestState(algorithm)
            state.position = 0
            state.target = 0
            state.generation += 1
        }
    }

    /// Computes up to `end`, which the file must have reached.
    ///
    /// - Parameters:
    ///   - end: an offset in the file.
    ///   - mayGoOn: called before each slice; false ends the reading.
    /// - Returns: the digest of the bytes up to `end`, or of fewer bytes if the reading was ended.
    /// - Throws: the error of the file system if the file cannot be read.
    func value(
        upTo end: Int64,
        while mayGoOn: () -> Bool
    ) async throws(FileError) -> Checksum? {
        while position < end, mayGoOn() {
            try await thread.run { () throws(FileError) in try self.readSlice(upTo: end) }
        }
        return value
    }

    /// The offset up to which the digest covers the file.
    var position: Int64 { state.withLock(\.position) }

    /// The digest of the bytes up to ``position``.
    var value: Checksum? { Checksum(algorithm, state.withLock(\.digest).value) }

    // MARK: Slices

    private func goOn(_ state: inout State) {
        guard !state.isWorking, state.position < state.target else { return }
        state.isWorking = true
        thread.async { self.work() }
    }

    private func work() {
        let target = state.withLock(\.target)
        // Whoever wants the digest meets the failure again, and hears of it.
        let hasFailed = (try? readSlice(upTo: target)) == nil
        state.withLock { state in
            state.isWorking = false
            if !hasFailed { goOn(&state) }
        }
    }

    /// Reads the next bytes before `end`, if there are any; called on the thread only.
    private func readSlice(upTo end: Int64) throws(FileError) {
        let before = state.withLock { $0 }
        let border = min(end, before.position + Self.slice)
        guard let range = ByteRange(from: before.position, to: border) else { return }
        var digest = before.digest
        try digest.update(with: range, of: part)
        state.withLock { state in
            guard state.generation == before.generation else { return }
            state.digest = digest
            state.position = range.end
        }
    }
}
