// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownState
import iDownTesting

@testable import iDownloader

@Suite(.timeLimit(.minutes(5))) struct ContentDecoderTests {
    /// What a decoder made of a body.
    private struct Decoded: Equatable {
        var bytes: [UInt8] = []
        var flaw: ContentDecoder.Flaw?
    }

    /// Decodes a body in pieces of 1 to `longest` bytes, as libcurl brings it: after a pause the same
    /// bytes come again, cut otherwise.
    private func decode(
        _ body: [UInt8],
        _ codings: [ContentCoding],
        longest: Int = .max,
        pauses: Bool = false,
        seed: UInt64 = 1
    ) throws -> Decoded {
        let decoder = try #require(ContentDecoder(codings))
        var random = SeededGenerator(seed: seed)
        var result = Decoded()
        var offset = 0
        while offset < body.count {
            let rest = body.count - offset
            let count = min(Int.random(in: 1...longest, using: &random), rest)
            let verdict = body[offset...].prefix(longest == .max ? rest : count).withUnsafeBytes {
                decoder.decode($0) { piece in
                    #expect((1...ContentDecoder.pieceSize).contains(piece.count))
                    if pauses, Bool.random(using: &random) { return .pause }
                    result.bytes += piece
                    return .taken
                }
            }
            switch verdict {
            case .taken, .kept: offset += longest == .max ? rest : count
            case .pause: continue
            case .abort: offset = body.count
            }
        }
        result.flaw = decoder.flawAtEnd
        return result
    }

    private static let whole = Decoded(bytes: EncodedSample.text)

    @Test(arguments: EncodedSample.all, [1, 7, 300, Int.max])
    func `a body decodes to its text however it is cut and paused`(
        sample: EncodedSample,
        longest: Int
    ) throws {
        #expect(try decode(sample.bytes, sample.codings, longest: longest) == Self.whole)
        for seed: UInt64 in 1...20 {
            let paused = try decode(
                sample.bytes,
                sample.codings,
                longest: longest,
                pauses: true,
                seed: seed
            )
            #expect(paused == Self.whole)
        }
    }

    @Test(arguments: EncodedSample.all)
    func `no beginning of a body is taken for all of it`(sample: EncodedSample) throws {
        for count in 1..<sample.bytes.count {
            let result = try decode(Array(sample.bytes.prefix(count)), sample.codings)
            #expect(result.flaw == .cutOff, "\(count) bytes")
            #expect(EncodedSample.text.starts(with: result.bytes), "\(count) bytes")
        }
        #expect(try decode([], sample.codings) == Decoded())
    }

    /// Of the others nothing tells: a bare deflate and br have no checksum.
    @Test(arguments: [EncodedSample.gzip, .wrapped, .zstd, .twice])
    func `a checksum finds each bit that was changed`(sample: EncodedSample) throws {
        for bit in 0..<(sample.bytes.count * 8) {
            var bytes = sample.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            let result = try decode(bytes, sample.codings)
            #expect(result.flaw != nil || result == Self.whole, "bit \(bit)")
        }
    }

    @Test func `a pause leaves the rest of what would come out undecoded`() throws {
        let bomb = gzipOf72MiBOfZeros()
        let decoder = try #require(ContentDecoder([.gzip]))
        var count = 0
        let isPaused = bomb.withUnsafeBytes { bytes in
            decoder.decode(bytes) { piece in
                count += piece.count
                return .pause
            } == .pause
        }
        #expect(isPaused)
        #expect(count == ContentDecoder.pieceSize)
        #expect(decoder.flawAtEnd == .cutOff)
    }

    @Test func `a sink that wants no more ends the decoding`() throws {
        let decoder = try #require(ContentDecoder([.gzip]))
        let isOver = EncodedSample.gzip.bytes.withUnsafeBytes { bytes in
            decoder.decode(bytes) { _ in .abort } == .abort
        }
        #expect(isOver)
        #expect(decoder.flaw == nil)
    }

    @Test func `a gzip file has members, and what follows them is passed over`() throws {
        let one = EncodedSample.gzip.bytes
        let twice = Decoded(bytes: EncodedSample.text + EncodedSample.text)
        for longest in [1, 500, Int.max] {
            #expect(try decode(one + one, [.gzip], longest: longest) == twice)
            for rest: [UInt8] in [
                [0], [UInt8](repeating: 0, count: 2000), Array("\r\n".utf8), [0x1F], [0x1F, 0],
                [0x1F, 0x1F, 0x8B],
            ] {
                #expect(try decode(one + rest, [.gzip], longest: longest) == Self.whole)
            }
        }
        for count in 2..<one.count {
            #expect(try decode(one + one.prefix(count), [.gzip]).flaw == .cutOff, "\(count) bytes")
        }
    }

    @Test func `zstd has frames`() throws {
        let one = EncodedSample.zstd.bytes
        let twice = Decoded(bytes: EncodedSample.text + EncodedSample.text)
        for longest in [1, 100, Int.max] {
            #expect(try decode(one + one, [.zstd], longest: longest) == twice)
        }
        for count in 1..<one.count {
            #expect(try decode(one + one.prefix(count), [.zstd]).flaw == .cutOff, "\(count) bytes")
        }
    }

    @Test(arguments: [EncodedSample.wrapped, .bare, .brotli, .zstd])
    func `nothing may follow other codings`(sample: EncodedSample) throws {
        let rest = Array("\r\nmore".utf8)
        #expect(try decode(sample.bytes + rest, sample.codings).flaw == .damaged)
    }

    @Test func `a checksum may follow deflate whose wrapping has no head`() throws {
        let wrapped = EncodedSample.wrapped.bytes
        for longest in [1, 3, Int.max] {
            let body = Array(wrapped.dropFirst(2))
            #expect(try decode(body, [.deflate], longest: longest) == Self.whole)
            #expect(try decode(body + [0], [.deflate], longest: longest).flaw == .damaged)
        }
    }

    @Test func `many pieces in which the outer coding yields nothing are no flaw`() throws {
        // Stored blocks of no byte (RFC 1951 section 3.2.4) between the two halves of the frame.
        let frame = EncodedSample.zstd.bytes
        let (first, second) = (frame.prefix(9), frame.dropFirst(9))
        func stored(_ bytes: ArraySlice<UInt8>, isLast: Bool) -> [UInt8] {
            let count = UInt8(bytes.count)
            return [isLast ? 1 : 0, count, 0, ~count, 0xFF] + bytes
        }
        let nothing = (0..<40).flatMap { _ in stored([], isLast: false) }
        let body = stored(first, isLast: false) + nothing + stored(second, isLast: true)
        for longest in [1, 5, Int.max] {
            #expect(try decode(body, [.zstd, .deflate], longest: longest) == Self.whole)
        }
    }

    /// A frame that holds three bytes as they are (RFC 8878 section 3.1.1).
    @Test(arguments: [(UInt8(13), true), (14, false)])
    func `a window of zstd has 8 MiB at most`(exponent: UInt8, isTaken: Bool) throws {
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, exponent << 3, 0x19, 0, 0, 1, 2, 3]
        let result = try decode(frame, [.zstd])
        #expect(result == (isTaken ? Decoded(bytes: [1, 2, 3]) : Decoded(flaw: .tooLarge)))
    }

    @Test func `a plain body has no decoder`() { #expect(ContentDecoder([]) == nil) }

    @Test func `the coding that was applied last is taken off first`() throws {
        let body = EncodedSample.twice.bytes
        #expect(try decode(body, [.gzip, .brotli]) == Self.whole)
        #expect(try decode(body, [.brotli, .gzip]).flaw == .damaged)
        // A complete stream of nothing inside: its gzip never began.
        let empty: [UInt8] = [0x3B]
        #expect(try decode(empty, [.gzip, .brotli]).flaw == .cutOff)
    }
}
