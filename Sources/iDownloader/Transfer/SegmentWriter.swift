// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import iDownState

/// Carries one connection's bytes into the file, in writes of 256 KiB.
///
/// The transfer thread of the file's disk writes full buffers itself as long as the disk is quick;
/// else it goes on to fill a second buffer, and the thread of the disk writes. Where the file already
/// has bytes of the same version, they are compared instead. The present position can be read, and
/// the end moved, at any time without waiting.
final class SegmentWriter: Sendable {
    /// The size of a write.
    ///
    /// libcurl delivers 16 KiB at a time, and writes of that size cost two to three times as much.
    static let bufferSize = 256 << 10

    enum Step: Equatable {
        case done
        /// The thread has the buffers, or a comparison waits for its verdict. The caller offers the
        /// bytes again when the listener says that there is room.
        case waits
        /// The segment's end is reached; bytes after it are dropped.
        case full
        /// The file system refused a write (see `failure`), or the writer was given up.
        case failed
    }

    /// A finding of a comparison.
    ///
    /// Nothing more is written until the transfer has decided.
    enum Verdict: Sendable {
        /// The next bytes differ from those on disk. They wait for `cut()`, which the caller calls
        /// once the record no longer claims the old bytes.
        case differs
        /// All compared bytes are equal, which proves those on disk. The following bytes wait for
        /// `release()`, which the caller calls once the record has the proven version.
        case proven
    }

    /// Takes a verdict, or nil when there is room for bytes that had to wait.
    ///
    /// Called on the disk's thread, or inside another call of the writer.
    typealias Listener = @Sendable (Verdict?) -> Void

    /// The offset of the first received byte.
    let start: Int64
    private let part: PartFile
    /// The end of the requested range.
    ///
    /// The writer enforces an end that was moved before it.
    private let askedEnd: Int64
    private let movableEnd: Atomic<Int64>
    private let takenEnd: Atomic<Int64>
    /// The end of the bytes that are known to be of this version: that of the proof while it is
    /// open, and unlimited afterwards.
    private let knownEnd: Atomic<Int64>
    private let storedEnd: Atomic<Int64>
    /// Guards `state`; never held during a call into the file system.
    private let lock = Mutex(())
    /// The state that `lock` guards; whoever works touches the bytes of a buffer that was handed
    /// over, and nobody else does.
    ///
    /// It is not inside the lock, because a `Mutex` accepts no borrowed buffers, which `append`
    /// gets.
    nonisolated(unsafe) private var state: State

    /// - Parameters:
    ///   - part: the file, open for reading and writing.
    ///   - start: the offset of the first byte that comes.
    ///   - end: the offset behind the last byte that may be stored; nil where none is known.
    ///   - compared: the bytes of the file that are compared with those that come.
    ///   - isProof: nothing is written before somebody has heard that all of those are equal.
    init(
        _ part: PartFile,
        from start: Int64,
        to end: Int64?,
        comparing compared: SegmentMap = SegmentMap(),
        isProof: Bool = false
    ) {
        self.part = part
        self.start = start
        askedEnd = end ?? .max
        movableEnd = Atomic(end ?? .max)
        takenEnd = Atomic(start)
        storedEnd = Atomic(start)
        let proofEnd = isProof ? compared.ranges.last?.end : nil
        knownEnd = Atomic(proofEnd ?? .max)
        state = State(
            position: start,
            compared: compared.ranges[...],
            isProof: isProof,
            mayFollowProof: proofEnd.map { $0 < end ?? .max } ?? false
        )
    }

    /// The range written to the file, synced or not.
    var written: ByteRange? { ByteRange(from: start, to: writtenEnd) }

    /// The range received, written or not, without bytes that follow an open proof.
    var taken: ByteRange? {
        ByteRange(from: start, to: min(position, knownEnd.load(ordering: .acquiring)))
    }

    /// The offset behind the last received byte.
    var position: Int64 { takenEnd.load(ordering: .acquiring) }

    /// The offset behind the last written byte; while a comparison waits, the offset of the first
    /// byte that differs.
    var writtenEnd: Int64 { storedEnd.load(ordering: .acquiring) }

    /// The offset behind the last byte to store; the largest number if no length is known.
    var end: Int64 { movableEnd.load(ordering: .acquiring) }

    /// The range that is still to come; nil if it is empty.
    var rest: ByteRange? { ByteRange(from: position, to: end) }

    /// Whether more bytes came than were requested, so that the requested end is not the file's
    /// end.
    var isOverfull: Bool { lock.withLock { _ in state.isOverfull } }

    /// Whether bytes had to wait for the disk so often that the disk is slower than the network.
    var isSlowerThanLine: Bool { lock.withLock { _ in state.waits >= Self.mostWaits } }

    /// The number of waits that show a slow disk.
    ///
    /// A disk that is busy for a moment causes a few.
    private static let mostWaits = 32

    var failure: FileError? { lock.withLock { _ in state.failure } }

    /// Sets the listener for verdicts, and tells it of one that is there already.
    func listen(_ listener: @escaping Listener) {
        lock.withLock { _ in state.listener = listener }
        tell()
    }

    /// Moves the end to `offset`, from which another writer goes on.
    ///
    /// Bytes that are being taken at this moment may still go beyond it: both writers then write
    /// the same bytes.
    func leave(from offset: Int64) { movableEnd.min(offset, ordering: .acquiringAndReleasing) }

    /// Moves the end to `offset`, or to the end of the requested range.
    ///
    /// - Returns: false if all bytes up to the present end have come: the connection is about to end.
    func extend(to offset: Int64) -> Bool {
        lock.withLock { _ in
            guard rest != nil else { return false }
            movableEnd.store(min(offset, askedEnd), ordering: .releasing)
            return true
        }
    }

    /// Takes bytes that were received.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - disk: the file system whose transfer thread calls; nil for another thread. A full buffer
    ///     is still in the cache of that thread's processor.
    /// - Returns: `waits` or `failed` if none of the bytes were taken.
    func append(_ bytes: UnsafeRawBufferPointer, onThreadOf disk: UInt64? = nil) -> Step {
        let (step, isToWork) = lock.withLock { _ -> (Step, Bool) in
            let end = end
            guard state.failure == nil, !state.isGivenUp else { return (.failed, false) }
            let before = takenEnd.load(ordering: .relaxed)
            let room = max(0, end - before)
            let isTooMuch = Int64(bytes.count) > room
            let fitting = isTooMuch ? UnsafeRawBufferPointer(rebasing: bytes[..<Int(room)]) : bytes
            guard state.mayTake(fitting.count) else { return (.waits, state.refuse()) }
            if isTooMuch { state.isOverfull = end == askedEnd }
            let isLast = Int64(fitting.count) == room
            let taken = before + Int64(fitting.count)
            takenEnd.store(taken, ordering: .releasing)
            var isToWork = state.fill(from: fitting)
            // The last byte of the segment or of a proof ends the buffer: nothing more is worth
            // gathering.
            let known = knownEnd.load(ordering: .relaxed)
            let isProofThere = before < known && known <= taken
            if isLast || isProofThere, state.handOver() { isToWork = true }
            // The server would send more: a shortened segment ends with its last byte.
            return (isTooMuch || (isLast && end < askedEnd) ? .full : .done, isToWork)
        }
        if isToWork {
            let writesHere = part.bytes.map { $0.device == disk && $0.isQuick } ?? true
            writesHere ? workHere() : work()
        }
        return step
    }

    /// Writes all bytes received so far; after ``giveUp()`` waits only for a write that runs.
    ///
    /// - Returns: the verdict that the transfer has to decide first; nil if all bytes are written,
    ///   or never will be (see `failure`).
    func flush() async -> Verdict? {
        await withCheckedContinuation { continuation in
            let isToWork = lock.withLock { _ in
                state.waiters.append((takenEnd.load(ordering: .relaxed), continuation))
                return state.handOver()
            }
            if isToWork { work() } else { tell() }
        }
    }

    /// Ends the comparison: all further bytes are written.
    func cut() {
        knownEnd.store(.max, ordering: .releasing)
        let isToWork = lock.withLock { _ in
            state.compared = []
            return state.goOn()
        }
        if isToWork { work() }
    }

    /// Lets the waiting bytes be written.
    func release() {
        knownEnd.store(.max, ordering: .releasing)
        if lock.withLock({ _ in state.goOn() }) { work() } else { tell() }
    }

    /// Stops all writing; a write that runs ends before ``flush()`` returns.
    func giveUp() {
        lock.withLock { _ in state.isGivenUp = true }
        tell()
    }

    // MARK: Writing

    /// Writes the oldest buffer on the disk's thread, and queues the next one behind those of other
    /// connections.
    private func work() {
        guard let thread = part.bytes else { return workHere() }
        thread.async { [self] in if workAtOldest() { work() } }
    }

    /// Writes all buffers on the caller's thread.
    private func workHere() {
        guard let thread = part.bytes else {
            while workAtOldest() {}
            return
        }
        while thread.here({ workAtOldest() }) {}
    }

    /// Works at the oldest buffer; returns whether the caller has to go on with the next one.
    private func workAtOldest() -> Bool {
        var stretch = lock.withLock { _ in state.nextStretch() }
        while let present = stretch {
            let result = Result { () throws(FileError) -> Int in
                if present.isCompared {
                    return try part.commonPrefixLength(with: present.bytes, at: present.offset)
                }
                try part.write(present.bytes, at: present.offset)
                return present.bytes.count
            }
            // One lock for everything: the transfer thread takes it for every 16 KiB.
            let (goesOn, news, listener) = lock.withLock { _ -> (Bool, State.News?, Listener?) in
                switch result {
                case .success(let count):
                    storedEnd.store(present.offset + Int64(count), ordering: .releasing)
                    if !state.advance(by: count, of: present) {
                        stretch = state.nextStretch()
                        if stretch != nil { return (false, nil, nil) }
                    }
                case .failure(let error): state.failure = error
                }
                stretch = nil
                return (state.endWork(), state.takeNews(), state.listener)
            }
            guard let news else { continue }
            tell(news, listener)
            return goesOn
        }
        let goesOn = lock.withLock { _ in state.endWork() }
        tell()
        return goesOn
    }

    /// Resumes those who wait, and tells the listener.
    private func tell() {
        let (news, listener) = lock.withLock { _ in (state.takeNews(), state.listener) }
        tell(news, listener)
    }

    private func tell(_ news: State.News, _ listener: Listener?) {
        for waiter in news.waiters { waiter.resume(returning: news.verdict) }
        if news.isVerdictNew, let verdict = news.verdict { listener?(verdict) }
        if news.hasRoom { listener?(nil) }
    }
}

extension SegmentWriter {
    /// The received bytes that are not written yet.
    private struct State: ~Copyable {
        /// Bytes of the oldest piece that are all written, or all compared.
        struct Stretch {
            let bytes: UnsafeRawBufferPointer
            /// Their offset in the file.
            let offset: Int64
            let isCompared: Bool
        }

        struct News {
            var verdict: Verdict?
            var isVerdictNew = false
            var hasRoom = false
            var waiters: [CheckedContinuation<Verdict?, Never>] = []
        }

        var listener: Listener?
        /// The ranges that are still to be compared with the file's own bytes.
        var compared: ArraySlice<ByteRange>
        var failure: FileError?
        var isGivenUp = false
        var isOverfull = false
        /// Whether bytes were refused, so that the listener has to hear when there is room.
        private var isAwaited = false
        /// The number of times that bytes were refused.
        private(set) var waits = 0
        /// Callers that wait until all bytes before an offset are written.
        var waiters: [(end: Int64, continuation: CheckedContinuation<Verdict?, Never>)] = []
        /// At most two; the second is made when the first is handed over for the first time.
        private var buffers: [UnsafeMutableRawBufferPointer] = [newBuffer()]
        /// The buffer that takes received bytes; nil while both wait to be written.
        private var filling: Int? = 0
        private var filled = 0
        /// The buffers that wait to be written, the oldest first.
        private var pieces: [(buffer: Int, count: Int)] = []
        /// The number of bytes of the oldest piece that are written.
        private var done = 0
        /// The file offset of the first byte that is not written.
        private var position: Int64
        /// Whether somebody works, or is about to.
        private var isWorking = false
        private var verdict: Verdict?
        private var isVerdictNew = false
        /// Whether the compared bytes are a proof, so that the following bytes wait for the
        /// transfer's decision.
        private var awaitsVerdict: Bool
        /// Whether bytes may follow the proof.
        private let mayFollowProof: Bool

        init(
            position: Int64,
            compared: ArraySlice<ByteRange>,
            isProof: Bool,
            mayFollowProof: Bool
        ) {
            self.position = position
            awaitsVerdict = isProof
            self.mayFollowProof = mayFollowProof
            self.compared = compared.drop { $0.end <= position }
            pieces.reserveCapacity(2)
        }

        deinit { for buffer in buffers { buffer.deallocate() } }

        /// Frees the buffers: nothing more is taken, and the request may last much longer.
        private mutating func freeBuffers() {
            for buffer in buffers { buffer.deallocate() }
            (buffers, pieces, filling) = ([], [], nil)
        }

        private static func newBuffer() -> UnsafeMutableRawBufferPointer {
            .allocate(byteCount: SegmentWriter.bufferSize, alignment: 4096)
        }

        /// Returns whether this many bytes may be taken now.
        func mayTake(_ count: Int) -> Bool {
            guard count > 0 else { return true }
            guard verdict == nil else { return false }
            let first = filling == nil ? 0 : SegmentWriter.bufferSize - filled
            let second = pieces.isEmpty ? SegmentWriter.bufferSize : 0
            return count <= first + second
        }

        /// Takes bytes for which there is room.
        ///
        /// - Returns: whether somebody has to begin the work.
        mutating func fill(from bytes: UnsafeRawBufferPointer) -> Bool {
            var rest = bytes
            var isToWork = false
            while !rest.isEmpty, let filling {
                if filling >= buffers.count { buffers.append(Self.newBuffer()) }
                let free = UnsafeMutableRawBufferPointer(rebasing: buffers[filling][filled...])
                let count = min(free.count, rest.count)
                free.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
                filled += count
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                if count == free.count, handOver() { isToWork = true }
            }
            return isToWork
        }

        /// Refuses bytes until there is room for them.
        ///
        /// - Returns: whether somebody has to begin the work.
        mutating func refuse() -> Bool {
            isAwaited = true
            waits += 1
            return handOver()
        }

        /// Hands the filling buffer over to be written.
        ///
        /// - Returns: whether somebody has to begin the work.
        mutating func handOver() -> Bool {
            guard let buffer = filling, filled > 0 else { return false }
            pieces.append((buffer, filled))
            filled = 0
            filling = pieces.count == 1 ? 1 - buffer : nil
            return begin()
        }

        /// Ends the wait for a verdict.
        ///
        /// - Returns: whether somebody has to begin the work.
        mutating func goOn() -> Bool {
            awaitsVerdict = false
            verdict = nil
            isVerdictNew = false
            return begin()
        }

        /// Ends the work at the oldest piece.
        ///
        /// - Returns: whether the next has to be begun.
        mutating func endWork() -> Bool {
            isWorking = false
            return begin()
        }

        private mutating func begin() -> Bool {
            guard !isWorking, !pieces.isEmpty, verdict == nil, failure == nil, !isGivenUp else {
                return false
            }
            isWorking = true
            return true
        }

        /// Returns the bytes to write or to compare now; nil if there are none.
        mutating func nextStretch() -> Stretch? {
            guard let piece = pieces.first, verdict == nil, failure == nil, !isGivenUp else {
                return nil
            }
            var count = piece.count - done
            var isCompared = false
            if let next = compared.first {
                isCompared = next.first <= position
                let border = isCompared ? next.end : next.first
                count = Int(min(Int64(count), border - position))
            }
            guard isCompared || !awaitsVerdict else {
                find(.proven)
                return nil
            }
            let bytes = buffers[piece.buffer][done..<(done + count)]
            return Stretch(
                bytes: UnsafeRawBufferPointer(rebasing: bytes),
                offset: position,
                isCompared: isCompared
            )
        }

        /// Counts the first `count` bytes of a stretch as written.
        ///
        /// - Returns: whether the piece is complete.
        mutating func advance(by count: Int, of stretch: Stretch) -> Bool {
            position += Int64(count)
            done += count
            while let next = compared.first, next.end <= position { compared.removeFirst() }
            if count < stretch.bytes.count {
                find(.differs)
            } else if awaitsVerdict, mayFollowProof, compared.isEmpty {
                find(.proven)
            }
            guard let piece = pieces.first, done == piece.count else { return false }
            pieces.removeFirst()
            done = 0
            // This buffer is still in the processor's cache, and often one buffer is enough.
            if filled == 0 { filling = piece.buffer }
            return true
        }

        private mutating func find(_ verdict: Verdict) {
            self.verdict = verdict
            isVerdictNew = true
        }

        /// Returns what the waiting callers have to hear, and forgets them.
        mutating func takeNews() -> News {
            var news = News(verdict: verdict)
            let isQuiet = isGivenUp && !isWorking
            let isStuck = verdict != nil || failure != nil || isQuiet
            for waiter in waiters where isStuck || waiter.end <= position {
                news.waiters.append(waiter.continuation)
            }
            if !news.waiters.isEmpty { waiters.removeAll { isStuck || $0.end <= position } }
            if isQuiet { freeBuffers() }
            if isVerdictNew, listener != nil {
                news.isVerdictNew = true
                isVerdictNew = false
            }
            let isOver = failure != nil || isGivenUp
            if isAwaited, isOver || (verdict == nil && filling != nil) {
                news.hasRoom = true
                isAwaited = false
            }
            return news
        }
    }
}
