// SPDX-License-Identifier: Apache-2.0

import CCompression

/// Takes off gzip (RFC 1952) or deflate (RFC 1950, RFC 1951) with zlib, which checks the checksums.
final class ZlibDecoder: StreamDecoder {
    private enum Phase {
        /// No byte has come.
        case atStart
        case inStream
        /// A stream is complete, and perhaps another one follows.
        case atEnd
        /// What comes belongs to no stream.
        case pastEnd
    }

    /// zlib keeps its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let isGzip: Bool
    private var isBare = false
    private var phase = Phase.atStart
    /// Whether a complete stream came before the one that has begun.
    private var isNext = false
    /// How many bytes may follow a bare stream: some servers leave out the head of the wrapping
    /// alone, and its checksum follows (RFC 1950 section 2.2).
    private var trailer = 4

    init(isGzip: Bool) {
        self.isGzip = isGzip
        stream.initialize(to: z_stream())
    }

    deinit {
        // Does nothing to a stream that was never begun.
        inflateEnd(stream)
        stream.deallocate()
    }

    var isAtEnd: Bool { phase == .atEnd || phase == .pastEnd || (isNext && hasNoMagic) }

    /// Whether the two bytes are not there with which each gzip stream begins.
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
    /// Servers have sent deflate with and without the wrapping that is its part (RFC 9110 section
    /// 8.4.1.2). The wrapping begins with an 8 in the lower half of its first byte (RFC 1950 section
    /// 2.2); a bare stream would have to begin with a stored block whose unused bits are not 0.
    private func begin(_ first: UInt8) throws(ContentDecoder.Flaw) {
        isBare = !isGzip && first & 0x0F != 8
        let windowBits = isGzip ? MAX_WBITS + 16 : isBare ? -MAX_WBITS : MAX_WBITS
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else { throw .noMemory }
        phase = .inStream
    }

    /// Decides what follows a complete stream.
    ///
    /// A gzip file may have several members (RFC 1952 section 2.2), and what is none is passed over,
    /// as gzip(1) does. Deflate has one stream, and often no checksum that would excuse the rest.
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
        // Nothing could be done: zlib needs input.
        case Z_BUF_ERROR where input.isEmpty: break
        case Z_MEM_ERROR: throw .noMemory
        // Its second byte is that of no gzip stream.
        case Z_DATA_ERROR where isNext && stream.pointee.total_in == 2: phase = .pastEnd
        default: throw .damaged
        }
        return written
    }
}
