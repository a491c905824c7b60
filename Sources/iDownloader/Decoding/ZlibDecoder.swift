// SPDX-License-Identifier: Apache-2.0

import CCompression

/// Decodes gzip (RFC 1952) or deflate (RFC 1950, RFC 1951) with zlib, which checks the checksums.
final class ZlibDecoder: StreamDecoder {
    private enum Phase {
        /// No byte has arrived.
        case atStart
        case inStream
        /// A stream is complete, and another one may follow.
        case atEnd
        /// The remaining bytes belong to no stream.
        case pastEnd
    }

    /// Allocated on the heap because zlib keeps its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let isGzip: Bool
    private var isBare = false
    private var phase = Phase.atStart
    /// Whether a complete stream came before the present one.
    private var isNext = false
    /// The number of bytes that may follow a bare stream: some servers leave out the zlib header
    /// but send the checksum (RFC 1950 section 2.2).
    private var trailer = 4

    init(isGzip: Bool) {
        self.isGzip = isGzip
        stream.initialize(to: z_stream())
    }

    deinit {
        // inflateEnd does nothing if inflateInit2 was never called.
        inflateEnd(stream)
        stream.deallocate()
    }

    var isAtEnd: Bool { phase == .atEnd || phase == .pastEnd || (isNext && hasNoMagic) }

    /// Whether fewer than the two bytes with which each gzip stream begins have arrived.
    private var hasNoMagic: Bool { phase == .inStream && stream.pointee.total_in < 2 }

    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecoder.Flaw) -> Int {
        var written = 0
        while written < output.count {
            switch phase {
            case .atStart:
                guard let first = input.first else { return written }
                try begin(first)
            case .inStream:
                let rest = UnsafeMutableRawBufferPointer(rebasing: output[written...])
                written += try inflateOn(&input, into: rest)
                if phase == .inStream, input.isEmpty { return written }
            case .atEnd:
                guard let first = input.first else { return written }
                try goOn(first, &input)
            case .pastEnd:
                input.advance(by: input.count)
                return written
            }
        }
        return written
    }

    /// Makes zlib ready for the first stream.
    ///
    /// Servers send deflate with and without its zlib header (RFC 9110 section 8.4.1.2). The lower
    /// half of the first byte of that header is 8 (RFC 1950 section 2.2). A bare stream begins so
    /// only if its first block is stored and has unused bits that are not 0.
    private func begin(_ first: UInt8) throws(ContentDecoder.Flaw) {
        isBare = !isGzip && first & 0x0F != 8
        let windowBits = isGzip ? MAX_WBITS + 16 : isBare ? -MAX_WBITS : MAX_WBITS
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else { throw .noMemory }
        phase = .inStream
    }

    /// Handles a byte that follows a complete stream.
    ///
    /// A gzip file may have several members (RFC 1952 section 2.2); other bytes are ignored, as in
    /// gzip(1). Deflate has one stream, and only a bare one may be followed by a checksum.
    private func goOn(
        _ first: UInt8,
        _ input: inout UnsafeRawBufferPointer
    ) throws(ContentDecoder.Flaw) {
        guard isGzip else {
            guard isBare, input.count <= trailer else { throw .damaged }
            trailer -= input.count
            return input.advance(by: input.count)
        }
        guard first == 0x1F else {
            phase = .pastEnd
            return
        }
        guard inflateReset(stream) == Z_OK else { throw .damaged }
        isNext = true
        phase = .inStream
    }

    private func inflateOn(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecoder.Flaw) -> Int {
        let (offered, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
        let bytes = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes)
        stream.pointee.avail_in = offered
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = room
        let status = inflate(stream, Z_NO_FLUSH)
        let used = Int(offered - stream.pointee.avail_in)
        let written = Int(room - stream.pointee.avail_out)
        input.advance(by: used)
        switch status {
        case Z_STREAM_END: phase = .atEnd
        case Z_OK where used > 0 || written > 0: break
        // No progress was possible because zlib needs input.
        case Z_BUF_ERROR where input.isEmpty: break
        case Z_MEM_ERROR: throw .noMemory
        // The second byte shows that this is no gzip stream.
        case Z_DATA_ERROR where isNext && stream.pointee.total_in == 2: phase = .pastEnd
        default: throw .damaged
        }
        return written
    }
}
