// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownState

/// Carries one connection's bytes into the file, in writes of 256 KiB.
///
/// The transfer thread appends, the transfer's own task flushes for a checkpoint; a lock keeps
/// them apart. Where the file already has bytes of the same version, they are compared instead.
final class SegmentWriter: Sendable {
    /// libcurl hands out 16 KiB; writes of that size cost two to three times as much as these.
    static let bufferSize = 256 << 10

    enum Step: Equatable {
        case done
        /// The next bytes differ from those on disk: they wait until `cut()`, which the caller
        /// calls once the record no longer claims the old ones.
        case differs
        /// The segment's end is reached; what came after it is dropped.
        case full
        /// The file system refused; see `failure`.
        case failed
    }

    private let part: PartFile
    private let start: Int64
    /// The offset behind the last byte that may be stored; nil where no length is known.
    private let end: Int64?
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
    ///   - comparedEnd: bytes before this offset are compared with the file's own.
    init(_ part: PartFile, from start: Int64, to end: Int64?, comparingUpTo comparedEnd: Int64 = 0)
    {
        self.part = part
        self.start = start
        self.end = end
        state = State(position: start, comparedEnd: comparedEnd)
    }

    /// The bytes that are in the file, synced or not.
    var written: ByteRange? { lock.withLock { _ in ByteRange(from: start, to: state.position) } }

    /// The offset behind the last byte that was taken.
    var position: Int64 { lock.withLock { _ in state.position + Int64(state.filled) } }

    /// The offset behind the last byte that is in the file; where a comparison stands still,
    /// that of the first byte that differs.
    var writtenEnd: Int64 { lock.withLock { _ in state.position } }

    var failure: FileError? { lock.withLock { _ in state.failure } }

    /// Takes all of `bytes`; none of them where the answer is `differs` or `failed`.
    func append(_ bytes: UnsafeRawBufferPointer) -> Step {
        lock.withLock { _ in
            var rest = bytes
            var isFull = false
            if let end {
                let room = max(0, end - state.position - Int64(state.filled))
                isFull = Int64(rest.count) > room
                if isFull { rest = UnsafeRawBufferPointer(rebasing: rest[..<Int(room)]) }
            }
            // A comparison may stop at any flush, and what it refuses is offered again: so a
            // chunk is taken only when it fits as a whole.
            if state.comparedEnd > state.position, rest.count > state.room {
                let step = drain()
                guard step == .done else { return step }
            }
            while !rest.isEmpty {
                rest = state.fill(from: rest)
                if state.room == 0 {
                    let step = drain()
                    guard step == .done || (step == .differs && rest.isEmpty) else {
                        return .failed
                    }
                }
            }
            return isFull ? .full : .done
        }
    }

    /// Brings what was taken into the file.
    func flush() -> Step { lock.withLock { _ in drain() } }

    /// Ends the comparison: from here on everything is written.
    func cut() { lock.withLock { _ in state.comparedEnd = 0 } }

    /// The lock is held.
    private func drain() -> Step {
        guard state.failure == nil else { return .failed }
        do throws(FileError) {
            while state.filled > 0 {
                let compared = min(Int64(state.filled), state.comparedEnd - state.position)
                guard compared > 0 else {
                    try part.write(state.pending(state.filled), at: state.position)
                    state.advance(by: state.filled)
                    break
                }
                let bytes = state.pending(Int(compared))
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
        /// Up to here the file's own bytes are compared; 0 writes at once.
        var comparedEnd: Int64
        var failure: FileError?

        init(position: Int64, comparedEnd: Int64) {
            self.position = position
            self.comparedEnd = comparedEnd
        }

        deinit { buffer.deallocate() }

        var room: Int { buffer.count - filled }

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
        }
    }
}
