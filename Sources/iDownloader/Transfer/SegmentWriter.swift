// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownState

/// Carries one connection's bytes into the file, in writes of 256 KiB.
///
/// The transfer thread appends, the disk's threads flush for a checkpoint; a lock keeps them
/// apart. Where the file already has bytes of the same version, they are compared instead.
/// How far it has come and where it ends can be read and moved at any time without waiting.
final class SegmentWriter: Sendable {
    /// libcurl hands out 16 KiB; writes of that size cost two to three times as much as these.
    static let bufferSize = 256 << 10

    enum Step: Equatable {
        case done
        /// The next bytes differ from those on disk: they wait until `cut()`, which the caller
        /// calls once the record no longer claims the old ones.
        case differs
        /// All bytes that were to prove what is on disk are equal: what follows waits until
        /// `release()`, which the caller calls once the record says what they proved.
        case proven
        /// The segment's end is reached; what came after it is dropped.
        case full
        /// The file system refused; see `failure`.
        case failed
    }

    /// The offset of the first byte that comes.
    let start: Int64
    private let part: PartFile
    /// The end that the request asked for: one that lies before it has to be enforced.
    private let askedEnd: Int64
    private let movableEnd: Atomic<Int64>
    private let takenEnd: Atomic<Int64>
    private let storedEnd: Atomic<Int64>
    private let lock = Mutex(())
    /// Touched by nobody who does not hold `lock`.
    ///
    /// It is not inside of it because a `Mutex` takes no borrowed buffers in, which are what
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
        state = State(
            position: start,
            compared: compared.ranges[...],
            awaitsVerdict: isProof
        )
    }

    /// The bytes that are in the file, synced or not.
    var written: ByteRange? { ByteRange(from: start, to: writtenEnd) }

    /// The bytes that were taken, in the file or not.
    var taken: ByteRange? { ByteRange(from: start, to: position) }

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

    var failure: FileError? { lock.withLock { _ in state.failure } }

    /// Leaves the bytes from `offset` on to another writer.
    ///
    /// A piece that is taken at this very moment may still go beyond: both write the same bytes.
    func leave(from offset: Int64) { movableEnd.min(offset, ordering: .acquiringAndReleasing) }

    /// Takes all of `bytes`; none of them where the answer is `differs`, `proven` or
    /// `failed`.
    func append(_ bytes: UnsafeRawBufferPointer) -> Step {
        let end = end
        return lock.withLock { _ in
            var rest = bytes
            let room = max(0, end - state.position - Int64(state.filled))
            var isFull = Int64(rest.count) > room
            if isFull {
                rest = UnsafeRawBufferPointer(rebasing: rest[..<Int(room)])
                state.isOverfull = end == askedEnd
            }
            // The server would send on: a segment that was shortened ends with its last byte.
            if Int64(rest.count) == room, end < askedEnd { isFull = true }
            // A comparison may stop at any flush, and what it refuses is offered again: so a
            // chunk is taken only when it fits as a whole.
            if state.isOnTrial, rest.count > state.room {
                let step = drain()
                guard step == .done else { return step }
            }
            while !rest.isEmpty {
                rest = state.fill(from: rest)
                if state.room == 0 {
                    let step = drain()
                    guard step != .failed, step == .done || rest.isEmpty else { return .failed }
                }
            }
            takenEnd.store(state.position + Int64(state.filled), ordering: .releasing)
            // With the last byte there is nothing to gather for. Where the last bytes differ from
            // those on disk, they wait in the buffer for the next flush to say so.
            if Int64(bytes.count) >= room, drain() == .failed { return .failed }
            return isFull ? .full : .done
        }
    }

    /// Whether all that was taken is in the file.
    var isFlushed: Bool { lock.withLock { _ in state.filled == 0 && state.failure == nil } }

    /// Brings what was taken into the file.
    func flush() -> Step { lock.withLock { _ in drain() } }

    /// Ends the comparison: from here on everything is written.
    func cut() {
        lock.withLock { _ in
            state.compared = []
            state.awaitsVerdict = false
        }
    }

    /// Lets what waits into the file.
    func release() { lock.withLock { _ in state.awaitsVerdict = false } }

    /// The lock is held.
    private func drain() -> Step {
        guard state.failure == nil else { return .failed }
        defer { storedEnd.store(state.position, ordering: .releasing) }
        do throws(FileError) {
            while state.filled > 0 {
                let (count, isCompared) = state.nextStretch
                let bytes = state.pending(count)
                guard isCompared else {
                    if state.awaitsVerdict { return .proven }
                    try part.write(bytes, at: state.position)
                    state.advance(by: count)
                    continue
                }
                let equal = try part.commonPrefixLength(with: bytes, at: state.position)
                state.advance(by: equal)
                if equal < bytes.count { return .differs }
            }
        } catch {
            state.failure = error
            return .failed
        }
        return .done
    }
}

extension SegmentWriter {
    /// What was taken and is not in the file yet.
    private struct State: ~Copyable {
        private let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: SegmentWriter.bufferSize,
            alignment: 4096
        )
        private(set) var filled = 0
        /// The offset in the file of the buffer's first byte.
        private(set) var position: Int64
        /// The ranges that are still to be compared with the file's own bytes.
        var compared: ArraySlice<ByteRange>
        /// What is compared is a proof, and what follows it waits for somebody to draw the sum.
        var awaitsVerdict: Bool
        var failure: FileError?
        var isOverfull = false

        init(
            position: Int64,
            compared: ArraySlice<ByteRange>,
            awaitsVerdict: Bool
        ) {
            self.position = position
            self.awaitsVerdict = awaitsVerdict
            self.compared = compared.drop { $0.end <= position }
        }

        deinit { buffer.deallocate() }

        var room: Int { buffer.count - filled }

        /// Bytes that were taken may yet be refused, and come again.
        var isOnTrial: Bool { awaitsVerdict || !compared.isEmpty }

        /// How many of the pending bytes go the same way, and whether that is a comparison.
        var nextStretch: (count: Int, isCompared: Bool) {
            guard let next = compared.first else { return (filled, false) }
            let isCompared = next.first <= position
            let border = isCompared ? next.end : next.first
            return (Int(min(Int64(filled), border - position)), isCompared)
        }

        func pending(_ count: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: buffer[..<count])
        }

        /// Takes what fits, and gives back the rest.
        mutating func fill(from bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            let count = min(room, bytes.count)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            filled += count
            return UnsafeRawBufferPointer(rebasing: bytes[count...])
        }

        /// Drops the first `count` bytes, which are in the file.
        mutating func advance(by count: Int) {
            position += Int64(count)
            if count < filled {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[count..<filled]))
            }
            filled -= count
            while let next = compared.first, next.end <= position { compared.removeFirst() }
        }
    }
}
