// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization
import Testing
import iDownState
import iDownTesting

@testable import iDownloader

@Suite(.timeLimit(.minutes(5)))
struct SegmentWriterTests {
    /// A file on a disk whose writes wait for a door.
    private struct Place {
        let path: String
        let part: PartFile
        /// To be signalled once for each write.
        let door: DispatchSemaphore

        func expect(_ isRight: ([UInt8]) -> Bool) throws {
            #expect(isRight(try TestFile.bytes(of: path + "/file.part")))
        }
    }

    private func withPlace(
        holding old: [UInt8] = [],
        _ body: (Place) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { path in
            let door = DispatchSemaphore(value: 0)
            let hangs = FaultPlan(of: "pwrite") { _ in door.wait() }
            let system = FileSystem(faults: hangs)
            let part = try await DiskQueue().run(key: 0, in: path) { () throws(FileError) in
                try PartFile.create("file", in: OpenFolder(path, fileSystem: system))
            }
            try TestFile.write(old, to: path + "/file.part")
            try await body(Place(path: path, part: part, door: door))
        }
    }

    private let chunk = [UInt8](repeating: 7, count: 16 << 10)

    private func append(_ bytes: [UInt8], to writer: SegmentWriter) -> SegmentWriter.Step {
        bytes.withUnsafeBytes { writer.append($0) }
    }

    /// Hears what the writer tells.
    private final class Listener: Sendable {
        private let heard = Mutex<[SegmentWriter.Verdict?]>([])
        let hasRoom = FaultServer.Gate()
        let hasVerdict = FaultServer.Gate()

        init(_ writer: SegmentWriter) {
            writer.listen { [self] verdict in
                heard.withLock { $0.append(verdict) }
                (verdict == nil ? hasRoom : hasVerdict).open()
            }
        }

        var verdicts: [SegmentWriter.Verdict?] { heard.withLock(\.self) }
    }

    @Test func `a disk that hangs makes nobody wait but the connection`() async throws {
        try await withPlace { place in
            let writer = SegmentWriter(place.part, from: 0, to: nil)
            let listener = Listener(writer)
            for _ in 0..<32 { #expect(append(chunk, to: writer) == .done) }
            #expect(append(chunk, to: writer) == .waits)
            #expect(writer.position == 512 << 10 && writer.writtenEnd == 0)
            #expect(listener.verdicts == [])
            place.door.signal()
            await listener.hasRoom.waitUntilOpen()
            #expect(writer.writtenEnd == 256 << 10)
            #expect(append(chunk, to: writer) == .done)
            for _ in 0..<2 { place.door.signal() }
            #expect(await writer.flush() == nil)
            #expect(writer.writtenEnd == 528 << 10 && listener.verdicts == [nil])
            try place.expect { $0 == [UInt8](repeating: 7, count: 528 << 10) }
        }
    }

    @Test func `the transfer thread writes itself if its own disk is quick`()
        async throws
    {
        try await withPlace { place in
            let lane = try #require(place.part.bytes)
            let device = try #require(lane.device)
            let writer = SegmentWriter(place.part, from: 0, to: nil)
            func append() {
                for _ in 0..<16 {
                    let step = chunk.withUnsafeBytes { writer.append($0, onThreadOf: device) }
                    #expect(step == .done)
                }
            }
            place.door.signal()
            append()
            #expect(writer.writtenEnd == 256 << 10)
            lane.here { usleep(2_000) }
            #expect(!lane.isQuick)
            append()
            #expect(writer.writtenEnd == 256 << 10 && writer.position == 512 << 10)
            place.door.signal()
            #expect(await writer.flush() == nil)
            // Another disk's thread would hang with this one.
            lane.here {}
            for _ in 0..<16 {
                let step = chunk.withUnsafeBytes { writer.append($0, onThreadOf: device + 1) }
                #expect(step == .done)
            }
            #expect(writer.writtenEnd == 512 << 10)
            place.door.signal()
            #expect(await writer.flush() == nil)
        }
    }

    @Test func `nothing behind a difference is written before somebody has decided`() async throws {
        let old = [UInt8](repeating: 7, count: 100_000)
        try await withPlace(holding: old) { place in
            let map = SegmentMap([ByteRange(from: 0, to: 100_000)].compactMap(\.self))
            let writer = SegmentWriter(place.part, from: 0, to: nil, comparing: map)
            let listener = Listener(writer)
            var other = [UInt8](repeating: 7, count: 120_000)
            other[50_000] = 8
            #expect(append(other, to: writer) == .done)
            #expect(await writer.flush() == .differs)
            await listener.hasVerdict.waitUntilOpen()
            #expect(writer.writtenEnd == 50_000)
            #expect(append(chunk, to: writer) == .waits)
            try place.expect { $0 == old }
            for _ in 0..<2 { place.door.signal() }
            writer.cut()
            await listener.hasRoom.waitUntilOpen()
            #expect(append(chunk, to: writer) == .done)
            #expect(await writer.flush() == nil)
            try place.expect { $0 == other + chunk }
            #expect(listener.verdicts == [.differs, nil])
        }
    }

    @Test func `what follows a proof waits until that is recorded`() async throws {
        let old = [UInt8](repeating: 7, count: 40_000)
        try await withPlace(holding: old) { place in
            let map = SegmentMap([ByteRange(from: 0, to: 40_000)].compactMap(\.self))
            let writer = SegmentWriter(
                place.part,
                from: 0,
                to: 56_384,
                comparing: map,
                isProof: true
            )
            let listener = Listener(writer)
            let first = Array(chunk.prefix(100))
            #expect(append(old + first, to: writer) == .done)
            // Nobody waits for more before it is decided.
            await listener.hasVerdict.waitUntilOpen()
            #expect(listener.verdicts == [.proven] && writer.writtenEnd == 40_000)
            #expect(writer.position == 40_100)
            #expect(writer.taken == ByteRange(from: 0, to: 40_000))
            #expect(append(chunk, to: writer) == .waits)
            for _ in 0..<2 { place.door.signal() }
            writer.release()
            #expect(writer.taken == ByteRange(from: 0, to: 40_100))
            #expect(append(Array(chunk.dropFirst(100)), to: writer) == .done)
            #expect(await writer.flush() == nil)
            try place.expect { $0 == old + chunk }
        }
    }

    @Test(arguments: [56_384, nil] as [Int64?])
    func `a proof is decided with its last byte, if others may follow`(end: Int64?) async throws {
        let old = [UInt8](repeating: 7, count: 40_000)
        try await withPlace(holding: old) { place in
            let map = SegmentMap([ByteRange(from: 0, to: 40_000)].compactMap(\.self))
            let writer = SegmentWriter(place.part, from: 0, to: end, comparing: map, isProof: true)
            let listener = Listener(writer)
            #expect(append(old, to: writer) == .done)
            await listener.hasVerdict.waitUntilOpen()
            #expect(listener.verdicts == [.proven])
            let sample = SegmentWriter(
                place.part,
                from: 0,
                to: 40_000,
                comparing: map,
                isProof: true
            )
            #expect(append(old, to: sample) == .done)
            #expect(await sample.flush() == nil)
            #expect(sample.writtenEnd == 40_000)
        }
    }

    @Test func `what was given up is not written later`() async throws {
        try await withPlace { place in
            let writer = SegmentWriter(place.part, from: 0, to: nil)
            for _ in 0..<32 { #expect(append(chunk, to: writer) == .done) }
            writer.giveUp()
            #expect(append(chunk, to: writer) == .failed)
            // Enough for both, if the second were written.
            for _ in 0..<2 { place.door.signal() }
            #expect(await writer.flush() == nil)
            try place.expect { $0.count <= 256 << 10 }
        }
    }

    @Test func `a failed write ends the connection and is remembered`() async throws {
        try await withTemporaryFolder { path in
            let system = FileSystem(faults: FaultPlan(failing: 1, of: "pwrite"))
            let part = try await DiskQueue().run(key: 0, in: path) { () throws(FileError) in
                try PartFile.create("file", in: OpenFolder(path, fileSystem: system))
            }
            let writer = SegmentWriter(part, from: 0, to: nil)
            #expect(append(chunk, to: writer) == .done)
            #expect(await writer.flush() == nil)
            #expect(writer.failure?.errno == 5 && writer.writtenEnd == 0)
            #expect(append(chunk, to: writer) == .failed)
        }
    }
}
