// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// Takes the content codings off a body while it comes, and tells whether all of it came.
///
/// The length that a server gives counts the encoded bytes, so a body may end too early although as
/// many bytes came as were announced. Whatever comes in, each coding takes its window and some
/// buffers: 32 KiB for gzip and deflate, 16 MiB for br, 8 MiB for zstd.
///
/// Unchecked: the transfer's thread alone decodes, and ``flawAtEnd`` is read after its last call.
final class ContentDecoder: @unchecked Sendable {
    /// Why a body is not what the server encoded.
    enum Flaw: Error {
        /// It holds what the coding does not allow, or its checksum is wrong.
        case damaged
        /// It asks for a window that is too large.
        case tooLarge
        /// It ends before its coding has come to an end.
        case cutOff
        /// There is no memory to decode it.
        case noMemory
    }

    /// What comes out is handed on in pieces of at most this many bytes, as libcurl does.
    static let pieceSize = 16 << 10

    private let codings: [ContentCoding]
    /// Takes off the coding that was applied last, and so on; made with the first byte.
    private var stages: [Stage] = []
    private let piece: UnsafeMutableRawBufferPointer
    /// How many bytes of the piece nobody has taken yet.
    private var filled = 0
    /// How many bytes at the head of what comes next were decoded already.
    private var absorbed = 0
    /// What has ended the decoding; nil while nothing has.
    private(set) var flaw: Flaw?

    /// - Parameter codings: in the order in which they were applied (RFC 9110 section 8.4); nil is
    ///   returned for none.
    init?(_ codings: [ContentCoding]) {
        guard !codings.isEmpty else { return nil }
        self.codings = codings
        piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
    }

    deinit { piece.deallocate() }

    /// Returns what is wrong with a body that has come to its end; nil for one that is whole.
    ///
    /// A body without any byte is an empty file, where a length or chunks say that it is whole.
    var flawAtEnd: Flaw? {
        if let flaw { return flaw }
        return stages.allSatisfy(\.isAtEnd) ? nil : .cutOff
    }

    /// Decodes bytes of the body.
    ///
    /// - Parameters:
    ///   - bytes: those that follow the ones before; after `pause` the same ones, perhaps in other
    ///     pieces.
    ///   - store: takes what comes out, piece by piece; the same piece again after `pause`.
    /// - Returns: what `store` said where it did not take a piece; `abort` for a body with a flaw;
    ///   else `taken`.
    func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ store: (UnsafeRawBufferPointer) -> BodyVerdict
    ) -> BodyVerdict {
        do throws(Flaw) {
            return try decode(bytes, into: store)
        } catch {
            flaw = error
            return .abort
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer,
        into store: (UnsafeRawBufferPointer) -> BodyVerdict
    ) throws(Flaw) -> BodyVerdict {
        guard flaw == nil else { return .abort }
        let last = try lastStage()
        var rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(absorbed))
        let known = bytes.count - rest.count
        while true {
            if filled == 0 { filled = try last.read(&rest, into: piece) }
            guard filled > 0 else {
                absorbed -= known
                return .taken
            }
            let verdict = store(UnsafeRawBufferPointer(rebasing: piece[..<filled]))
            switch verdict {
            case .taken, .kept:
                filled = 0
            case .pause:
                absorbed = max(absorbed, bytes.count - rest.count)
                return .pause
            case .abort:
                return .abort
            }
        }
    }

    private func lastStage() throws(Flaw) -> Stage {
        for coding in codings.reversed().dropFirst(stages.count) {
            stages.append(try Stage(coding, behind: stages.last))
        }
        guard let last = stages.last else { throw .noMemory }
        return last
    }
}

/// One coding that is taken off, and what comes from the stage before.
private final class Stage {
    private let decoder: any StreamDecoder
    private let source: Stage?
    /// What the source has brought; empty for the first stage, which reads the body itself.
    private let buffer: UnsafeMutableRawBufferPointer
    /// The part of the buffer that is not decoded yet.
    private var pending = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ coding: ContentCoding, behind source: Stage?) throws(ContentDecoder.Flaw) {
        switch coding {
        case .gzip: decoder = ZlibDecoder(isGzip: true)
        case .deflate: decoder = ZlibDecoder(isGzip: false)
        case .brotli: decoder = try BrotliDecoder()
        case .zstd: decoder = try ZstdDecoder()
        }
        self.source = source
        buffer = .allocate(
            byteCount: source == nil ? 0 : ContentDecoder.pieceSize,
            alignment: 16
        )
    }

    deinit { buffer.deallocate() }

    var isAtEnd: Bool { decoder.isAtEnd }

    /// Decodes until there is output, or all of the input is used up.
    ///
    /// - Parameters:
    ///   - input: the body's next bytes; those that were decoded are taken away at its front.
    ///   - output: where the result goes.
    /// - Returns: how many bytes of `output` were written; 0 where more input is needed.
    /// - Throws: the flaw that ends the decoding.
    func read(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecoder.Flaw) -> Int {
        guard let source else { return try decoder.decode(&input, into: output) }
        while true {
            let count = try decoder.decode(&pending, into: output)
            if count > 0 { return count }
            let brought = try source.read(&input, into: buffer)
            guard brought > 0 else { return 0 }
            pending = UnsafeRawBufferPointer(rebasing: buffer[..<brought])
        }
    }
}

/// Takes one coding off a stream.
protocol StreamDecoder {
    /// Whether the stream is complete by what has come so far.
    var isAtEnd: Bool { get }

    /// Decodes until the output is full or the input used up.
    ///
    /// - Parameters:
    ///   - input: the stream's next bytes; those that were decoded are taken away at its front.
    ///   - output: where the result goes, not empty.
    /// - Returns: how many bytes of `output` were written; 0 only where all of the input was used.
    /// - Throws: the flaw that ends the decoding.
    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecoder.Flaw) -> Int
}

extension UnsafeRawBufferPointer {
    /// Takes `count` bytes away at the front.
    mutating func advance(by count: Int) {
        self = UnsafeRawBufferPointer(rebasing: dropFirst(count))
    }
}
