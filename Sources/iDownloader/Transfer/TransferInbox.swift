// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What a transfer is told while its connections run, in the order in which it comes.
///
/// One loop takes it all in turn, so that no two decisions about one file are made at once.
final class TransferInbox: Sendable {
    /// A connection of a transfer, counted from 1.
    typealias ConnectionNumber = Int

    enum Notice: Sendable {
        case connection(ConnectionNumber, ResponseSink.Event)
        /// It is time to make safe what is there.
        case checkpointIsDue
        /// It is time to look at the plan again.
        case planIsDue
        /// It is time to look for bodies that are dropped and do not come.
        case drainIsDue
    }

    /// The most bytes between two checkpoints, over all connections: what a crash can cost.
    static let checkpointBytes: Int64 = 64 << 20

    let notices: AsyncStream<Notice>
    private let post: AsyncStream<Notice>.Continuation
    private let sinceCheckpoint = Atomic<Int64>(0)
    private let isCheckpointWanted = Atomic<Bool>(false)

    init() { (notices, post) = AsyncStream.makeStream() }

    func send(_ notice: Notice) { post.yield(notice) }

    /// Counts bytes that were taken; from the transfer thread alone.
    func count(_ bytes: Int) {
        let sum = sinceCheckpoint.wrappingAdd(Int64(bytes), ordering: .relaxed).newValue
        guard sum >= Self.checkpointBytes else { return }
        wantCheckpoint()
    }

    /// Asks for a checkpoint, unless one is asked for already: a sync may take longer than the time
    /// between two.
    func wantCheckpoint() {
        guard !isCheckpointWanted.exchange(true, ordering: .relaxed) else { return }
        send(.checkpointIsDue)
    }

    /// What comes from now on calls for the next checkpoint.
    func beginCheckpoint() {
        sinceCheckpoint.store(0, ordering: .relaxed)
        isCheckpointWanted.store(false, ordering: .relaxed)
    }
}
