// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// Removes the content codings from a body while it arrives, and tells whether the body is
/// complete.
///
/// Content-Length counts encoded bytes, so a body can be cut off although all announced bytes have
/// arrived. Whatever the body holds, each coding takes at most its window and some buffers: 32 KiB
/// for gzip and deflate, 16 MiB for br, 8 MiB for zstd.
///
/// Sendable is unchecked: only the transfer thread decodes, and ``flawAtEnd`` is read after its
/// last call.
final class ContentDecoder: @unchecked Sendable {
    /// Why a body cannot be decoded.
    enum Flaw: Error {
        /// The body is invalid in its coding, or its checksum is wrong.
        case damaged
        /// The body requires a window that is too large.
        case tooLarge
        /// The body ends before its coding does.
        case cutOff
        /// There is not enough memory to decode the body.
        case noMemory
    }

    /// The most decoded bytes passed on at once; libcurl has the same limit.
    static let pieceSize = 16 << 10

    private let codings: [ContentCoding]
    /// The stage that gives the decoded bytes; nil before the first byte arrives.
    private var last: Stage?
    private let piece: UnsafeMutableRawBufferPointer
    /// The number of decoded bytes in the piece that `store` has not taken yet.
    private var filled = 0
    /// The number of bytes at the front of the next input that were decoded already.
    private var absorbed = 0
    /// The flaw that ended the decoding; nil if there was none.
    private(set) var flaw: Flaw?

    /// Returns nil if there are no codings.
    ///
    /// - Parameter codings: the codings in the order in which they were applied (RFC 9110 section
    ///   8.4).
    init?(_ codings: [ContentCoding]) {
        guard !codings.isEmpty else { return nil }
        self.codings = codings
        piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
    }

    deinit { piece.deallocate() }

    /// Returns the flaw of a body that has ended; nil if the body is complete.
    ///
    /// A body without bytes is an empty file if a length or chunks say that it is complete.
    var flawAtEnd: Flaw? {
        if let flaw { return flaw }
        return last?.isAtEnd == false ? .cutOff : nil
    }

    /// Decodes bytes of the body.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that follow the last ones; after `pause` the same bytes, possibly split
    ///     differently.
    ///   - store: takes the decoded bytes, piece by piece; gets the same piece again after `pause`.
    /// - Returns: the verdict of `store` if it did not take a piece; `abort` if the body has a
    ///   flaw; else `taken`.
    func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ store: (UnsafeRawBufferPointer) -> BodyVerdict
    ) -> BodyVerdict {
        guard flaw == nil else { return .abort }
        var rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(absorbed))
        let known = bytes.count - rest.count
        while true {
            do throws(Flaw) {
                if filled == 0 { filled = try read(&rest) }
            } catch {
                flaw = error
                return .abort
            }
            guard filled > 0 else {
                absorbed -= known
                return .taken
            }
            let verdict = store(UnsafeRawBufferPointer(rebasing: piece[..<filled]))
            switch verdict {
            case .taken, .kept: filled = 0
            case .pause:
                absorbed = max(absorbed, bytes.count - rest.count)
                return .pause
            case .abort: return .abort
            }
        }
    }

    /// Decodes the next piece; returns its size, 0 if more input is needed.
    private func read(_ input: inout UnsafeRawBufferPointer) throws(Flaw) -> Int {
        if last == nil {
            // The coding applied last is removed first.
            for coding in codings.reversed() { last = try Stage(coding, behind: last) }
        }
        return try last?.read(&input, into: piece) ?? 0
    }
}

/// Removes one coding from the output of the stage before, or from the body.
private final class Stage {
    private let decoder: any StreamDecoder
    private let source: Stage?
    /// The output of the source stage; empty for the first stage, which reads the body.
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
        buffer = .allocate(byteCount: source == nil ? 0 : ContentDecoder.pieceSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Whether the bytes so far make complete streams, here and in the stages before.
    var isAtEnd: Bool { decoder.isAtEnd && source?.isAtEnd != false }

    /// Decodes until there is output, or until all input is used up.
    ///
    /// - Parameters:
    ///   - input: the body's next bytes; decoded bytes are removed from its front.
    ///   - output: receives the decoded bytes.
    /// - Returns: how many bytes of `output` were written; 0 if more input is needed.
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

/// Removes one coding from a stream.
protocol StreamDecoder {
    /// Whether the bytes so far make a complete stream.
    var isAtEnd: Bool { get }

    /// Decodes until the output is full or the input is used up.
    ///
    /// - Parameters:
    ///   - input: the stream's next bytes; decoded bytes are removed from its front.
    ///   - output: receives the decoded bytes; not empty.
    /// - Returns: how many bytes of `output` were written; 0 only if all input was used.
    /// - Throws: the flaw that ends the decoding.
    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecoder.Flaw) -> Int
}

extension UnsafeRawBufferPointer {
    /// Removes `count` bytes from the front.
    mutating func advance(by count: Int) {
        self = UnsafeRawBufferPointer(rebasing: dropFirst(count))
    }
}
