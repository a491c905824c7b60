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
        var isWorking = false
        var failure: FileError?
        var waiters: [(offset: Int64, continuation: CheckedContinuation<Void, Never>)] = []
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
            state.failure = nil
            release(&state)
        }
    }

    /// Computes up to `offset`, which the file must have reached.
    ///
    /// Returns early if the digest starts again meanwhile.
    ///
    /// - Throws: the error of the file system if the file cannot be read.
    func reach(_ offset: Int64) async throws(FileError) {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.target = max(state.target, offset)
                state.waiters.append((offset, continuation))
                release(&state)
                goOn(&state)
            }
        }
        if let failure = state.withLock(\.failure) { throw failure }
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
        while position < end, mayGoOn() { try await reach(min(position + Self.slice, end)) }
        return value
    }

    /// The offset up to which the digest covers the file.
    var position: Int64 { state.withLock(\.position) }

    /// The digest of the bytes up to ``position``.
    var value: Checksum? { Checksum(algorithm, state.withLock(\.digest).value) }

    // MARK: Slices

    private func goOn(_ state: inout State) {
        guard !state.isWorking, state.failure == nil, state.position < state.target else { return }
        state.isWorking = true
        thread.async { self.work() }
    }

    private func work() {
        let (before, end) = state.withLock { state in
            (state, min(state.target, state.position + Self.slice))
        }
        let result = Result { () throws(FileError) in
            var digest = before.digest
            if let range = ByteRange(from: before.position, to: end) {
                try digest.update(with: range, of: part)
            }
            return digest
        }
        state.withLock { state in
            state.isWorking = false
            if state.generation == before.generation {
                switch result {
                case .success(let digest):
                    state.digest = digest
                    state.position = max(before.position, end)
                case .failure(let error):
                    state.failure = error
                }
                release(&state)
            }
            goOn(&state)
        }
    }

    /// Resumes the callers whose offset is reached, and all callers after a failure or restart.
    private func release(_ state: inout State) {
        let (position, isOver) = (state.position, state.failure != nil || state.target == 0)
        for waiter in state.waiters where isOver || waiter.offset <= position {
            waiter.continuation.resume()
        }
        state.waiters.removeAll { isOver || $0.offset <= position }
    }
}
