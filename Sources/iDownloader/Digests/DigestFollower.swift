// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import iDownState

/// Computes a digest of a file while it grows: follows, on a thread of its own, behind the bytes
/// that are in it from its start on.
///
/// It reads what was just written, mostly from the page cache. So the transfer thread never waits
/// for a digest, bytes of earlier attempts and of many connections need no other way, and what is
/// compared in the end is what the file holds, not what once passed by.
final class DigestFollower: Sendable {
    /// So much of a file is read in one go: other files and the wish to stop come in between.
    static let slice: Int64 = 8 << 20

    private struct State: Sendable {
        var digest: DigestState
        /// The digest covers the bytes up to here.
        var position: Int64 = 0
        /// The bytes up to here are in the file.
        var target: Int64 = 0
        /// Grows when the digest begins anew: what a slice has computed for an earlier one is void.
        var generation = 0
        var isWorking = false
        var failure: FileError?
        var waiters: [(offset: Int64, continuation: CheckedContinuation<Void, Never>)] = []
    }

    let part: PartFile
    let algorithm: Checksum.Algorithm
    private let queue: DispatchQueue
    private let state: Mutex<State>

    /// - Parameters:
    ///   - part: the file, open for reading.
    ///   - algorithm: what to compute.
    ///   - queue: where the file is read.
    init(_ part: PartFile, _ algorithm: Checksum.Algorithm, on queue: DispatchQueue) {
        self.part = part
        self.algorithm = algorithm
        self.queue = queue
        state = Mutex(State(digest: DigestState(algorithm)))
    }

    /// Tells that the file holds all bytes up to `end`; returns at once.
    func follow(upTo end: Int64) {
        state.withLock { state in
            state.target = max(state.target, end)
            goOn(&state)
        }
    }

    /// Forgets everything: the file has lost bytes that the digest may have seen.
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
    /// Returns early where the digest begins anew meanwhile.
    ///
    /// - Throws: what the file system says when the file cannot be read.
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
    ///   - mayGoOn: asked before each slice; false ends the reading.
    /// - Returns: what the bytes up to there come to, or fewer where the reading was ended.
    /// - Throws: what the file system says when the file cannot be read.
    func value(
        upTo end: Int64,
        while mayGoOn: () -> Bool
    ) async throws(FileError) -> Checksum? {
        while position < end, mayGoOn() { try await reach(min(position + Self.slice, end)) }
        return value
    }

    /// The offset up to which the digest has come.
    var position: Int64 { state.withLock(\.position) }

    /// What the bytes up to ``position`` come to.
    var value: Checksum? { Checksum(algorithm, state.withLock(\.digest).value) }

    // MARK: Slices

    private func goOn(_ state: inout State) {
        guard !state.isWorking, state.failure == nil, state.position < state.target else { return }
        state.isWorking = true
        queue.async { self.work() }
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

    /// Lets those go on who have waited long enough.
    private func release(_ state: inout State) {
        let (position, isOver) = (state.position, state.failure != nil || state.target == 0)
        for waiter in state.waiters where isOver || waiter.offset <= position {
            waiter.continuation.resume()
        }
        state.waiters.removeAll { isOver || $0.offset <= position }
    }
}
