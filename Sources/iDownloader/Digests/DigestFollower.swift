// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import iDownState

/// Computes digests of a file while it grows: follows, on a thread of its own, behind the bytes
/// that are in it from its start on.
///
/// It reads what was just written, mostly from the page cache. So the transfer thread never waits
/// for a digest, bytes of earlier attempts and of many connections need no other way, and what is
/// compared in the end is what the file holds, not what once passed by.
final class DigestFollower: Sendable {
    /// So much of a file is read in one go: other files and the wish to stop come in between.
    static let slice: Int64 = 8 << 20
    /// Fits into the processor's cache.
    private static let readSize = 256 << 10

    private struct State: Sendable {
        var digests: [DigestState]
        /// The digests cover the bytes up to here.
        var position: Int64 = 0
        /// The bytes up to here are in the file.
        var target: Int64 = 0
        /// Grows when the digests begin anew: what a slice has computed for an earlier one is void.
        var generation = 0
        var isWorking = false
        var failure: FileError?
        var waiters: [(offset: Int64, continuation: CheckedContinuation<Void, Never>)] = []
    }

    let part: PartFile
    let algorithms: Set<Checksum.Algorithm>
    private let queue: DispatchQueue
    private let state: Mutex<State>

    /// - Parameters:
    ///   - part: the file, open for reading.
    ///   - algorithms: what to compute.
    ///   - queue: where the file is read.
    init(_ part: PartFile, _ algorithms: Set<Checksum.Algorithm>, on queue: DispatchQueue) {
        self.part = part
        self.algorithms = algorithms
        self.queue = queue
        state = Mutex(State(digests: Self.fresh(algorithms)))
    }

    private static func fresh(_ algorithms: Set<Checksum.Algorithm>) -> [DigestState] {
        algorithms.sorted().map { DigestState($0) }
    }

    /// Tells that the file holds all bytes up to `end`; returns at once.
    func follow(upTo end: Int64) {
        state.withLock { state in
            state.target = max(state.target, end)
            goOn(&state)
        }
    }

    /// Forgets everything: the file has lost bytes that the digests may have seen.
    func restart() {
        state.withLock { state in
            state.digests = Self.fresh(algorithms)
            state.position = 0
            state.target = 0
            state.generation += 1
            state.failure = nil
            release(&state)
        }
    }

    /// Computes up to `offset`, which the file must have reached.
    ///
    /// Returns early where the digests begin anew meanwhile.
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

    /// The offset up to which the digests have come.
    var position: Int64 { state.withLock(\.position) }

    /// What the bytes up to ``position`` come to.
    var values: [Checksum] {
        state.withLock(\.digests).compactMap { Checksum($0.algorithm, $0.value) }
    }

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
            try digest(before.position..<max(before.position, end), before.digests)
        }
        state.withLock { state in
            state.isWorking = false
            if state.generation == before.generation {
                switch result {
                case .success(let digests):
                    state.digests = digests
                    state.position = max(before.position, end)
                case .failure(let error):
                    state.failure = error
                }
                release(&state)
            }
            goOn(&state)
        }
    }

    private func digest(
        _ range: Range<Int64>,
        _ digests: [DigestState]
    ) throws(FileError) -> [DigestState] {
        guard let range = ByteRange(from: range.lowerBound, to: range.upperBound) else {
            return digests
        }
        var digests = digests
        try part.forEachPiece(of: range, upTo: Self.readSize) { piece in
            for index in digests.indices { digests[index].update(piece) }
        }
        return digests
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
