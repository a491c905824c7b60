// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The notices to a transfer while its connections run, in order.
///
/// One loop takes them one after the other, so that no two decisions about one file are made at
/// once.
final class TransferInbox: Sendable {
    /// A connection of a transfer, counted from 1.
    typealias ConnectionNumber = Int

    enum Notice: Sendable {
        case connection(ConnectionNumber, ResponseSink.Event)
        /// A checkpoint is due.
        case checkpointIsDue
        /// The plan for further connections is due.
        case planIsDue
    }

    /// The most bytes between two checkpoints, over all connections, and so the most that a crash
    /// can cost.
    static let checkpointBytes: Int64 = 64 << 20

    let notices: AsyncStream<Notice>
    private let post: AsyncStream<Notice>.Continuation
    private let sinceCheckpoint = Atomic<Int64>(0)
    private let isCheckpointWanted = Atomic<Bool>(false)

    init() { (notices, post) = AsyncStream.makeStream() }

    func send(_ notice: Notice) { post.yield(notice) }

    /// Counts received bytes; called on the transfer thread only.
    func count(_ bytes: Int) {
        let sum = sinceCheckpoint.wrappingAdd(Int64(bytes), ordering: .relaxed).newValue
        guard sum >= Self.checkpointBytes else { return }
        wantCheckpoint()
    }

    /// Asks for a checkpoint, unless one waits already: a sync may take longer than the time
    /// between two.
    func wantCheckpoint() {
        guard !isCheckpointWanted.exchange(true, ordering: .relaxed) else { return }
        send(.checkpointIsDue)
    }

    /// Begins to count for the next checkpoint.
    func beginCheckpoint() {
        sinceCheckpoint.store(0, ordering: .relaxed)
        isCheckpointWanted.store(false, ordering: .relaxed)
    }
}
