// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import iDownState

/// Carries one connection's bytes into the file, in writes of 256 KiB.
///
/// The transfer thread copies what comes into one of two buffers and waits for nothing; the lane of
/// the file's disk writes one that is full. Where the file already has bytes of the same version,
/// they are compared instead. How far it has come and where it ends can be read and moved at any
/// time without waiting.
final class SegmentWriter: Sendable {
    /// libcurl hands out 16 KiB; writes of that size cost two to three times as much as these.
    static let bufferSize = 256 << 10

    enum Step: Equatable {
        case done
        /// Both buffers are under way to the disk, or a comparison waits for its verdict: the bytes
        /// are to be offered again, and the listener says when there is room.
        case waits
        /// The segment's end is reached; what came after it is dropped.
        case full
        /// The file system refused, see `failure`; or the writer was given up.
        case failed
    }

    /// What the lane has found out, and what stops all writing until somebody decides.
    enum Verdict: Sendable {
        /// The next bytes differ from those on disk: they wait until `cut()`, which the caller
        /// calls once the record no longer claims the old ones.
        case differs
        /// All bytes that were to prove what is on disk are equal: what follows waits until
        /// `release()`, which the caller calls once the record says what they proved.
        case proven
    }

    /// Hears of a verdict; of nil where bytes that had to wait may come.
    ///
    /// Called on the lane's thread, or within another call of the writer where there is no lane.
    typealias Listener = @Sendable (Verdict?) -> Void

    /// The offset of the first byte that comes.
    let start: Int64
    private let part: PartFile
    /// The end that the request asked for: one that lies before it has to be enforced.
    private let askedEnd: Int64
    private let movableEnd: Atomic<Int64>
    private let takenEnd: Atomic<Int64>
    /// Where the bytes end that are of the file as far as anybody knows: behind those that prove it,
    /// and nowhere once they have.
    private let knownEnd: Atomic<Int64>
    private let storedEnd: Atomic<Int64>
    /// Never held during a call into the file system.
    private let lock = Mutex(())
    /// Touched by nobody who does not hold `lock`; the bytes of a buffer that was handed over, by
    /// the lane's job alone.
    ///
    /// It is not inside of the lock because a `Mutex` takes no borrowed buffers in, which are what
    /// `append` is given.
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

    /// The bytes that are in the file, synced or not.
    var written: ByteRange? { ByteRange(from: start, to: writtenEnd) }

    /// The bytes that were taken, in the file or not; without those that follow an open proof.
    var taken: ByteRange? {
        ByteRange(from: start, to: min(position, knownEnd.load(ordering: .acquiring)))
    }

    /// The offset behind the last byte that was taken.
    var position: Int64 { takenEnd.load(ordering: .acquiring) }

    /// The offset behind the last byte that is in the file; where a comparison stands still,
    /// that of the first byte that differs.
    var writtenEnd: Int64 { storedEnd.load(ordering: .acquiring) }

    /// The offset behind the last byte that is to be stored; the largest number where no length
    /// is known.
    var end: Int64 { movableEnd.load(ordering: .acquiring) }

    /// What is still to come; nil where nothing is.
    var rest: ByteRange? { ByteRange(from: position, to: end) }

    /// Whether more has come than the request asked for: its end is no end of the file's.
    var isOverfull: Bool { lock.withLock { _ in state.isOverfull } }

    /// Whether bytes have had to wait for the disk so often that it is slower than the line.
    var isSlowerThanLine: Bool { lock.withLock { _ in state.waits >= Self.mostWaits } }

    /// A disk that is busy for a moment costs a few.
    private static let mostWaits = 32

    var failure: FileError? { lock.withLock { _ in state.failure } }

    /// From now on this one hears of verdicts, and of one that was found already.
    func listen(_ listener: @escaping Listener) {
        lock.withLock { _ in state.listener = listener }
        tell()
    }

    /// Leaves the bytes from `offset` on to another writer.
    ///
    /// What is taken at this very moment may still go beyond: both write the same bytes.
    func leave(from offset: Int64) { movableEnd.min(offset, ordering: .acquiringAndReleasing) }

    /// Takes all of `bytes`; none of them where the answer is `waits` or `failed`.
    func append(_ bytes: UnsafeRawBufferPointer) -> Step {
        let end = end
        let (step, isToWork) = lock.withLock { _ -> (Step, Bool) in
            guard state.failure == nil, !state.isGivenUp else { return (.failed, false) }
            let before = takenEnd.load(ordering: .relaxed)
            let room = max(0, end - before)
            let isTooMuch = Int64(bytes.count) > room
            let fitting = isTooMuch ? UnsafeRawBufferPointer(rebasing: bytes[..<Int(room)]) : bytes
            guard state.mayTake(fitting.count) else {
                state.isAwaited = true
                state.waits += 1
                return (.waits, state.handOver())
            }
            if isTooMuch { state.isOverfull = end == askedEnd }
            let isLast = Int64(fitting.count) == room
            let taken = before + Int64(fitting.count)
            takenEnd.store(taken, ordering: .releasing)
            var isToWork = state.fill(from: fitting)
            // With the last byte there is nothing to gather for, nor with that of a proof: only once
            // it is decided does what follows count.
            let known = knownEnd.load(ordering: .relaxed)
            let isProofThere = before < known && known <= taken
            if isLast || isProofThere, state.handOver() { isToWork = true }
            // The server would send on: a segment that was shortened ends with its last byte.
            return (isTooMuch || (isLast && end < askedEnd) ? .full : .done, isToWork)
        }
        if isToWork { work() }
        return step
    }

    /// Brings what was taken by now into the file.
    ///
    /// - Returns: the verdict that has to come first; nil where all is in the file, and where it
    ///   never will be: see `failure`.
    func flush() async -> Verdict? {
        await withCheckedContinuation { continuation in
            let isToWork = lock.withLock { _ in
                state.waiters.append((takenEnd.load(ordering: .relaxed), continuation))
                return state.handOver()
            }
            if isToWork { work() } else { tell() }
        }
    }

    /// Ends the comparison: from here on everything is written.
    func cut() {
        knownEnd.store(.max, ordering: .releasing)
        let isToWork = lock.withLock { _ in
            state.compared = []
            return state.goOn()
        }
        if isToWork { work() }
    }

    /// Lets what waits into the file.
    func release() {
        knownEnd.store(.max, ordering: .releasing)
        if lock.withLock({ _ in state.goOn() }) { work() } else { tell() }
    }

    /// Has nothing more written; a write that is under way ends before ``quiet()`` returns.
    func giveUp() {
        lock.withLock { _ in state.isGivenUp = true }
        tell()
    }

    /// Returns once the lane is not at work for this writer.
    func quiet() async {
        await withCheckedContinuation { continuation in
            lock.withLock { _ in state.idlers.append(continuation) }
            tell()
        }
    }

    // MARK: The lane's work

    /// Has the oldest buffer written, and then the next behind those of other connections.
    private func work() {
        guard let lane = part.bytes else {
            while workAtOldest() {}
            return
        }
        lane.async { [self] in if workAtOldest() { work() } }
    }

    /// Returns whether the lane has to go on with the next buffer.
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
            // One visit for all: the transfer thread comes by for every 16 KiB.
            let (goesOn, news, listener) = lock.withLock { _ -> (Bool, State.News?, Listener?) in
                switch result {
                case .success(let count):
                    storedEnd.store(present.offset + Int64(count), ordering: .releasing)
                    if !state.advance(by: count, of: present) {
                        stretch = state.nextStretch()
                        if stretch != nil { return (false, nil, nil) }
                    }
                case .failure(let error):
                    state.failure = error
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

    /// Tells everybody what they wait for.
    private func tell() {
        let (news, listener) = lock.withLock { _ in (state.takeNews(), state.listener) }
        tell(news, listener)
    }

    private func tell(_ news: State.News, _ listener: Listener?) {
        for waiter in news.waiters { waiter.resume(returning: news.verdict) }
        for idler in news.idlers { idler.resume() }
        if news.isVerdictNew, let verdict = news.verdict { listener?(verdict) }
        if news.hasRoom { listener?(nil) }
    }
}

extension SegmentWriter {
    /// What was taken and is not in the file yet.
    private struct State: ~Copyable {
        /// A buffer that was handed over to the lane.
        private struct Piece {
            let buffer: Int
            let count: Int
        }

        /// Bytes of the oldest piece that go the same way.
        struct Stretch {
            let bytes: UnsafeRawBufferPointer
            /// Where they belong in the file.
            let offset: Int64
            let isCompared: Bool
        }

        struct News {
            var verdict: Verdict?
            var isVerdictNew = false
            var hasRoom = false
            var waiters: [CheckedContinuation<Verdict?, Never>] = []
            var idlers: [CheckedContinuation<Void, Never>] = []
        }

        var listener: Listener?
        /// The ranges that are still to be compared with the file's own bytes.
        var compared: ArraySlice<ByteRange>
        var failure: FileError?
        var isGivenUp = false
        var isOverfull = false
        /// Bytes were refused, and their owner is to hear when there is room.
        var isAwaited = false
        /// How often bytes were refused.
        var waits = 0
        /// Those who wait until all before an offset is in the file.
        var waiters: [(end: Int64, continuation: CheckedContinuation<Verdict?, Never>)] = []
        var idlers: [CheckedContinuation<Void, Never>] = []
        /// Two at most; the second is made when the first is under way for the first time.
        private var buffers: [UnsafeMutableRawBufferPointer] = [newBuffer()]
        /// The buffer that takes what comes; nil while both are under way.
        private var filling: Int? = 0
        private var filled = 0
        /// Those under way, the oldest first.
        private var pieces: [Piece] = []
        /// How many bytes of the oldest piece are in the file.
        private var done = 0
        /// The offset in the file of the first byte that is not in it.
        private var position: Int64
        /// The lane is at work, or will be.
        private var isWorking = false
        private var verdict: Verdict?
        private var isVerdictNew = false
        /// What is compared is a proof, and what follows it waits for somebody to draw the sum.
        private var awaitsVerdict: Bool
        /// Whether anything may follow it.
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

        /// Nothing is taken any more, and a request may live on for long.
        private mutating func freeBuffers() {
            for buffer in buffers { buffer.deallocate() }
            (buffers, pieces, filling) = ([], [], nil)
        }

        private static func newBuffer() -> UnsafeMutableRawBufferPointer {
            .allocate(byteCount: SegmentWriter.bufferSize, alignment: 4096)
        }

        /// Whether so many bytes may be taken now.
        func mayTake(_ count: Int) -> Bool {
            guard count > 0 else { return true }
            guard verdict == nil else { return false }
            let first = filling == nil ? 0 : SegmentWriter.bufferSize - filled
            let second = pieces.isEmpty ? SegmentWriter.bufferSize : 0
            return count <= first + second
        }

        /// Takes bytes for which there is room.
        ///
        /// - Returns: whether the lane has to begin.
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

        /// Hands the buffer that takes what comes over to the lane.
        ///
        /// - Returns: whether the lane has to begin.
        mutating func handOver() -> Bool {
            guard let buffer = filling, filled > 0 else { return false }
            pieces.append(Piece(buffer: buffer, count: filled))
            filled = 0
            filling = pieces.count == 1 ? 1 - buffer : nil
            return begin()
        }

        /// The verdict was heard, and nothing waits for another.
        ///
        /// - Returns: whether the lane has to begin.
        mutating func goOn() -> Bool {
            awaitsVerdict = false
            verdict = nil
            isVerdictNew = false
            return begin()
        }

        /// The lane has worked at the oldest piece.
        ///
        /// - Returns: whether it has to begin with the next.
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

        /// The bytes that the lane has to write or to compare now; nil where there are none.
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

        /// The first `count` bytes of a stretch are in the file.
        ///
        /// - Returns: whether the piece is over.
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
            // The processor still has it in its cache; and often one buffer is all that is needed.
            if filled == 0 { filling = piece.buffer }
            return true
        }

        private mutating func find(_ verdict: Verdict) {
            self.verdict = verdict
            isVerdictNew = true
        }

        /// What is to be told to those who wait, who are forgotten here.
        mutating func takeNews() -> News {
            var news = News(verdict: verdict)
            let isStuck = verdict != nil || failure != nil || isGivenUp
            for waiter in waiters where isStuck || waiter.end <= position {
                news.waiters.append(waiter.continuation)
            }
            if !news.waiters.isEmpty { waiters.removeAll { isStuck || $0.end <= position } }
            if !isWorking {
                swap(&idlers, &news.idlers)
                if isGivenUp { freeBuffers() }
            }
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
